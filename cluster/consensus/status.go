package consensus

import "time"

// Status of the group on this node. Values are read one after the other, not
// at one moment.
type Status struct {
	State       string // Follower, Candidate, Leader, Shutdown
	Term        uint64
	Leader      Member    // zero when unknown
	LastContact time.Time // with the leader; zero when never. Of no meaning while leading
	LastIndex   uint64    // of the log
	CommitIndex uint64
	Applied     uint64 // by the state machine
	Ready       bool   // leading, and the first event of the term is applied
	CaughtUp    bool
	Open        int    // proposals that are queued or in flight
	Restores    uint64 // snapshots restored since the start, the one at the start included
}

// Status returns it.
func (g *Group) Status() Status {
	leader, _ := g.Leader()
	term := g.raft.CurrentTerm()
	applied, _ := g.progress.position()
	return Status{
		State:       g.raft.State().String(),
		Term:        term,
		Leader:      leader,
		LastContact: g.raft.LastContact(),
		LastIndex:   g.raft.LastIndex(),
		CommitIndex: g.raft.CommitIndex(),
		Applied:     applied,
		Ready:       g.tenure.Load() != nil && g.ready.Load() == term,
		CaughtUp:    g.CaughtUp(),
		Open:        g.open.count(),
		Restores:    g.progress.restores.Load(),
	}
}

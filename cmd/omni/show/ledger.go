package show

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// Ledger is a run's ledger that was read to its end, and found whole.
type Ledger struct {
	File      string `json:"file,omitempty"` // that was written
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	RunID     string `json:"run_id"`
	Run       uint32 `json:"run"`           // its number in the log: that of its root agent
	State     string `json:"state"`         // of the run, after the last block
	Agents    uint32 `json:"agents"`        // that work for it, or did
	Blocks    uint64 `json:"blocks"`        // that touch one of them
	Records   uint64 `json:"records"`       // of those agents, and the events that they came of
	Bodies    uint64 `json:"bodies"`        // further blocks, for what they hold
	Bytes     uint64 `json:"bytes"`         // of all blocks
	FirstSeq  uint64 `json:"first_bus_seq"` // first record of the first block
	LastSeq   uint64 `json:"last_bus_seq"`  // last record of the last one
	LastIndex uint64 `json:"last_index"`    // Raft index of the last one
	Position  uint64 `json:"position"`      // where it stands in the log
	Head      string `json:"head"`          // hex, the run's own chain value after it

	Compared string `json:"compared,omitempty"` // with what the head was: head, live
	Later    uint64 `json:"later,omitempty"`    // blocks that the cluster has beyond
}

// OfRun is what reading a ledger to its end found.
func OfRun(s *logexport.SubjectSummary, l *replay.LedgerSum) *Ledger {
	return &Ledger{
		ClusterID: s.ClusterID, KernelID: s.KernelID, RunID: s.RunID, Run: s.Run, State: l.State.String(), Agents: l.Agents,
		Blocks: s.Blocks, Records: l.Records, Bodies: s.Bodies, Bytes: s.Bytes,
		FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, LastIndex: s.LastIndex, Position: s.Position, Head: s.Head,
	}
}

// LedgerWritten shows a ledger that was exported.
func LedgerWritten(p *tell.Page, l *Ledger) {
	ledger(p, l)
	if l.File != "" {
		p.Line("written to %s, %s", p.Bold(l.File), Bytes(l.Bytes))
	}
}

// LedgerVerified shows a ledger that was verified, and what is left to trust.
func LedgerVerified(p *tell.Page, l *Ledger) {
	ledger(p, l)
	switch {
	case l.Compared == "":
		p.Line("%s", p.Warn("that this is the cluster's ledger was not compared: all of it rests on the head; compare that with --head, or with --live"))
	case l.Compared == "head":
		p.Line("the head is the one given: nothing before it can be another")
	case l.Later > 0:
		p.Line("the cluster's ledger has the same blocks, and %d more since", l.Later)
	default:
		p.Line("the cluster's ledger ends with the same head")
	}
}

func ledger(p *tell.Page, l *Ledger) {
	p.Line("%s: %d records of %d agents in %d blocks from busSeq %d to %d, index %d; the run is %s",
		p.Good("the run's chain holds"), l.Records, l.Agents, l.Blocks, l.FirstSeq, l.LastSeq, l.LastIndex, l.State)
	p.Line("%s", p.Faint(fmt.Sprintf("run %s of %s/%s, head %s", l.RunID, l.ClusterID, l.KernelID, l.Head)))
}

// LedgerEnd is what follows the records of a ledger: where it ends as of now.
type LedgerEnd struct {
	RunID string `json:"run_id"`
	Next  uint64 `json:"next_bus_seq"` // where to go on
	api.Ledger
}

// Ended shows it.
func Ended(p *tell.Page, e *LedgerEnd) {
	p.Line("%s", p.Faint(fmt.Sprintf("head %s, the log's position %d; go on with --from %d", e.Head, e.Position, e.Next)))
}

// ReplayedRun is what replaying a run came to.
type ReplayedRun struct {
	Origin      string     `json:"origin"` // kind of file; of a live ledger too
	ClusterID   string     `json:"cluster_id"`
	KernelID    string     `json:"kernel_id"`
	RunID       string     `json:"run_id"`
	State       string     `json:"state"` // of the run, after the last block
	Agents      uint32     `json:"agents"`
	Tasks       uint32     `json:"tasks"` // that were carried out
	Blocks      uint64     `json:"blocks"`
	Records     uint64     `json:"records"`
	Derived     uint64     `json:"derived"` // records of the run itself
	Ticks       uint64     `json:"ticks"`
	Runs        uint64     `json:"runs"`
	Steps       uint64     `json:"steps"`
	Compared    uint64     `json:"compared"`
	Transitions uint64     `json:"transitions"` // of its agents
	FirstSeq    uint64     `json:"first_bus_seq,omitempty"`
	LastSeq     uint64     `json:"last_bus_seq,omitempty"`
	Head        string     `json:"head"` // hex, of the run's chain after the last block that was replayed
	Millis      int64      `json:"millis"`
	Deviation   *Deviation `json:"deviation,omitempty"`
}

// Stats takes the figures in.
func (r *ReplayedRun) Stats(s replay.RunStats) {
	r.State, r.Agents, r.Tasks, r.Derived = s.Ledger.State.String(), s.Ledger.Agents, s.Tasks, s.Derived
	r.Blocks, r.Records, r.Ticks, r.Runs, r.Steps = s.Blocks, s.Records, s.Ticks, s.Runs, s.Steps
	r.Compared, r.Transitions, r.FirstSeq, r.LastSeq = s.Compared, s.Transitions, s.FirstSeq, s.LastSeq
	r.Head = hex.EncodeToString(s.Ledger.Head[:])
}

// RunReplay shows it.
func RunReplay(p *tell.Page, r *ReplayedRun) {
	verdict := p.Good("the ledger holds")
	if r.Deviation != nil {
		verdict = p.Bad("the ledger does not hold")
	}
	p.Line("%s: %d tasks carried out by %d agents in %d ticks, %d runs and %d steps; the run is %s", verdict, r.Tasks, r.Agents, r.Ticks, r.Runs, r.Steps, r.State)
	p.Line("%d records of the run derived, %d of its agents made again and compared, %d transitions, %d records in all, in %s",
		r.Derived, r.Compared, r.Transitions, r.Records, (time.Duration(r.Millis) * time.Millisecond).String())
	p.Line("%s", p.Faint(r.Origin+" of "+r.ClusterID+"/"+r.KernelID+between(r.FirstSeq, r.LastSeq)+", head "+r.Head))
	if r.Deviation != nil {
		deviation(p, r.Deviation)
	}
}

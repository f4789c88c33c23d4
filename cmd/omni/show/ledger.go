package show

import (
	"fmt"

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

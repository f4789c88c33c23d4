package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// ledger is where a run's part of the log ends (RU-4), while somebody who works for
// the run lives.
type ledger struct {
	last    uint64                  // pointer to its newest block; 0 before the first
	head    [logging.HashBytes]byte // its own chain value, after that block
	workers int                     // agents of the run that live
}

// crews are the runs that the agents work for which a block touches.
type crews struct {
	present   map[uint32]bool
	left      map[uint32]*agent // agents of a run that the block says are over
	strangers bool              // the block touches agents that were over before
}

// joins notes that an agent works for a run, or for none.
func (a *Auditor) joins(g *agent, run uint32) {
	if run == 0 {
		return
	}
	if a.ledgers[run] == nil {
		a.ledgers[run] = &ledger{}
	}
	g.run = run
	a.ledgers[run].workers++
}

// leaves notes that an agent is over: the block that says so is its run's, too.
func (a *Auditor) leaves(g *agent) {
	if g.run != 0 {
		a.crews.left[g.no] = g
	}
}

// worksFor notes whose run an agent works for that a block touches: the block must
// touch the run.
func (a *Auditor) worksFor(b *logging.Block, no uint32) {
	g := a.agents[no]
	if g == nil {
		g = a.crews.left[no]
	}
	switch {
	case g == nil:
		a.crews.strangers = true
	case g.run != 0:
		a.crews.present[g.run] = true
		if _, touched := b.Previous(logging.RunSubject(g.run)); !touched {
			a.foundAt(b.FirstSeq, bus.Record{Kind: bus.Event, Agent: no}, Links, "the block touches agent %d, and not the run %d that it works for", no, g.run)
		}
	}
}

// ledger looks at a run in the list of what a block touches, once the agents there
// were looked at.
func (a *Auditor) ledger(b *logging.Block, run uint32, previous, here uint64, head, digest [logging.HashBytes]byte) {
	l := a.ledgers[run]
	r := bus.Record{Kind: bus.Event, Agent: run}
	switch {
	case !a.crews.present[run] && !a.crews.strangers:
		a.foundAt(b.FirstSeq, r, Links, "the block touches run %d, and no agent that works for it", run)
		return
	case l == nil: // nobody who works for it lives
		return
	case previous != l.last || head != l.head:
		a.foundAt(b.FirstSeq, r, Links, "the block does not go on where run %d's last one, at %d, left its chain", run, l.last)
	}
	l.last, l.head = here, logging.ChainAfter(head, digest)
}

// disband forgets the block's crews, and runs for which nobody works who lives.
func (a *Auditor) disband() {
	for _, g := range a.crews.left { //lint:ordered each is taken from a number
		l := a.ledgers[g.run]
		if l.workers--; l.workers == 0 {
			delete(a.ledgers, g.run)
		}
	}
	clear(a.crews.left)
	clear(a.crews.present)
	a.crews.strangers = false
}

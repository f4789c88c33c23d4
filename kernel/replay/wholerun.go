package replay

import (
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// WholeRun replays a run from its ledger (RU-4): every tick of every agent that works
// for it, as Agent does, and the run's own records, from the command that planned it to
// its end: what each of them says has to follow from those before.
type WholeRun struct {
	run    uint32
	config *config.Config
	lookup flows.Lookup
	find   kernel.FindBody
	ledger *Ledger
	agents map[uint32]*Agent
	story  story
}

// RunStats counts what was replayed of a run.
type RunStats struct {
	Stats
	Ledger  LedgerSum
	Derived uint64 // records of the run itself that follow from those before them
	Tasks   uint32 // that were carried out
}

// NewWholeRun replays the run with that number, in a kernel of that configuration.
// find brings bodies from blocks that do not touch the run.
func NewWholeRun(run uint32, c *config.Config, lookup flows.Lookup, find kernel.FindBody) *WholeRun {
	return &WholeRun{
		run: run, config: c, lookup: lookup, find: find, ledger: NewLedger(run), agents: make(map[uint32]*Agent),
		story: story{run: run, config: c, find: find},
	}
}

// Done never is: the end of a ledger is its file's.
func (x *WholeRun) Done() bool { return false }

// Stats is what was replayed so far.
func (x *WholeRun) Stats() RunStats {
	s := RunStats{Ledger: x.ledger.Sum(), Derived: x.story.derived, Tasks: x.story.carried}
	for _, a := range x.agents { //lint:ordered they are sums
		s.Ticks += a.stats.Ticks
		s.Runs += a.stats.Runs
		s.Steps += a.stats.Steps
		s.Compared += a.stats.Compared
		s.Transitions += a.stats.Transitions
	}
	s.Blocks, s.Records, s.FirstSeq, s.LastSeq = s.Ledger.Blocks, s.Ledger.Records, s.Ledger.FirstSeq, s.Ledger.LastSeq
	return s
}

// Root is the run's root agent as it was folded so far, for reading; nil before the
// first block.
func (x *WholeRun) Root() *kernel.Slice {
	if root := x.agents[x.run]; root != nil {
		return root.Slice()
	}
	return nil
}

// Block replays the next block of the ledger, which stands at that position of the
// log. The error is a *Deviation; else the ledger cannot be read.
func (x *WholeRun) Block(position uint64, b *logging.Block) error {
	if err := x.ledger.Block(position, b); err != nil {
		return err
	}
	for i := range b.Touched() {
		no, _ := b.TouchedAt(i)
		if !x.ledger.Works(no) {
			continue
		}
		agent := x.agents[no]
		if agent == nil {
			agent = NewAgent(no, x.config, x.lookup, x.find, Range{})
			x.agents[no] = agent
		}
		if err := agent.Block(position, b); err != nil {
			return err
		}
	}
	return x.story.block(position, b, x.ledger.id, x.agents[x.run].Slice().Row())
}

package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// links looks at the list of agents and runs that a block touches, once its records
// were read: each entry leads to the subject's block before, and has its own chain
// value from there; of runs, just those are there that an agent in the list works
// for. Of agents that are over nothing is kept to compare with:
// omni log verify --agent walks those.
func (a *Auditor) links(b *logging.Block, here uint64, digest [logging.HashBytes]byte) {
	defer a.disband()
	for i := range b.Touched() {
		no, previous := b.TouchedAt(i)
		if run, ok := logging.RunOf(no); ok {
			a.ledger(b, run, previous, here, b.HeadAt(i), digest)
			continue
		}
		a.worksFor(b, no)
		g := a.agents[no]
		if g == nil {
			continue
		}
		if previous != g.last || b.HeadAt(i) != g.head {
			a.foundAt(b.FirstSeq, bus.Record{Kind: bus.Event, Agent: no}, Links, "the block does not go on where agent %d's last one, at %d, left its chain", no, g.last)
		}
		g.last, g.head = here, logging.ChainAfter(b.HeadAt(i), digest)
	}
}

// restoredTo looks at CLUSTER_RESTORED: from here on the log is another
// cluster's, and says what it goes on from (EV-17).
func (a *Auditor) restoredTo(b *event.Restored) {
	switch {
	case b.Index != a.before.LastIndex || b.Chain != a.before.Chain:
		a.found(Links, "a backup is restored that ends at index %d, and the log before it at %d, or with another chain value", b.Index, a.before.LastIndex)
	case a.config == nil || b.From != a.config.ClusterID:
		a.found(Links, "a backup of the cluster %q is restored, and the log is not of that cluster", b.From)
	}
	if a.config != nil {
		a.config.ClusterID = b.To
	}
}

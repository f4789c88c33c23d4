package cluster

import (
	"time"

	"github.com/omnikernel/omnikernel/cluster/metrics"
	"github.com/omnikernel/omnikernel/fsm"
)

// observer follows the state machine for the metrics; nil when there are none.
func observer(m *metrics.Metrics) fsm.Observer {
	if m == nil {
		return nil
	}
	return m.Applier()
}

// Measure tells how the node stands, of what it knows anyway: it asks nobody, and waits
// for nothing.
func (n *Node) Measure() metrics.Node {
	raft := n.group.Status()
	m := metrics.Node{
		State: n.state.State(), Healthy: n.Healthy() == nil, Now: n.config.Wall(),
		Raft: &raft, Leads: raft.State == "Leader", Lag: n.currentLag(), Kernel: n.fsm.State(),
		Calls: n.runner.underWay(), Backups: n.Backups(),
	}
	if n.config.Tools != nil {
		m.Breakers = n.config.Tools.Broken()
	}
	for _, s := range n.runner.broker.Standings(0, time.Now()) {
		m.Lent, m.Lendable, m.Polls = m.Lent+s.Lent, m.Lendable+s.Waiting, m.Polls+s.Polls
	}
	if n.traces != nil {
		counts := n.traces.Counts()
		m.Traces = &counts
	}
	if seen := n.disk.Load(); seen != nil {
		m.DiskFree, m.DiskTotal = seen.free, seen.total
	}
	return m
}

// Measure of a node in safe mode tells that it is.
func (h *Held) Measure() metrics.Node {
	return metrics.Node{State: h.config.State.State(), Now: h.config.Wall()}
}

// Measure of a node that has not started tells what it waits for.
func (w *Waiting) Measure() metrics.Node {
	return metrics.Node{State: w.config.State.State(), Now: time.Now()}
}

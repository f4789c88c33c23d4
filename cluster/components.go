package cluster

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/capacity"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/supervise"
)

// raftComponent is Raft with all that it drives. It is not supervised: its panic
// ends the process.
const raftComponent = "raft"

// reviewEvery is how often the node looks at itself.
const reviewEvery = time.Second

// components are the node's own long-lived parts.
func (n *Node) components() []supervise.Component {
	all := []supervise.Component{
		forEver("snapshots", n.snapshotToArchive), forEver("freshness", n.keepFresh), forEver("review", n.review), forEver("members", n.keepBook),
		forEver("calls", n.runner.makeCalls), forEver("results", n.runner.handOn),
	}
	if n.config.History != nil {
		all = append(all, forEver("history", n.backfill.run))
	}
	if n.traces != nil {
		all = append(all, forEver("traces", n.trace))
	}
	if n.keeper != nil {
		all = append(all, forEver("backups", n.keeper.Run))
	}
	return all
}

// duties are what the node has to do while it leads in term.
func (n *Node) duties(term uint64) []supervise.Component {
	all := []supervise.Component{
		forEver("pulse", n.pulse), forEver("checkpoints", n.checkpoints),
		forEver("versions", n.keepVersion),
		forEver("promotions", n.promote),
		forEver("tools", func(ctx context.Context) { n.runner.lead(ctx, term) }),
	}
	if n.config.RemoveDead > 0 {
		all = append(all, forEver("removals", n.keepRemoving))
	}
	for i := range all {
		all[i].Rests, all[i].Down = true, n.giveWay
	}
	return all
}

// leadership is what the node does in a term that it leads: it sees whether it should,
// and keeps its duties.
func (n *Node) leadership(term uint64) supervise.Component {
	c := forEver("leadership", func(ctx context.Context) { n.takeTurns(ctx, term) })
	c.Rests, c.Down = true, n.giveWay
	return c
}

func forEver(name string, run func(context.Context)) supervise.Component {
	return supervise.Component{Name: name, Run: func(ctx context.Context) error {
		run(ctx)
		return nil
	}}
}

// keepAtWork runs components until the context ends.
func (n *Node) keepAtWork(ctx context.Context, all ...supervise.Component) {
	supervise.Run(ctx, n.supervision(), n.wrapped(all)...)
}

func (n *Node) supervision() supervise.Options {
	return supervise.Options{State: n.state, Logger: n.logger.Named("components"), Lost: n.die}
}

// wrapped are the components as a test wants them.
func (n *Node) wrapped(all []supervise.Component) []supervise.Component {
	if wrap := n.config.Supervised; wrap != nil {
		for i := range all {
			all[i] = wrap(all[i])
		}
	}
	return all
}

// giveWay hands leadership over that this node cannot do justice to: a duty of its own
// keeps failing. Until somebody takes it, the duty is tried again, unless it was
// given up.
func (n *Node) giveWay(ctx context.Context, forGood bool) {
	n.logger.Warn("what a leader has to do keeps failing here: this node hands leadership over")
	told := ""
	for n.handsOver(ctx, &told) && forGood {
		pause(ctx, handOverAgain)
	}
}

// review makes the transitions that time makes due, and sees whether Raft works, how
// the disk is, and whether the cluster comes near a limit.
func (n *Node) review(ctx context.Context) {
	full := capacity.NewWatch(n.logger)
	for ctx.Err() == nil {
		n.lookAtDisk()
		full.See(n.fsm.State())
		if n.Healthy() == nil {
			n.state.OK(raftComponent)
		}
		n.state.Review()
		pause(ctx, reviewEvery)
	}
}

// nameComponents makes known what the node needs to run, and what it does only
// while it leads.
func (n *Node) nameComponents() {
	n.state.Name(raftComponent, true)
	for _, c := range append(n.duties(0), n.leadership(0)) {
		n.state.Name(c.Name, c.Required)
		n.state.Rests(c.Name)
	}
}

// stopped notes that everything of the node has ended.
func (n *Node) stopped() {
	n.state.Stopped(raftComponent)
	if n.own {
		_ = n.state.Transition(nodestate.Done, nodestate.Cause{By: "node"}) // refused: it has crashed
	}
}

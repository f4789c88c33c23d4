package cluster

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/lineage"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// lead runs while this node leads in term.
func (n *Node) lead(ctx context.Context, term uint64) {
	select {
	case <-n.joined:
		n.keepAtWork(ctx, n.leadership(term))
	case <-ctx.Done():
	}
}

// takeTurns leads, and while the node is suspended only hands that over (NO-2).
func (n *Node) takeTurns(ctx context.Context, term uint64) {
	for ctx.Err() == nil {
		if n.suspended() {
			n.standAside(ctx)
			continue
		}
		n.leadUnlessSuspended(ctx, term)
	}
}

// leadUnlessSuspended first compares the clock with a majority's (EV-7); then it
// commits the term's first event, so that what it applies is known to be committed,
// and reads may be served; then everything that only a leader does begins.
func (n *Node) leadUnlessSuspended(ctx context.Context, term uint64) {
	ctx, cancel := context.WithCancel(ctx)
	watch, ctx := supervise.NewGroup(ctx)
	watch.Go(func() {
		n.untilSuspended(ctx)
		cancel()
	})
	defer watch.Wait()
	defer cancel()
	if !n.clockIsSound(ctx) {
		return
	}
	n.stamps.begin(n.fsm.State().Clock)
	defer n.stamps.end()
	if !n.firstEvent(ctx, term) {
		return
	}
	n.group.SetReady(term)
	n.logger.Info("leading", "term", term)
	n.keepAtWork(ctx, n.duties(term)...)
	n.logger.Info("no longer leading", "term", term)
}

// clockIsSound hands leadership over, and says why, when this node's clock is
// too far from the median of a majority's: one bad clock must not fire every
// deadline of the cluster.
func (n *Node) clockIsSound(ctx context.Context) bool {
	for ctx.Err() == nil {
		readings, err := n.group.Clocks(ctx)
		if err != nil {
			pause(ctx, 20*time.Millisecond)
			continue
		}
		skew := consensus.MedianSkew(readings)
		if skew.Abs() <= MaxClockSkew {
			return true
		}
		n.logger.Error("this node's clock is off: it hands leadership over", "skew", skew, "allowed", MaxClockSkew)
		if err := n.group.Transfer(ctx, ""); err != nil {
			n.logger.Error("leadership could not be handed over", "error", err)
			pause(ctx, time.Second)
		}
	}
	return false
}

// firstEvent commits KernelBooted on a new cluster, ClusterRestored on one that was
// made from another's backup, and LeaderStarted on an old one.
func (n *Node) firstEvent(ctx context.Context, term uint64) bool {
	for ctx.Err() == nil {
		e := n.first(ctx, n.fsm.State(), term)
		recovered := n.tellRecovery(&e)
		answer := n.Propose(ctx, e)
		if answer.Verdict == Applied && (answer.Outcome.Done() || e.Kind == event.KernelBooted) {
			if recovered && e.Kind != event.LeaderStarted {
				continue // what the node has is applied now, and says that it was booted long ago
			}
			if recovered {
				n.recoveryIsTold()
			}
			return true
		}
		pause(ctx, 5*time.Millisecond)
	}
	return false
}

func (n *Node) first(ctx context.Context, s *kernelState, term uint64) event.Event {
	e := event.Event{Kind: event.LeaderStarted, Principal: "node:" + n.config.NodeID}
	switch {
	case s.Config == nil && s.Index == 0:
		limits := n.config.Limits.At(n.firstVersion(ctx))
		limits.ClusterID, limits.KernelID = n.config.ClusterID, n.config.KernelID
		e.Kind, e.Body = event.KernelBooted, event.Encode(limits)
	case n.foreign(s):
		e.Kind, e.Body = event.ClusterRestored, event.Encode(event.Restored{
			From: s.Config.ClusterID, To: n.config.ClusterID, Index: s.Log.LastIndex, Chain: s.Log.Chain,
		})
	default:
		e.Body = event.Encode(event.Leader{Node: n.config.NodeID, Term: term})
	}
	return e
}

// recoveryPrincipal is who begins a term after the node was made the only member: an
// auditor sees by it where the log goes on from one survivor (ME-8).
const recoveryPrincipal = "recovery:"

// tellRecovery puts on record that the cluster was recovered from this node.
func (n *Node) tellRecovery(e *event.Event) bool {
	r, pending, err := datadir.PendingRecovery(n.config.DataDir)
	var through string
	if pending {
		through, err = datadir.Lineage(n.config.DataDir)
	}
	if err != nil {
		n.logger.Error("whether the cluster was recovered from this node cannot be read", "error", err)
	}
	pending = pending && (r.ID == "" || lineage.Ends(through, r.ID)) // or it was cut short, and did not happen
	if pending && e.Kind == event.LeaderStarted {
		n.logger.Warn("this cluster goes on from one survivor of a lost majority", "node", n.config.NodeID, "index", r.Index, "members_before", r.Members)
		e.Principal = recoveryPrincipal + n.config.NodeID
	}
	return pending
}

func (n *Node) recoveryIsTold() {
	if err := datadir.ForgetRecovery(n.config.DataDir); err != nil {
		n.logger.Error("the note of a recovery cannot be removed: the next term will tell of it again", "error", err)
	}
}

// foreign tells whether the state is still that of the cluster whose backup this one
// was made from: the data directory says that it belongs here (EV-17).
func (n *Node) foreign(s *kernelState) bool {
	return s.Config != nil && s.Config.ClusterID != n.config.ClusterID
}

// pause waits, or less when the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// published is told by the FSM that a new state is there.
func (n *Node) published(s *kernelState) {
	n.stirred.stir()
}

// pulse commits an empty event when a deadline has passed, or ticks wait, and
// nothing else is committed (EV-7, EX-2).
func (n *Node) pulse(ctx context.Context) {
	var seen uint64
	for ctx.Err() == nil {
		s := n.fsm.State()
		wait := n.untilDue(s)
		if wait <= 0 && s.Index == seen {
			n.Propose(ctx, event.Event{Kind: event.Pulse, Principal: "node:" + n.config.NodeID})
			seen = n.fsm.State().Index
			pause(ctx, pulseEvery)
			continue
		}
		// Something was committed meanwhile, or nothing is due: look again
		// after the shortest time between Pulses, or when the state moves.
		seen = s.Index
		n.doze(ctx, max(wait, pulseEvery))
	}
}

// untilDue is how long from now the kernel needs a Pulse; an hour for never.
func (n *Node) untilDue(s *kernelState) time.Duration {
	if s.Behind() {
		return 0
	}
	timer, ok := s.Timers.First()
	if !ok || s.Estop.Suspended() { // no deadline rings while it is (NO-2)
		return time.Hour
	}
	return time.Duration(timer.Deadline-n.stamps.now()) * time.Millisecond
}

// doze waits until d is over, but for a state that has moved not longer than
// the shortest time between Pulses.
func (n *Node) doze(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-n.stirred:
		pause(ctx, min(d, pulseEvery))
	}
}

package consensus

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// Transfer hands leadership to a voter; an empty id means the follower whose
// log is longest, of those that answer. New proposals are refused meanwhile,
// and what is in flight is given one election timeout to be applied. It returns
// nil when this node no longer leads; the other one may still be electing.
func (g *Group) Transfer(ctx context.Context, to string) error {
	t := g.tenure.Load()
	if t == nil {
		return g.readRefusal()
	}
	if !t.transferring.CompareAndSwap(false, true) {
		return refusal(Transferring, "a transfer is under way")
	}
	defer t.transferring.Store(false)
	targets, err := g.successors(ctx, to)
	if err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, g.config.Timing.Election)
	g.open.drain(patience)
	targets, err = g.caughtUpWith(patience, t, targets)
	cancel()
	if err != nil {
		return err
	}
	// Twice: a pooled connection to a node that has restarted since fails once.
	for _, target := range slices.Repeat(targets, 2) {
		if t.spent[target.ID] {
			continue
		}
		err = g.handTo(ctx, t, target)
		if err == nil || g.tenure.Load() != t {
			break
		}
		g.config.Logger.Warn("leadership was not handed over", "to", target.ID, "error", err)
	}
	if err == nil {
		select {
		case <-t.ended:
		case <-ctx.Done():
			err = refusal(Timeout, "handing leadership over")
		}
	}
	// The context may be Lead's own, which ends with what was asked for.
	if g.tenure.Load() != t {
		return nil
	}
	return err
}

// handTo asks the library for one transfer.
//
// While a follower lacks entries, the library waits for its replication, over a
// channel with room for one question. A transfer that it gave up after an election
// timeout may have left its question there. The next transfer to that follower
// would wait for room without end if the term ended meanwhile, and as long as it
// waits the library refuses every command, in later terms too. So who let such a
// time pass is not asked again in this term: the channel is the term's own.
func (g *Group) handTo(ctx context.Context, t *tenure, target Member) error {
	t.spent[target.ID] = true
	began := time.Now()
	err := g.awaitFuture(ctx, func() raft.Future {
		return g.raft.LeadershipTransferToServer(raft.ServerID(target.ID), raft.ServerAddress(target.Address))
	})
	if ctx.Err() == nil && !g.isClosing() && time.Since(began) < g.config.Timing.Election {
		delete(t.spent, target.ID)
	}
	return err
}

// caughtUpWith waits until some of the successors have the whole log, and returns
// those: the others could only let the library's time pass.
func (g *Group) caughtUpWith(ctx context.Context, t *tenure, successors []Member) ([]Member, error) {
	for {
		last := g.lastIndexes(ctx, successors)
		var ready []Member
		for _, m := range successors {
			if !t.spent[m.ID] && last[m.ID] >= g.raft.LastIndex() {
				ready = append(ready, m)
			}
		}
		switch {
		case len(ready) > 0:
			return ready, nil
		case !pause(ctx, catchUpPoll):
			return nil, refusal(NotCaughtUp, "no other voter that can be asked has the whole log: retry")
		}
	}
}

// catchUpPoll is how often successors are asked how far they are.
const catchUpPoll = 10 * time.Millisecond

// successors are the voters to try, in order.
func (g *Group) successors(ctx context.Context, to string) ([]Member, error) {
	others := g.otherVoters()
	if to != "" {
		i := slices.IndexFunc(others, func(m Member) bool { return m.ID == to })
		if i < 0 {
			return nil, refusal(Unreachable, "%s is no other voter of this group", to)
		}
		return others[i : i+1], nil
	}
	last := g.lastIndexes(ctx, others)
	others = slices.DeleteFunc(others, func(m Member) bool { _, answered := last[m.ID]; return !answered })
	if len(others) == 0 {
		return nil, refusal(NoQuorum, "no other voter answers")
	}
	slices.SortStableFunc(others, func(a, b Member) int { return -compare(last[a.ID], last[b.ID]) })
	return others, nil
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// lastIndexes asks nodes how far their logs go; those that do not answer within
// a heartbeat are left out.
func (g *Group) lastIndexes(ctx context.Context, nodes []Member) map[string]uint64 {
	ctx, cancel := context.WithTimeout(ctx, g.config.Timing.Heartbeat)
	defer cancel()
	answers := make(chan termAnswer, len(nodes))
	asked := 0
	for _, node := range nodes {
		if g.crew.start(func() {
			state, err := g.askPeer(ctx, node, g.askers.nonce.Add(1))
			answers <- termAnswer{state, err}
		}) {
			asked++
		}
	}
	out := make(map[string]uint64)
	for range asked {
		if a := <-answers; a.err == nil {
			out[a.peer.node] = a.peer.last
		}
	}
	return out
}

// awaitFuture makes one of the library's rare requests and waits for it. A
// request that the library takes in while it shuts down stays unresolved, and so
// does its goroutine: after the end of the group none is made, and Close waits for
// those that are under way. With Timeout and Shutdown the request may still take
// effect.
func (g *Group) awaitFuture(ctx context.Context, request func() raft.Future) error {
	if g.isClosing() {
		return refusal(Shutdown, "this node is stopping")
	}
	done := make(chan error, 1)
	g.asked.add()
	go func() {
		defer g.asked.done()
		done <- request().Error()
	}()
	select {
	case err := <-done:
		return futureError(err)
	case <-ctx.Done():
		return refusal(Timeout, "waiting for the group")
	case <-g.closing:
		return refusal(Shutdown, "this node is stopping")
	}
}

func futureError(err error) error {
	if err == nil {
		return nil
	}
	if out := outcomeOf(err, nil); out.Code != StoreFailed {
		return refusal(out.Code, "%v", err)
	}
	return fmt.Errorf("raft: %w", err)
}

package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Read returns a state that is as fresh as was asked for, or says that this
// node has none (CL-4): never NOT_FOUND for what it has not reached.
func (n *Node) Read(ctx context.Context, c Consistency) (View, error) {
	if err := n.reach(ctx, c); err != nil {
		return View{}, n.readError(err)
	}
	lag := n.currentLag()
	if c.Level == Stale && c.MaxLag > 0 && lag > c.MaxLag {
		_ = n.refresh(ctx) // what is not found out leaves the lag as it is
		lag = n.currentLag()
	}
	if c.Level == Stale && c.MaxLag > 0 && lag > c.MaxLag {
		return View{}, &ReadError{
			Code: CodeNotCaughtUp, Applied: n.fsm.Applied(),
			Detail: fmt.Sprintf("this node may be %d ms behind, more than the %d ms asked for", lag.Milliseconds(), c.MaxLag.Milliseconds()),
		}
	}
	return View{State: n.fsm.State(), Node: n.config.NodeID, Lag: lag}, nil
}

// Known is the state as this node has it, and whether it has once been as new as the
// cluster's since the node started.
func (n *Node) Known() (s *state.State, current bool) { return n.fsm.State(), n.group.CaughtUp() }

func (n *Node) reach(ctx context.Context, c Consistency) error {
	index := c.MinIndex
	switch c.Level {
	case Linearizable:
		if err := n.refresh(ctx); err != nil {
			return err
		}
	case Session, Stale:
		if !n.group.CaughtUp() {
			return &consensus.Refusal{Code: consensus.NotCaughtUp, Detail: "this node has not caught up since it started"}
		}
	default:
		return fmt.Errorf("cluster: no such read level: %d", c.Level)
	}
	if index == 0 {
		return nil
	}
	return n.group.WaitApplied(ctx, index)
}

func (n *Node) readError(err error) error {
	out := &ReadError{Code: CodeNotCaughtUp, Detail: err.Error(), Applied: n.fsm.Applied()}
	var r *consensus.Refusal
	if !errors.As(err, &r) {
		return out
	}
	out.Detail = r.Detail
	switch r.Code {
	case consensus.NoLeader, consensus.NotReady, consensus.NoQuorum, consensus.NewerTerm, consensus.Transferring:
		out.Code = CodeNoLeader
	case consensus.NotLeader:
		out.Code, out.Leader = CodeNotLeader, n.peer(r.Leader.ID)
	case consensus.Shutdown:
		out.Code = CodeShutdown
	case consensus.Unreachable:
		out.Code = CodeNoLeader
	}
	return out
}

package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

type kernelState = state.State

// checkpoints commits the voters' chain values for one index, every so many
// events or seconds, so that replicas check each other (LO-3).
func (n *Node) checkpoints(ctx context.Context) {
	last, lastAt := n.fsm.Applied(), time.Now()
	for ctx.Err() == nil {
		pause(ctx, 100*time.Millisecond)
		index := n.fsm.Applied()
		due := index >= last+checkpointEvents || index > last && time.Since(lastAt) >= checkpointEvery
		if !due {
			continue
		}
		voters := n.voters()
		if values := n.collect(ctx, voters, index); len(values)*2 > len(voters) {
			n.Propose(ctx, event.Event{
				Kind: event.Checkpoint, Principal: "node:" + n.config.NodeID,
				Body: event.Encode(event.Compare{Index: index, Values: values}),
			})
		}
		last, lastAt = n.fsm.Applied(), time.Now()
	}
}

// collect asks every voter for its chain value at index. Who does not answer
// in time is left out; it compares itself when it applies the event.
func (n *Node) collect(ctx context.Context, voters []Peer, index uint64) []event.Voter {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	found := make(chan event.Voter, len(voters))
	asked, ctx := supervise.NewGroup(ctx)
	for _, p := range voters {
		asked.Go(func() {
			if chain, err := n.chainOf(ctx, p, index); err == nil {
				found <- event.Voter{Node: p.ID, Chain: chain}
			}
		})
	}
	asked.Wait()
	close(found)
	var values []event.Voter
	for v := range found {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b event.Voter) int { return cmp.Compare(a.Node, b.Node) })
	return values
}

func (n *Node) chainOf(ctx context.Context, p Peer, index uint64) ([32]byte, error) {
	if p.ID == n.config.NodeID {
		return n.ownChain(ctx, index)
	}
	answer, err := n.config.Calls.Call(ctx, p.Raft, peerChain, binary.LittleEndian.AppendUint64(nil, index))
	if err != nil {
		return [32]byte{}, err
	}
	if len(answer) != 32 {
		return [32]byte{}, errors.New("cluster: a chain value has 32 bytes")
	}
	return [32]byte(bytes.Clone(answer)), nil
}

var errChainForgotten = errors.New("cluster: the chain value at this index is not remembered")

func (n *Node) ownChain(ctx context.Context, index uint64) ([32]byte, error) {
	if err := n.group.WaitApplied(ctx, index); err != nil {
		return [32]byte{}, err
	}
	chain, ok := n.fsm.Chain(index)
	if !ok {
		return [32]byte{}, errChainForgotten
	}
	return chain, nil
}

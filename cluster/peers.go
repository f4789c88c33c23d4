package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// Kinds of questions that nodes ask each other, beside the group's own.
const (
	peerStatus byte = 32 // → NodeStatus as JSON
	peerChain  byte = 33 // index → chain value, once it is applied
	peerHandIn byte = 34 // a ToolResult body, for the leader to propose
	peerOrder  byte = 35 // orderAsked as JSON, for the leader to propose → orderTold
	peerTraced byte = 48 // → first busSeq that the leader has not exported spans of
)

// componentOf is whose question one of another node is: what answers it panics in that
// component's name. A question of the group's own is Raft's, whose panic ends the
// process.
func componentOf(kind byte) string {
	switch kind {
	case peerMember, peerBelongs, peerWish:
		return "members"
	case peerOrder:
		return "orders"
	case peerChain:
		return "checkpoints"
	case peerHandIn:
		return "results"
	case peerTraced:
		return "traces"
	}
	return "review"
}

var errPanicked = errors.New("cluster: this node failed over the question: its log says more")

var errUnknownQuestion = errors.New("cluster: unknown question")

// HandlePeer answers another node. cmd/omni gives it to the stream layer.
func (n *Node) HandlePeer(ctx context.Context, from string, kind byte, body []byte) (answer []byte, err error) {
	if consensus.OwnsKind(kind) {
		return n.group.HandlePeer(ctx, from, kind, body)
	}
	defer func() {
		if cause := recover(); cause != nil {
			n.supervision().Caught(componentOf(kind), cause)
			err = errPanicked
		}
	}()
	switch kind {
	case peerStatus:
		return json.Marshal(n.ownStatus())
	case peerChain:
		if len(body) != 8 {
			return nil, errUnknownQuestion
		}
		chain, err := n.ownChain(ctx, binary.LittleEndian.Uint64(body))
		return chain[:], err
	case peerMember, peerBelongs, peerWish:
		return n.answerMember(ctx, kind, body)
	case peerTraced:
		return n.traced(), nil
	case peerOrder:
		return n.answerOrder(ctx, from, body)
	case peerHandIn:
		if _, ok := event.DecodeBody[event.Result](body); !ok {
			return nil, errUnknownQuestion
		}
		answer := n.Propose(ctx, event.Event{Kind: event.ToolResult, Principal: "node:" + from, Body: append([]byte(nil), body...)})
		return []byte{byte(answer.Verdict)}, nil
	}
	return nil, errUnknownQuestion
}

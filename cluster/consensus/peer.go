package consensus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Kinds of peer requests. Numbers are part of the protocol: append only.
const (
	kindState byte = 1 // nonce[8] -> peerState
	kindRead  byte = 2 // nothing -> 0 index[8], or 1 code
)

// lastOwnKind is the end of the numbers kept for this package.
const lastOwnKind byte = 31

// OwnsKind tells whether a peer request is for HandlePeer.
func OwnsKind(kind byte) bool { return kind >= 1 && kind <= lastOwnKind }

var errPeerAnswer = errors.New("peer's answer is not understood")

// peerState is what a node says of itself when it is asked.
//
//	nonce[8] term[8] last[8] wallNanos[8] node…    big-endian
type peerState struct {
	nonce uint64
	term  uint64
	last  uint64 // index of the last entry in its log
	wall  int64  // its wall clock, nanoseconds since 1970
	node  string
}

const peerStateHead = 32

func (s peerState) encode() []byte {
	out := make([]byte, 0, peerStateHead+len(s.node))
	out = binary.BigEndian.AppendUint64(out, s.nonce)
	out = binary.BigEndian.AppendUint64(out, s.term)
	out = binary.BigEndian.AppendUint64(out, s.last)
	out = binary.BigEndian.AppendUint64(out, uint64(s.wall))
	return append(out, s.node...)
}

func decodePeerState(b []byte) (peerState, error) {
	if len(b) <= peerStateHead {
		return peerState{}, errPeerAnswer
	}
	return peerState{
		nonce: binary.BigEndian.Uint64(b),
		term:  binary.BigEndian.Uint64(b[8:]),
		last:  binary.BigEndian.Uint64(b[16:]),
		wall:  int64(binary.BigEndian.Uint64(b[24:])),
		node:  string(b[peerStateHead:]),
	}, nil
}

// HandlePeer answers the requests whose kind OwnsKind. It may run many times
// at once.
func (g *Group) HandlePeer(ctx context.Context, from string, kind byte, body []byte) ([]byte, error) {
	switch kind {
	case kindState:
		if len(body) != 8 {
			return nil, errPeerAnswer
		}
		return peerState{
			nonce: binary.BigEndian.Uint64(body),
			term:  g.raft.CurrentTerm(),
			last:  g.raft.LastIndex(),
			wall:  g.config.Wall().UnixNano(),
			node:  g.config.NodeID,
		}.encode(), nil
	case kindRead:
		return g.answerRead(ctx), nil
	}
	return nil, fmt.Errorf("kind %d from %s: %w", kind, from, errPeerAnswer)
}

// askPeer asks one node for its state and checks that it is the node meant and
// the question asked.
func (g *Group) askPeer(ctx context.Context, to Member, nonce uint64) (peerState, error) {
	body, err := g.config.Peers.Call(ctx, to.Address, kindState, binary.BigEndian.AppendUint64(nil, nonce))
	if err != nil {
		return peerState{}, err
	}
	state, err := decodePeerState(body)
	if err != nil {
		return peerState{}, err
	}
	if state.nonce != nonce || state.node != to.ID {
		return peerState{}, fmt.Errorf("asked %s, %s answered: %w", to.ID, state.node, errPeerAnswer)
	}
	return state, nil
}

// answerRead runs a follower's read on the leader. Only the leader answers, so
// that a question never travels in circles.
func (g *Group) answerRead(ctx context.Context) []byte {
	if g.tenure.Load() == nil {
		return append([]byte{1}, NotLeader...)
	}
	index, err := g.ReadIndex(ctx)
	var no *Refusal
	if errors.As(err, &no) {
		return append([]byte{1}, no.Code...)
	}
	return binary.BigEndian.AppendUint64([]byte{0}, index)
}

// askLeader is a read round on a follower.
func (g *Group) askLeader(ctx context.Context) (uint64, *Refusal) {
	leader, known := g.Leader()
	if !known || leader.ID == g.config.NodeID {
		return 0, refusal(NoLeader, "nobody is known to lead")
	}
	body, err := g.config.Peers.Call(ctx, leader.Address, kindRead, nil)
	switch {
	case err != nil:
		return 0, refusal(Unreachable, "leader %s: %v", leader.ID, err)
	case len(body) == 9 && body[0] == 0:
		return binary.BigEndian.Uint64(body[1:]), nil
	case len(body) > 1 && body[0] == 1:
		no := refusal(Code(body[1:]), "said %s, whom this node takes for the leader", leader.ID)
		if no.Code == NotLeader {
			no.Code = NoLeader // the hint would be wrong
		}
		return 0, no
	}
	return 0, refusal(Unreachable, "leader %s: %v", leader.ID, errPeerAnswer)
}

// readRefusal is for a leader that is none any more.
func (g *Group) readRefusal() *Refusal {
	out := g.notLeader()
	return &Refusal{Code: out.Code, Detail: "leadership was lost", Leader: out.Leader}
}

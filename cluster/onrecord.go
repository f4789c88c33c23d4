package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// Record has an operator's order committed, before this node carries it out: whoever
// may not give it is refused by the kernel, at its place in the log (AU-10). Where
// another node leads, that one is asked. CodeVersionTooLow says that the kernel version
// has no orders yet: they are carried out then without being on record (EV-9).
func (n *Node) Record(ctx context.Context, by string, o event.Order) Answer {
	e := orderEvent(by, o)
	leader, known := n.Leader()
	if !known || leader.ID == n.config.NodeID {
		return n.Propose(ctx, e)
	}
	raw, err := json.Marshal(orderAsked{By: by, Order: o})
	if err == nil {
		raw, err = n.config.Calls.Call(ctx, leader.Raft, peerOrder, raw)
	}
	var told orderTold
	if err == nil {
		err = json.Unmarshal(raw, &told)
	}
	switch {
	case err == nil:
		return told.answer(leader)
	case n.versionOf(ctx, leader.ID, leader.Raft) == 1:
		return tooEarly(e.Kind, 1) // it does not know the question: no cluster that it leads is further
	}
	return Answer{Verdict: Unknown, Code: CodeTimeout, Detail: "the leader, " + leader.ID + ", did not say whether the order is on record: " + err.Error()}
}

// Record refuses: a node in safe mode takes no part, and asks nobody to.
func (h *Held) Record(context.Context, string, event.Order) Answer {
	return Answer{Verdict: Refused, Code: CodeSafeMode, Detail: h.refusal()}
}

func orderEvent(by string, o event.Order) event.Event {
	return event.Event{Kind: event.OperatorOrder, Principal: by, Body: event.Encode(o)}
}

// orderAsked is what a node asks the leader to commit.
type orderAsked struct {
	By    string
	Order event.Order
}

// orderTold is what became of it.
type orderTold struct {
	Verdict      Verdict
	Code, Detail string
	Refusal      failure.Refusal
	Index, Seq   uint64
}

func (t *orderTold) answer(leader Peer) Answer {
	a := Answer{Verdict: t.Verdict, Code: t.Code, Detail: t.Detail}
	a.Outcome.Refusal, a.Outcome.Index, a.Outcome.Seq = t.Refusal, t.Index, t.Seq
	if a.Code == CodeNotLeader { // it was asked because this node believes so: nobody is known to lead
		a.Code = CodeNoLeader
	}
	return a
}

var errNoOrder = errors.New("cluster: this is no order")

// answerOrder commits what another node is to carry out. Nodes trust each other with who
// gave the order, as in what they propose; that it is none of theirs is looked at, and
// that it is about the node that asks.
func (n *Node) answerOrder(ctx context.Context, from string, body []byte) ([]byte, error) {
	var asked orderAsked
	if json.Unmarshal(body, &asked) != nil || principals.ParseCaller(asked.By).Node() || !carriedOutBy(from, &asked.Order) {
		return nil, errNoOrder
	}
	a := n.Propose(ctx, orderEvent(asked.By, asked.Order))
	return json.Marshal(orderTold{
		Verdict: a.Verdict, Code: a.Code, Detail: a.Detail, Refusal: a.Outcome.Refusal, Index: a.Outcome.Index, Seq: a.Outcome.Seq,
	})
}

// carriedOutBy tells whether an order is one that the named node carries out itself:
// about itself, or a backup that it makes. All else the leader does, and nobody asks it to
// record that.
func carriedOutBy(node string, o *event.Order) bool {
	if o.Action == "backup.create" {
		return o.Resource == flows.Nothing
	}
	return strings.HasPrefix(o.Action, "node.") && o.Resource == flows.Named(node)
}

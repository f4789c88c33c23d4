package cluster

import (
	"context"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// Propose stamps an event, commits it and returns what it came to. The
// context bounds the wait; a command that was proposed and not answered in time
// is called unknown (CL-2).
func (n *Node) Propose(ctx context.Context, e event.Event) Answer {
	if n.state.Closed() && e.Kind.IsCommand() && e.Kind != event.OperatorOrder { // an order may be what opens it
		return n.intakeClosed()
	}
	if !kernel.Readable(&e) {
		return unreadable()
	}
	if !n.stamps.running() {
		return n.notLeading()
	}
	if e.Kind.IsCommand() && n.foreign(n.fsm.State()) {
		return notYetRestored()
	}
	if a, early := n.early(e.Kind); early {
		return a
	}
	return n.commit(ctx, n.encode(&e))
}

// intakeClosed answers commands that a node does not take in the state that it is
// in (NO-2): it did not happen here and will not.
func (n *Node) intakeClosed() Answer {
	a := Answer{Verdict: Refused, Code: CodeIntakeClosed, Detail: "this node takes no commands: it is " + string(n.state.State()) + ". Ask another one"}
	if leader, known := n.Leader(); known && leader.ID != n.config.NodeID {
		a.Leader = leader
	}
	return a
}

// unreadable answers an event that would stop every node that applies it (EV-2).
func unreadable() Answer {
	return Answer{Verdict: Refused, Code: CodeTooLarge, Detail: "the kernel could not read this event: it is larger or nested deeper than an event may be"}
}

// notLeading answers for a node that does not lead, or whose term has not begun
// because its clock is still being judged (EV-7).
func (n *Node) notLeading() Answer {
	leader, known := n.Leader()
	if known && leader.ID != n.config.NodeID {
		return Answer{Verdict: Refused, Code: CodeNotLeader, Detail: detailOf(consensus.NotLeader), Leader: leader}
	}
	return Answer{Verdict: Refused, Code: CodeNoLeader, Detail: detailOf(consensus.NoLeader)}
}

// notYetRestored answers commands that come before the restored cluster has become
// itself: in between the log must stand still, or its first event would come too
// late, again and again (EV-17).
func notYetRestored() Answer {
	return Answer{Verdict: Refused, Code: CodeNoLeader, Detail: "the cluster was restored from a backup, and its first leader has not begun yet: retry"}
}

// early refuses a kind that the cluster's kernel version does not have (EV-9). What it is
// only a state says that has once, since the node started, been as new as the cluster's.
func (n *Node) early(kind event.Kind) (a Answer, early bool) {
	if kind.Since() == 1 {
		return a, false
	}
	if !n.group.CaughtUp() {
		return Answer{Verdict: Refused, Code: CodeNoLeader, Detail: "this node has just started, and has not replayed its log yet: retry"}, true
	}
	if version := n.fsm.State().Version(); kind.Since() > version {
		return tooEarly(kind, version), true
	}
	return a, false
}

// ProposeAll commits events in order, each as an entry of its own.
func (n *Node) ProposeAll(ctx context.Context, batch []event.Event) []Answer {
	answers := make([]Answer, len(batch))
	if !n.stamps.running() {
		for i := range answers {
			if answers[i] = n.notLeading(); n.state.Closed() && batch[i].Kind.IsCommand() {
				answers[i] = n.intakeClosed()
			}
		}
		return answers
	}
	foreign, closed := n.foreign(n.fsm.State()), n.state.Closed()
	encoded := make([][]byte, 0, len(batch))
	places := make([]int, 0, len(batch))
	for i := range batch {
		if closed && batch[i].Kind.IsCommand() {
			answers[i] = n.intakeClosed()
			continue
		}
		if foreign && batch[i].Kind.IsCommand() {
			answers[i] = notYetRestored()
			continue
		}
		if a, early := n.early(batch[i].Kind); early {
			answers[i] = a
			continue
		}
		if !kernel.Readable(&batch[i]) {
			answers[i] = unreadable()
			continue
		}
		encoded, places = append(encoded, n.encode(&batch[i])), append(places, i)
	}
	for i, outcome := range n.group.ProposeAll(ctx, encoded) {
		answers[places[i]] = n.answer(outcome)
	}
	return answers
}

func (n *Node) encode(e *event.Event) []byte {
	e.Wall = n.stamps.now()
	e.Proposal = n.proposal.Add(1)
	return e.Append(make([]byte, 0, len(e.Body)+len(e.Principal)+len(e.IdempotencyKey)+96))
}

// answer turns what consensus says into what a client is told.
func (n *Node) answer(o consensus.Outcome) Answer {
	switch o.Verdict {
	case consensus.Applied:
		result, ok := o.Response.(*fsm.Result)
		if !ok || result == nil {
			return Answer{Verdict: Unknown, Code: CodeShutdown, Detail: "the node stopped while it applied the command"}
		}
		return n.recall(result.Outcome)
	case consensus.Refused:
		a := Answer{Verdict: Refused, Code: string(o.Code), Detail: detailOf(o.Code)}
		switch o.Code {
		case consensus.NotLeader:
			a.Leader = n.peer(o.Leader.ID)
		case consensus.Transferring:
			a.Code = CodeNoLeader
		case consensus.Shutdown:
			a.Code = CodeIntakeClosed
		}
		return a
	}
	code := string(o.Code)
	if o.Code == consensus.StoreFailed {
		code = CodeShutdown
	}
	return Answer{Verdict: Unknown, Code: code, Detail: detailOf(o.Code)}
}

func detailOf(code consensus.Code) string {
	switch code {
	case consensus.NotLeader:
		return "this node does not lead: ask the leader"
	case consensus.NoLeader:
		return "no node leads at the moment: retry"
	case consensus.Transferring:
		return "leadership is being handed over: retry"
	case consensus.QueueFull:
		return "too many commands are in flight: retry later"
	case consensus.TooLarge:
		return "the command is larger than a log entry may be"
	case consensus.Timeout:
		return "the time for the command was over before it was answered"
	case consensus.LeadershipLost:
		return "leadership was lost while the command was in flight: it may or may not have happened"
	case consensus.Shutdown:
		return "the node is stopping"
	case consensus.StoreFailed:
		return "the log store failed while the command was in flight: it may or may not have happened"
	}
	return ""
}

// recall completes the outcome of a retry whose first outcome was too long for
// the session table: the log has it.
func (n *Node) recall(o event.Outcome) Answer {
	if o.Stored == 0 {
		return Answer{Verdict: Applied, Outcome: o}
	}
	block, err := n.log.BlockAt(o.Stored - 1)
	if err == nil {
		for records := block.Records(); records.Next(); {
			if bus.Kind(records.Record.Kind) != bus.Outcome {
				continue
			}
			if first, ok := event.DecodeOutcome(records.Record.Body); ok {
				first.Repeated = true
				return Answer{Verdict: Applied, Outcome: *first}
			}
		}
	}
	return Answer{Verdict: Unknown, Code: CodeHistoryBehind, Detail: "the command was answered before; this node does not hold the log with that answer"}
}

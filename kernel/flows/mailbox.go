package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const receiveTool = "mailbox.receive"

var noReceive = &mailbox.Receive{}

// Send decides an AgentSend event: one message into the agent's mailbox, which
// is bounded. An agent that waits for one gets it at once.
func Send(v View, cmd *event.Send, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	switch t.Row.Lifecycle.State {
	case lifecycle.Defined, lifecycle.Completing, lifecycle.Terminated:
		return t, refuse(failure.InvalidState, "agent", "an agent that is "+t.Row.Lifecycle.State.String()+" takes no messages")
	}
	if refusal := t.full(); refusal != nil {
		return t, refusal
	}
	message := cmd.Message
	if len(message) == 0 {
		message = value.Null
	}
	if p := value.Check(message, int(v.Config.MaxValueBytes)); p != nil {
		return t, refuse(failure.InvalidValue, value.JoinKey("message", p.Path), p.Rule)
	}
	box := &t.Row.Mailbox
	if uint32(len(box.Messages)) >= v.Config.MaxMailbox || box.Bytes+uint32(len(message)) > v.Config.MaxMailboxBytes {
		return t, refuseHint(failure.QueueFull, "agent", "the agent's mailbox is full", "wait until it has received some, then send again")
	}
	out.Add(bus.Record{Kind: bus.MessageQueued, Agent: t.No, Body: &mailbox.Message{Value: message}})
	return t, nil
}

// Deliver reacts to MessageQueued: the agent may be waiting for it.
func Deliver(v View, made bus.Record, out *bus.Batch) {
	t := Target{made.Agent, v.Agents.Get(made.Agent)}
	box := &t.Row.Mailbox
	if box.Call == 0 || len(box.Messages) == 0 || t.Row.Execution.Current.Wait(box.Call) == nil {
		return
	}
	clearOwn(t, out)
	s := v.settling(t, out)
	s.add(bus.MessageTaken, &mailbox.Receive{Call: box.Call})
	s.succeed(box.Call, receiveTool, box.Messages[0])
}

// receive answers mailbox.receive with the oldest message, or leaves the agent
// WAITING for one. A wait with a time of its own ends in an answer; without
// one the kernel's limit ends it, by row 8 (LC-12).
func (g *gate) receive(j *judgement) {
	millis, given := j.intArg("timeout_ms")
	if given && (millis < 0 || millis > g.v.Config.MaxWaitMillis) {
		g.badArgs(j, "mailbox.receive takes an integer timeout_ms from 0 to max_wait_ms, or none")
		return
	}
	if box := &g.t.Row.Mailbox; len(box.Messages) > 0 {
		g.add(bus.MessageTaken, &mailbox.Receive{Call: j.call})
		g.succeed(j.call, receiveTool, box.Messages[0])
		return
	}
	if !given {
		millis = g.v.Config.ReceiveMillis
	}
	g.add(bus.ReceiveStarted, &mailbox.Receive{Call: j.call, Limited: given})
	g.out.Add(g.setTimer(timers.Timer{Deadline: g.v.Clock + millis, Purpose: timers.ReceiveOver, Call: j.call}))
}

// receiveOver ends a wait for a message that did not come.
func (v View) receiveOver(t Target, timer timers.Timer, out *bus.Batch) {
	if !t.Row.Mailbox.Limited {
		v.waitOver(t, timer.Tick, receiveTool, timer.Call, out)
		return
	}
	s := v.settling(t, out)
	s.add(bus.ReceiveStarted, noReceive)
	s.refuse(timer.Call, receiveTool, &failure.Failure{Code: failure.WaitTimeout, Message: "no message came within timeout_ms"})
}

package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

const receiveTwice = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"a","do":{"kind":"RECEIVE"}}},
	{"kind":"LET","payload":{"name":"b","do":{"kind":"RECEIVE"}}},
	{"kind":"RETURN","payload":{"value":["${a}","${b}"]}}]}}`

// TO-1: mailbox.receive takes the oldest message, or waits for one; a message
// for an agent that waits is handed over in the event that brings it.
func TestMailbox(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := s.NewID()
	s.Must(event.AgentDefine, event.Define{ID: id, Grants: freely, Program: kerneltest.JSON(t, receiveTwice)})
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "spawn"})
	require.Empty(t, s.Send(id, map[string]any{"n": 1}).Refusal)
	require.Equal(t, []string{"EVENT", "MESSAGE_QUEUED", "OUTCOME"}, s.Names())
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "activate"})
	require.Equal(t, 1, s.Count(bus.MessageTaken))
	require.Equal(t, 1, s.Count(bus.ReceiveStarted))
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Empty(t, s.Send(id, "second").Refusal)
	require.Equal(t, []string{"EVENT", "MESSAGE_QUEUED", "TIMER_CLEARED", "MESSAGE_TAKEN", "ACTION_EXECUTED", "RESULT_DELIVERED", "LIFECYCLE"}, s.Names()[:7])
	require.JSONEq(t, `[{"n":1},"second"]`, jsonOf(s, id))
	s.Check()
}

// Messages are taken in the order in which they were sent, one a call.
func TestMailboxIsFIFO(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", giving(`0`))
	for i := range 4 {
		s.Send(id, i)
	}
	require.Len(t, s.Row(id).Mailbox.Messages, 4)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, receiveTwice)})
	require.JSONEq(t, `[0,1]`, jsonOf(s, id))
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, receiveTwice)})
	require.JSONEq(t, `[2,3]`, jsonOf(s, id))
	require.Zero(t, s.Row(id).Mailbox.Bytes)
	s.Check()
}

// PE-2: receiving is judged like any other call.
func TestReceivingIsJudged(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Grants: allowAll[:0:0], Program: kerneltest.JSON(t, `{"kind":"RECEIVE"}`)}, nil)
	require.Equal(t, failure.PermissionDenied, codeOf(s, id))
	s.Send(id, 1)
	require.Len(t, s.Row(id).Mailbox.Messages, 1)
	s.Check()
}

// LC-12: a wait with a time of the program's own ends in an answer; without one
// the kernel's limit ends it, which is row 8.
func TestReceiveTimesOut(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.ReceiveMillis = 5000 })
	chosen := startFreely(s, "service", `{"kind":"RECEIVE","payload":{"timeout_ms":100,"handle":true}}`)
	kernels := startFreely(s, "service", `{"kind":"RECEIVE","payload":{"handle":true}}`)
	s.Pass(99)
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Waiting}, statesOf(s, chosen, kernels))
	s.Pass(1)
	require.Contains(t, jsonOf(s, chosen), `"code":"WAIT_TIMEOUT"`)
	require.Contains(t, jsonOf(s, chosen), "no message came within timeout_ms")
	s.Send(chosen, "late")
	require.Len(t, s.Row(chosen).Mailbox.Messages, 1, "for another time")
	s.Pass(4900)
	require.Equal(t, lifecycle.Faulted, s.StateOf(kernels))
	require.Equal(t, failure.WaitTimeout, codeOf(s, kernels))
	s.Send(kernels, "at last")
	s.Pass(1000)
	require.Contains(t, jsonOf(s, kernels), `"at last"`, "the retry finds it")
	s.Check()
}

// A wait that is over takes no message: one that was killed, forced, or timed
// out leaves it in the box.
func TestNoMessageIsLostToAnEndedWait(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", `{"kind":"RECEIVE","payload":{"handle":true}}`)
	require.Empty(t, force(s, id).Refusal)
	s.Send(id, "kept")
	require.Equal(t, []string{"EVENT", "MESSAGE_QUEUED", "OUTCOME"}, s.Names())
	require.Empty(t, s.Trigger(id, "resume").Refusal)
	require.Contains(t, jsonOf(s, id), `"WITHDRAWN"`)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	require.Contains(t, jsonOf(s, id), `"kept"`)
	s.Check()
}

// Who takes messages is decided by the state, and the mailbox is bounded in
// number and in bytes: a refusal changes nothing.
func TestMailboxIsBounded(t *testing.T) {
	for at := lifecycle.Defined; at < lifecycle.States; at++ {
		s := kerneltest.New(t, 1)
		outcome := s.Send(bring(s, at), 1)
		switch at {
		case lifecycle.Defined, lifecycle.Completing, lifecycle.Terminated:
			assert.Equal(t, failure.InvalidState, outcome.Refusal.Code, at.String())
		default:
			assert.Empty(t, outcome.Refusal, at.String())
		}
	}
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxMailbox, c.MaxMailboxBytes = 3, 20 })
	id := startFreely(s, "service", literal)
	require.Empty(t, s.Send(id, "12345678").Refusal)
	require.Empty(t, s.Send(id, "12345678").Refusal)
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.QueueFull, s.Send(id, "12345").Refusal.Code, "bytes")
	require.Equal(t, before, kerneltest.Substance(s.State()))
	require.Empty(t, s.Send(id, 1).Refusal)
	require.Equal(t, failure.QueueFull, s.Send(id, 1).Refusal.Code, "number")
	require.Equal(t, "message", s.Command(event.AgentSend, event.Send{Agent: id, Message: []byte{0xff}}).Refusal.Field)
	require.Equal(t, failure.NotFound, s.Send(kerneltest.AgentID(77), 1).Refusal.Code)
	s.Check()
}

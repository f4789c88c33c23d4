package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// permitted is the table of agent-lifecycle.md section 7, written a second time
// by hand: what each module is seen to do for an agent in each state. What a
// state is said to allow in part is told by the words of the part.
var permitted = [lifecycle.States]struct{ tick, memory, remove, gate, delegation string }{
	lifecycle.Defined:    {"denied", "denied", "denied", "denied", "denied"},
	lifecycle.Spawned:    {"denied", "denied", "denied", "denied", "denied"}, // memory: read only, and only from outside
	lifecycle.Active:     {"allowed", "allowed", "allowed", "allowed", "allowed"},
	lifecycle.Waiting:    {"denied", "denied", "denied", "denied", "denied"}, // memory: the checkpoint, which row 7 reads
	lifecycle.Resumable:  {"denied", "denied", "denied", "denied", "denied"}, // memory: the snapshot, which row 9 reads
	lifecycle.Completing: {"teardown", "flush", "refused", "refused", "refused"},
	lifecycle.Faulted:    {"denied", "denied", "denied", "denied", "denied"}, // delegation: revocation, see the commands
	lifecycle.Recovering: {"denied", "denied", "denied", "denied", "denied"}, // replay and restore: row 12 does both
	lifecycle.Terminated: {"denied", "denied", "denied", "denied", "denied"},
}

// LC-6: nine states by four modules, each asked to act for an agent that is
// there: what is not listed is denied, and leaves no record but the denial.
func TestPermitsOfEveryState(t *testing.T) {
	for at := lifecycle.Defined; at < lifecycle.States; at++ {
		for _, module := range []struct{ name, want, tool, args string }{
			{name: "TickEngine", want: permitted[at].tick},
			{"MemoryLayer", permitted[at].memory, "memory.write", `{"key":"k","value":1}`},
			{"MemoryLayer", permitted[at].remove, "memory.delete", `{"key":"k"}`},
			{"ToolGate", permitted[at].gate, "echo", `{}`},
			{"ToolGate", permitted[at].gate, "clock.now", `{}`},
			{"DelegationProtocol", permitted[at].delegation, "agent.delegate", `{"children":[{"program":` + literal + `}]}`},
		} {
			t.Run(fmt.Sprintf("%s/%s/%s", at, module.name, module.tool), func(t *testing.T) {
				s := kerneltest.New(t, 1)
				id := bring(s, at)
				if module.tool == "" {
					requireTick(s, id, at, module.want)
					return
				}
				requireRequest(s, id, at, module.tool, module.args, module.want)
			})
		}
	}
}

// requireTick lets a tick of the agent come up, whatever its state. A teardown
// is for agents that have one: TestTeardown shows it.
func requireTick(s *kerneltest.Sim, id string, at lifecycle.State, want string) {
	s.T.Helper()
	s.Commit(event.Event{Kind: event.Pulse}, kernel.Inject(bus.Record{
		Kind: bus.InstructionQueued, Agent: numberOf(s, id), Body: &execution.InstructionBody{Program: 1, Input: kerneltest.Value(s.T, nil)},
	}))
	s.Commit(event.Event{Kind: event.Pulse}, kernel.RunTick(numberOf(s, id)))
	if want == "allowed" {
		require.Equal(s.T, 1, s.Count(bus.TickStarted))
		return
	}
	require.Zero(s.T, s.Count(bus.TickStarted))
	failed := kerneltest.Find[*execution.FailedBody](s, bus.TickFailed)
	require.Equal(s.T, failure.InvalidState, failed.Failure.Code)
	require.Equal(s.T, failure.Unclassified, failed.Failure.Class())
	require.Equal(s.T, at, s.StateOf(id), "EX-5")
}

// requireRequest lets a tick of the agent end with one request, whatever the
// agent's state, and looks at what the gate makes of it.
func requireRequest(s *kerneltest.Sim, id string, at lifecycle.State, tool, args, want string) {
	s.T.Helper()
	no := numberOf(s, id)
	record := func(kind bus.Kind, body bus.Body) bus.Record {
		return bus.Record{Kind: kind, Agent: no, Tick: 9, Body: body}
	}
	records := []bus.Record{record(bus.GrantsAssigned, &permissions.Assigned{Grants: s.Row(id).Identity.Grants})}
	if s.Row(id).Execution.Current == nil {
		records = append(records, record(bus.InstructionQueued, &execution.InstructionBody{Program: 1, Input: kerneltest.Value(s.T, nil)}))
	}
	records = append(records,
		record(bus.TickStarted, &execution.StartedBody{Program: 1, Run: 1}),
		record(bus.TickPendingTool, &execution.PendingBody{Steps: 1, First: 9, Requests: []execution.Request{{Tool: tool, Args: kerneltest.JSON(s.T, args)}}}))
	s.Commit(event.Event{Kind: event.Pulse}, kernel.Judge(records...))
	done := s.Count(bus.MemoryAccess) + s.Count(bus.CallRequested) + s.Count(bus.ActionExecuted) + s.Count(bus.DelegationAccepted)
	switch want {
	case "allowed":
		require.Equal(s.T, 1, s.Count(bus.Allow))
		require.NotZero(s.T, done)
	case "flush":
		require.Equal(s.T, 1, s.Count(bus.Allow))
		require.Equal(s.T, 1, s.Count(bus.MemoryAccess))
		require.Equal(s.T, at, s.StateOf(id))
	case "refused":
		require.Zero(s.T, done)
		require.Zero(s.T, s.Count(bus.Allow))
		require.Equal(s.T, 1, s.Count(bus.ActionFailed))
		require.Equal(s.T, at, s.StateOf(id))
	default:
		require.Len(s.T, s.Last(), 1+len(records), "nothing follows")
		require.Equal(s.T, at, s.StateOf(id))
	}
}

package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

const (
	literal  = `{"kind":"LITERAL","payload":{"value":7}}`
	callEcho = `{"kind":"CALL","payload":{"tool":"echo","args":{"a":1}}}`
)

// bring makes an agent and leads it into a state by a history that ends there:
// events alone, but for the two states that are passed through within one
// event, where the history is stopped.
func bring(s *kerneltest.Sim, state lifecycle.State) string {
	id := s.NewID()
	program := kerneltest.JSON(s.T, callEcho)
	if state == lifecycle.Active || state == lifecycle.Resumable || state == lifecycle.Completing {
		program = kerneltest.JSON(s.T, literal)
	}
	s.Must(event.AgentDefine, event.Define{ID: id, Mode: "service", Grants: freely, Program: program})
	if state == lifecycle.Defined {
		return id
	}
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "spawn"})
	if state == lifecycle.Spawned {
		return id
	}
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "activate"})
	switch state {
	case lifecycle.Resumable:
		s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "suspend"})
	case lifecycle.Completing:
		stop(s, id, lifecycle.Active, lifecycle.Complete, lifecycle.Kernel)
	case lifecycle.Faulted, lifecycle.Recovering:
		s.Pass(40_000) // the call's time is over: row 8, TRANSIENT
		s.Pending = nil
		if state == lifecycle.Recovering {
			stop(s, id, lifecycle.Faulted, lifecycle.Recover, lifecycle.FailureHandler)
		}
	case lifecycle.Terminated:
		s.Must(event.AgentKill, event.Kill{Agent: id})
		s.Pending = nil
	}
	require.Equal(s.T, state, s.StateOf(id))
	return id
}

// stop takes one row and nothing that would follow from it.
func stop(s *kerneltest.Sim, id string, from lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller) {
	to, ok := lifecycle.Decide(from, trigger, caller)
	require.True(s.T, ok)
	s.Commit(event.Event{Kind: event.Pulse, Principal: "node:test"}, kernel.Inject(bus.Record{
		Kind: bus.Lifecycle, Agent: numberOf(s, id), Body: &lifecycle.Event{From: from, To: to, Trigger: trigger, Caller: caller},
	}))
}

func numberOf(s *kerneltest.Sim, id string) uint32 {
	uuid, ok := flows.ParseID(id)
	require.True(s.T, ok)
	no, _ := s.State().Find(uuid)
	return no
}

// cause commits a trigger on behalf of a caller: a client's by its event, any
// other's by the same flow within Apply.
func cause(s *kerneltest.Sim, id string, trigger lifecycle.Trigger, caller lifecycle.Caller) event.Outcome {
	e := event.Event{Kind: event.AgentTrigger, Body: event.Encode(event.Trigger{Agent: id, Trigger: trigger.String()})}
	if caller == lifecycle.Client {
		return s.Apply(e)
	}
	return s.Commit(e, kernel.TriggerAs(caller))
}

// LC-1, LC-2, LC-3: every row and every non-row, nine states by sixteen
// triggers by five callers, in a kernel that brought the agent there.
func TestTransitionMatrix(t *testing.T) {
	rows, others := 0, 0
	for from := lifecycle.Defined; from < lifecycle.States; from++ {
		for trigger := lifecycle.Spawn; trigger <= lifecycle.Triggers; trigger++ {
			for caller := lifecycle.Client; caller <= lifecycle.Callers; caller++ {
				to, isRow := lifecycle.Decide(from, trigger, caller)
				t.Run(fmt.Sprintf("%s/%s/%s", from, trigger, caller), func(t *testing.T) {
					s := kerneltest.New(t, 1)
					id := bring(s, from)
					switch {
					case isRow:
						requireRow(s, id, from, trigger, to, caller)
					case from == lifecycle.Waiting && trigger == lifecycle.Suspend && (caller == lifecycle.Client || caller == lifecycle.Parent):
						requireAskedFor(s, id, trigger, caller)
					default:
						requireRefused(s, id, from, trigger, caller)
					}
					s.CheckFold()
					s.CheckChain()
				})
				if isRow {
					rows++
				} else {
					others++
				}
			}
		}
	}
	require.Equal(t, 34, rows)
	require.Equal(t, 9*16*5, rows+others)
}

// requireRow: the row is taken, and it is the first transition of the event;
// what the kernel does after it in the same event is told elsewhere.
func requireRow(s *kerneltest.Sim, id string, from lifecycle.State, trigger lifecycle.Trigger, to lifecycle.State, caller lifecycle.Caller) {
	before := s.Row(id).Lifecycle.Count
	outcome := cause(s, id, trigger, caller)
	require.Empty(s.T, outcome.Refusal)
	taken := kerneltest.Find[*lifecycle.Event](s, bus.Lifecycle)
	require.Equal(s.T, [4]any{from, to, trigger, caller}, [4]any{taken.From, taken.To, taken.Trigger, taken.Caller})
	require.Greater(s.T, s.Row(id).Lifecycle.Count, before)
	require.Zero(s.T, s.Count(bus.InvalidTransition))
	if s.StateOf(id) == lifecycle.Terminated { // however it came there, nothing of it is left
		s.CheckCounts()
	}
}

// requireAskedFor: suspending a WAITING agent is no row; it is noted, and taken
// right after row 7 (LC-13).
func requireAskedFor(s *kerneltest.Sim, id string, trigger lifecycle.Trigger, caller lifecycle.Caller) {
	require.Empty(s.T, cause(s, id, trigger, caller).Refusal)
	require.Equal(s.T, []string{"EVENT", "SUSPEND_REQUESTED", "OUTCOME"}, s.Names())
	require.Equal(s.T, lifecycle.Waiting, s.StateOf(id))
	require.Equal(s.T, caller, s.Row(id).Lifecycle.Suspending)
	requireRefused(s, id, lifecycle.Waiting, trigger, caller) // once
}

// requireRefused: an outcome, a record with from, trigger and caller, and no
// change but of the position in the log (LC-2).
func requireRefused(s *kerneltest.Sim, id string, from lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller) {
	before := kerneltest.Substance(s.State())
	outcome := cause(s, id, trigger, caller)
	require.Equal(s.T, failure.InvalidTransition, outcome.Refusal.Code)
	require.Equal(s.T, "trigger", outcome.Refusal.Field)
	require.Equal(s.T, uint8(from), outcome.State)
	require.Equal(s.T, []string{"EVENT", "INVALID_TRANSITION", "OUTCOME"}, s.Names())
	require.Equal(s.T, &lifecycle.Rejection{From: from, Trigger: trigger, Caller: caller},
		kerneltest.Find[*lifecycle.Rejection](s, bus.InvalidTransition))
	require.Equal(s.T, before, kerneltest.Substance(s.State()), "a refusal changes nothing")
	require.Equal(s.T, from, s.StateOf(id))
}

// LC-4: kill from each state, in one event with no tick between: the specified
// rows, failure KILLED, PERMANENT; DEFINED and TERMINATED refuse it.
func TestKillFromEveryState(t *testing.T) {
	want := map[lifecycle.State][]string{
		lifecycle.Spawned:    {"activate", "error", "abandon"},
		lifecycle.Active:     {"error", "abandon"},
		lifecycle.Waiting:    {"error", "abandon"},
		lifecycle.Completing: {"error", "abandon"},
		lifecycle.Resumable:  {"expire"},
		lifecycle.Faulted:    {"abandon"},
		lifecycle.Recovering: {"recovery_exhausted"},
	}
	for from := lifecycle.Defined; from < lifecycle.States; from++ {
		t.Run(from.String(), func(t *testing.T) {
			s := kerneltest.New(t, 1)
			id := bring(s, from)
			if want[from] == nil {
				requireKillRefused(s, id, from)
				return
			}
			outcome := s.Command(event.AgentKill, event.Kill{Agent: id, Reason: "too loud"})
			require.Empty(t, outcome.Refusal)
			require.Equal(t, want[from], s.Path())
			require.Zero(t, s.Count(bus.TickStarted), "no tick between")
			require.Equal(t, lifecycle.Terminated, s.StateOf(id))
			require.Equal(t, uint8(lifecycle.Terminated), outcome.State)
			for _, r := range s.Last() {
				if e, ok := r.Content.(*lifecycle.Event); ok {
					require.Equal(t, failure.Killed, e.Code)
					require.Equal(t, failure.Permanent, e.Class)
					require.Equal(t, "too loud", e.Reason)
				}
			}
			result := s.Row(id).Execution.Result
			require.NotNil(t, result)
			require.Equal(t, failure.Killed, result.Code)
			s.CheckFold()
			s.CheckCounts()
			// Never again, and nothing is retried.
			requireKillRefused(s, id, lifecycle.Terminated)
			s.Pass(60_000)
			require.Empty(t, s.Path())
		})
	}
}

func requireKillRefused(s *kerneltest.Sim, id string, from lifecycle.State) {
	before := kerneltest.Substance(s.State())
	outcome := s.Kill(id)
	require.Equal(s.T, failure.InvalidTransition, outcome.Refusal.Code)
	require.Equal(s.T, &lifecycle.Rejection{From: from, Caller: lifecycle.Client},
		kerneltest.Find[*lifecycle.Rejection](s, bus.InvalidTransition))
	require.Equal(s.T, before, kerneltest.Substance(s.State()))
}

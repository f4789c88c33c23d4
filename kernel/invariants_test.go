package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// A parent that waits for its child, and the child that waits for a tool: the
// agents on whose account flawed flows decide something.
const (
	parentWaits = `{"kind":"DELEGATE","payload":{"children":[{"program":{"kind":"CALL","payload":{"tool":"echo"}},
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],"max_depth":1}]}}`
	parent, child = uint32(1), uint32(2)
)

func family(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 2)
	s.Start(event.Define{Name: "parent", Program: kerneltest.JSON(t, parentWaits), Grants: []permissions.Grant{
		{Effect: permissions.Allow, Action: "tool.*", Resource: "**"}, {Effect: permissions.Allow, Action: "agent.*", Resource: "**"},
	}}, nil)
	require.Equal(t, lifecycle.Waiting, s.State().StateOf(parent))
	require.Equal(t, lifecycle.Waiting, s.State().StateOf(child))
	return s
}

// FA-4, INV-01 … INV-19, SM-INV-01 … SM-INV-06: each row is a record that a
// flawed flow decides. It is not published; the agent on whose account it is
// ends at once, its children's tokens first, on the audit log.
func TestBreaches(t *testing.T) {
	dead := func(s *kerneltest.Sim) { s.Kill(kerneltest.IDOf(s.State().Agents.Get(child).Identity.ID)) }
	tick := func(kind bus.Kind, agent uint32, body bus.Body) bus.Record {
		return bus.Record{Kind: kind, Agent: agent, Tick: 1, Body: body}
	}
	move := func(agent uint32, from, to lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller) bus.Record {
		return bus.Record{Kind: bus.Lifecycle, Agent: agent, Body: &lifecycle.Event{From: from, To: to, Trigger: trigger, Caller: caller}}
	}
	token := func(agent, parent, grants, depth uint32) bus.Record {
		return bus.Record{Kind: bus.TokenIssued, Agent: agent, Body: &delegation.TokenIssued{Parent: parent, Grants: grants, Depth: depth}}
	}
	answer := func(call uint32) *execution.DeliveredBody {
		return &execution.DeliveredBody{Answer: execution.Answer{Call: call, OK: true, Value: value.Null}}
	}
	for name, test := range map[string]struct {
		invariant string
		before    func(s *kerneltest.Sim)
		records   []bus.Record
	}{
		"a transition from elsewhere": {"INV-01", nil, []bus.Record{move(child, lifecycle.Active, lifecycle.Completing, lifecycle.Complete, lifecycle.Kernel)}},
		"a tick while another runs":   {"INV-03", nil, []bus.Record{tick(bus.TickStarted, child, &execution.StartedBody{Program: 1, Run: 2})}},
		"a call that nobody judged":   {"INV-04", nil, []bus.Record{tick(bus.CallRequested, child, &tools.RequestedBody{Call: 2, Tool: "echo", Args: value.EmptyMap, Resource: "echo"})}},
		"memory that nobody judged":   {"INV-04", nil, []bus.Record{tick(bus.MemoryAccess, child, &memory.Access{Op: memory.OpRead, Scope: memory.ScopePersistent, Owner: child, Key: "k"})}},
		"memory of another key": {"INV-04", nil, []bus.Record{
			tick(bus.Allow, child, &permissions.Evaluation{Action: "memory.read", Resource: "self/j"}),
			tick(bus.MemoryAccess, child, &memory.Access{Op: memory.OpRead, Scope: memory.ScopePersistent, Owner: child, Key: "k"}),
		}},
		"memory read, judged; written": {"INV-04", nil, []bus.Record{
			tick(bus.Allow, child, &permissions.Evaluation{Action: "memory.read", Resource: "self/k"}),
			tick(bus.MemoryAccess, child, &memory.Access{Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: child, Key: "k", Value: value.Null}),
		}},
		"memory of the parent": {"INV-04", nil, []bus.Record{
			tick(bus.Allow, child, &permissions.Evaluation{Action: "memory.read", Resource: "self/k"}),
			tick(bus.MemoryAccess, child, &memory.Access{Op: memory.OpRead, Scope: memory.ScopePersistent, Owner: parent, Key: "k"}),
		}},
		"children that nobody judged":     {"INV-04", nil, []bus.Record{tick(bus.DelegationAccepted, child, &delegation.DelegationAccepted{Call: 2, First: 3, Count: 1})}},
		"a token as deep as its parent's": {"INV-06", newAgent, []bus.Record{token(3, parent, 0, 8)}},
		"a token that widens":             {"INV-06", grantedAgent, []bus.Record{token(4, 3, 2, 0)}},
		"a second token":                  {"INV-08", nil, []bus.Record{token(child, parent, 0, 0)}},
		"its own parent":                  {"INV-08", newAgent, []bus.Record{token(3, 3, 0, 0)}},
		"a dead agent's tick":             {"INV-09", dead, []bus.Record{tick(bus.TickStarted, child, &execution.StartedBody{Program: 1, Run: 2})}},
		"a dead agent's dispatch":         {"INV-09", dead, []bus.Record{tick(bus.CallDispatched, child, &tools.DispatchedBody{Call: 1})}},
		"a message that is no value":      {"INV-11", nil, []bus.Record{tick(bus.MessageQueued, child, &mailbox.Message{Value: value.Raw{0xff}})}},
		"a step too many":                 {"INV-12", nil, []bus.Record{{Kind: bus.Step, Agent: child, Tick: 1, Step: 10_001, Body: execution.StepBody{}}}},
		"a spawn without a token":         {"INV-13", newAgent, []bus.Record{move(3, lifecycle.Defined, lifecycle.Spawned, lifecycle.Spawn, lifecycle.Kernel)}},
		"a child of a revoked parent":     {"INV-13", revokedParent, []bus.Record{token(3, parent, 0, 0)}},
		"an answer without its record":    {"INV-14", nil, []bus.Record{tick(bus.ResultDelivered, child, answer(1))}},
		"an answer nobody waits for": {"INV-19", nil, []bus.Record{
			tick(bus.ActionFailed, child, &tools.ActionBody{Call: 7, Tool: "echo", Code: failure.ToolFailed}), tick(bus.ResultDelivered, child, answer(7)),
		}},
		"a transition that is no row": {"SM-INV-01", nil, []bus.Record{move(child, lifecycle.Waiting, lifecycle.Completing, lifecycle.Complete, lifecycle.Kernel)}},
		"life after death":            {"SM-INV-03", dead, []bus.Record{move(child, lifecycle.Terminated, lifecycle.Active, lifecycle.Resume, lifecycle.Kernel)}},
		"a breach before its tokens":  {"SM-INV-06", nil, []bus.Record{move(parent, lifecycle.Waiting, lifecycle.Terminated, lifecycle.Breach, lifecycle.Kernel)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := family(t)
			if test.before != nil {
				test.before(s)
			}
			agent := test.records[len(test.records)-1].Agent
			was := s.State().StateOf(agent)
			s.Flaws = len(test.records) - 1 // what leads up to the breach is on record, and an audit does not take it
			s.Commit(event.Event{Kind: event.Pulse}, kernel.Flawed(test.records...))

			st := s.State()
			require.Equal(t, lifecycle.Terminated, st.StateOf(agent))
			var entries []audit.Entry
			st.Audit.All(func(e *audit.Entry) bool {
				entries = append(entries, *e)
				return true
			})
			require.Len(t, entries, 1)
			require.Equal(t, test.invariant, entries[0].Invariant)
			require.Equal(t, agent, entries[0].Agent)
			require.EqualValues(t, test.records[len(test.records)-1].Kind, entries[0].Kind)
			checkBreach(t, s, agent, was, test.records[len(test.records)-1])
			s.Settle()
			s.Check()
		})
	}
}

// checkBreach: the record was not published, FAULTED was not passed through
// (SM-INV-06), and whatever the agent had delegated is void.
func checkBreach(t *testing.T, s *kerneltest.Sim, agent uint32, was lifecycle.State, flawed bus.Record) {
	t.Helper()
	var kinds []bus.Kind
	for _, r := range s.Last() {
		if r.Agent != agent {
			continue
		}
		kinds = append(kinds, bus.Kind(r.Kind))
		require.False(t, bus.Kind(r.Kind) == flawed.Kind && r.Tick == flawed.Tick && r.Step == flawed.Step && r.Content == flawed.Body)
		if e, ok := r.Content.(*lifecycle.Event); ok {
			require.Equal(t, lifecycle.Breach, e.Trigger)
			require.Equal(t, was, e.From)
		}
	}
	require.Contains(t, kinds, bus.Audit)
	if agent == parent {
		require.Equal(t, bus.ChildrenRevoked, kinds[0], "the children's tokens first")
		require.Equal(t, lifecycle.Terminated, s.State().StateOf(child))
	}
}

var onlySleep = []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "timer.sleep"}}

// newAgent defines agent 3, without grants.
func newAgent(s *kerneltest.Sim) { s.Must(event.AgentDefine, event.Define{ID: s.NewID()}) }

// grantedAgent starts agent 3, which may do nothing, and defines agent 4.
func grantedAgent(s *kerneltest.Sim) {
	s.Start(event.Define{Mode: "service", Grants: onlySleep, Program: kerneltest.JSON(s.T, `{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":1000}}}`)}, nil)
	newAgent(s)
}

// revokedParent takes the parent's token and defines agent 3.
func revokedParent(s *kerneltest.Sim) {
	s.Must(event.TokenRevoke, event.RevokeToken{Agent: kerneltest.IDOf(s.State().Agents.Get(parent).Identity.ID)})
	newAgent(s)
}

// FA-4: damage that an applier does cannot be pinned on an agent: the node stops.
func TestDamageStopsTheNode(t *testing.T) {
	for invariant, test := range map[string]struct {
		kind bus.Kind
		also func(s *state.State, r bus.Record)
	}{
		"SM-INV-01": {bus.TickCompleted, func(s *state.State, r bus.Record) {
			s.Agents.Edit(r.Agent).Lifecycle.Apply(bus.At{}, &lifecycle.Event{From: lifecycle.Active, To: lifecycle.Terminated})
		}},
		"SM-INV-04": {bus.Lifecycle, func(s *state.State, r bus.Record) { s.Agents.Edit(r.Agent).Lifecycle.Count-- }},
		"INV-16":    {bus.Lifecycle, func(s *state.State, _ bus.Record) { s.Log.NextSeq++ }},
		"INV-05": {bus.TickFailed, func(s *state.State, r bus.Record) {
			s.Agents.Edit(r.Agent).Execution.Current = &execution.Tick{Seq: r.Tick, Phase: execution.Failed, Checkpoint: []byte{1}}
		}},
	} {
		t.Run(invariant, func(t *testing.T) {
			s := kerneltest.New(t, 1)
			kernel.WithApplier(test.kind, test.also, func() {
				defer func() { require.Contains(t, recover(), invariant) }()
				s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
				s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"FAIL","payload":{"message":"m"}}`)}, nil)
			})
		})
	}
}

// INV-21: nobody applies an event while one is applied.
func TestApplyWithinApply(t *testing.T) {
	s := kerneltest.New(t, 1)
	kernel.WithApplier(bus.AgentDefined, func(*state.State, bus.Record) {
		s.Replicas[0].Apply(99, 1, &event.Event{Kind: event.Pulse})
	}, func() {
		require.PanicsWithValue(t, "kernel: INV-21: Apply within Apply: one goroutine applies one event at a time", func() {
			s.Command(event.AgentDefine, event.Define{})
		})
	})
}

// moody is std/1 whose ticks differ each time that they are evaluated.
type moody struct {
	evaluator.Evaluator
	mood *int64
}

type moodyProgram struct {
	evaluator.Program
	mood *int64
}

func (m moody) Compile(program value.Raw) (evaluator.Program, *failure.Refusal) {
	p, refusal := m.Evaluator.Compile(program)
	return moodyProgram{p, m.mood}, refusal
}

func (m moodyProgram) Start(ctx evaluator.Context) evaluator.Tick {
	*m.mood++
	ctx.Input = value.AppendInt(nil, *m.mood)
	return m.Program.Start(ctx)
}

// INV-15, INV-20: a tick that does not depend on its inputs alone is caught by
// the sample that is evaluated twice.
func TestTicksAreSampled(t *testing.T) {
	var mood int64
	s := kerneltest.NewWith(t, 1, func(name string) (evaluator.Evaluator, bool) {
		e, ok := registry.Lookup(name)
		return moody{e, &mood}, ok
	})
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"RETURN","payload":{"value":"${input}"}}`)}, nil)
	for range 1000 {
		if s.State().StateOf(1) == lifecycle.Terminated {
			break
		}
		s.Must(event.AgentSubmit, event.Submit{Agent: id})
	}
	require.Equal(t, lifecycle.Terminated, s.State().StateOf(1))
	s.State().Audit.All(func(e *audit.Entry) bool {
		require.Equal(t, "INV-20", e.Invariant)
		return true
	})
	require.EqualValues(t, 1, s.State().Audit.Count)
}

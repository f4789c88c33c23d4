package recordjson

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// samples has one body of every kind there is.
func samples() map[bus.Kind]bus.Body {
	call := &tools.ActionBody{Call: 1, Tool: "echo", Code: failure.ToolFailed, Message: "no", Millis: 3}
	evaluated := &permissions.Evaluation{Action: "tool.call", Resource: "echo", Grants: 9, Grant: permissions.DefaultDeny}
	c := config.Default()
	booted, _ := kernel.DecodeRecordBody(bus.KernelBooted, event.Encode(&c))
	return map[bus.Kind]bus.Body{
		bus.Event:        &event.Recorded{Event: &event.Event{Kind: event.Pulse, Principal: "node:n1", IdempotencyKey: "k"}},
		bus.Outcome:      &event.Outcome{Refusal: failure.Refusal{Code: failure.NotFound, Field: "agent"}, Agent: [16]byte{1}, Index: 1, Seq: 2},
		bus.Duplicate:    &event.Again{Index: 7},
		bus.KernelBooted: booted,
		bus.Quarantine:   execution.Empty{},
		bus.Interned: &interning.Gained{Entries: []interning.GainedEntry{
			{No: 1, Class: interning.Labels, New: true, Body: event.Encode(map[string]string{"team": "red"})},
			{No: 2, Class: interning.Env},
		}},
		bus.Released:          &interning.Lost{Numbers: []uint32{4}},
		bus.AgentDefined:      &identity.Defined{ID: identity.ID{1}, Name: "a", Evaluator: "std/1", Mode: identity.Service, Program: 1},
		bus.Lifecycle:         &lifecycle.Event{From: lifecycle.Active, To: lifecycle.Faulted, Trigger: lifecycle.Error, Caller: lifecycle.Kernel, Code: failure.EvalFailure, Class: failure.Permanent, Reason: "x"},
		bus.InvalidTransition: &lifecycle.Rejection{From: lifecycle.Defined, Caller: lifecycle.Client},
		bus.AgentArchived:     execution.Empty{},
		bus.InstructionQueued: &execution.InstructionBody{Program: 1, Input: value.Null},
		bus.TickScheduled:     &execution.PlaceBody{Place: 5},
		bus.TickFrozen:        &execution.PlaceBody{Place: 5},
		bus.TickStarted:       &execution.StartedBody{Program: 1, Run: 1, BusSeqAt: 3},
		bus.Step:              execution.StepBody{Node: 0},
		bus.TickCompleted:     &execution.CompletedBody{Steps: 1, Value: value.True},
		bus.TickPendingTool:   &execution.PendingBody{Steps: 1, Call: 1, Tool: "echo", Args: value.EmptyMap, Timeout: 5, Checkpoint: []byte{1}},
		bus.TickFailed:        &execution.FailedBody{Steps: 1, Failure: failure.Failure{Code: failure.EvalFailure, Message: "m", Node: 1, Line: 2, Column: 3}},
		bus.TickOverflow:      &execution.OverflowBody{Steps: 10_000},
		bus.ResultDelivered:   &execution.DeliveredBody{Answer: execution.Answer{Call: 1, Code: failure.ToolFailed, Message: "no"}},
		bus.TickRestored:      execution.Empty{},
		bus.QueueReleased:     execution.Empty{},
		bus.QueueAllocated:    execution.Empty{},
		bus.GrantsAssigned:    &permissions.Assigned{Grants: 3},
		bus.Allow:             evaluated,
		bus.Deny:              evaluated,
		bus.CallRequested:     &tools.RequestedBody{Call: 1, Tool: "echo", Args: value.Null, Resource: "echo", Deadline: 5, Timer: 1},
		bus.CallDispatched:    &tools.DispatchedBody{Call: 1, Node: "n1", Term: 2},
		bus.ActionExecuted:    call,
		bus.ActionFailed:      call,
		bus.StaleResult:       &tools.StaleBody{Call: 1, OK: true},
		bus.TimerSet:          &timers.Set{Timer: timers.Timer{Deadline: 5, ID: 1, Purpose: timers.SleepOver, Agent: 1, Tick: 1, Call: 1}},
		bus.TimerCleared:      &timers.Cleared{Deadline: 5, ID: 1, Fired: true},
	}
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Every kind of record is rendered with names of the API's style. Whoever adds
// a kind adds a sample here and a rendering in bodies.go.
func TestEveryKindIsRendered(t *testing.T) {
	all := samples()
	for kind := range bus.Kind(bus.Last + 1) {
		name := kernel.KindName(kind)
		if name == kernel.KindName(0) {
			continue
		}
		body, ok := all[kind]
		if !assert.True(t, ok, "%s has no sample", name) {
			continue
		}
		r := renderOne(t, kind, body)
		assert.Equal(t, name, r.Kind)
		var rendered map[string]any
		require.NoError(t, json.Unmarshal(r.Body, &rendered), "%s: %s", name, r.Body)
		for key := range rendered {
			assert.Regexp(t, snakeCase, key, "%s: %s", name, r.Body)
		}
		if _, empty := body.(execution.Empty); !empty {
			assert.NotEmpty(t, rendered, name)
		}
	}
}

// renderOne renders a block of one record.
func renderOne(t *testing.T, kind bus.Kind, body bus.Body) *api.Record {
	t.Helper()
	var b logging.Builder
	b.Begin(1, 1, 1, 1000)
	b.Open(logging.Header{Kind: uint16(kind)})
	b.Buf = body.AppendTo(b.Buf)
	b.Close()
	raw, _ := b.Seal([32]byte{})
	block, err := logging.Decode(raw)
	require.NoError(t, err)
	var got *api.Record
	require.NoError(t, New(noHistory{}).Block(state.New("default"), &block, new(Select), func(r *api.Record) bool {
		got = r
		return true
	}))
	require.NotNil(t, got)
	return got
}

type noHistory struct{}

func (noHistory) AgentBlocks(uint32, uint64, segment.Visit) error { return nil }

// Every kind of event shows its body, and no secret of the cluster: the seed
// has no name in JSON.
func TestEveryEventIsRendered(t *testing.T) {
	c := config.Default()
	c.Seed = [16]byte{1, 2, 3}
	for kind, body := range map[event.Kind]any{
		event.KernelBooted: &c, event.LeaderStarted: &event.Leader{Node: "n1", Term: 2},
		event.Checkpoint:  &event.Compare{Index: 4, Values: []event.Voter{{Node: "n1"}}},
		event.AgentDefine: &event.Define{Name: "a"}, event.AgentStart: &event.Start{Reason: "r"},
		event.AgentTrigger: &event.Trigger{Trigger: "spawn"}, event.AgentKill: &event.Kill{Agent: "a"}, event.AgentSubmit: &event.Submit{Agent: "a"},
		event.ToolDispatched: &event.Dispatched{Call: 1}, event.ToolResult: &event.Result{Call: 1, OK: true, Value: value.True},
	} {
		e := &event.Event{Kind: kind, Principal: "client", Session: event.Session{ID: [16]byte{9}, Seq: 3, Floor: 2}, Body: event.Encode(body)}
		var got struct {
			Event    string         `json:"event"`
			Session  string         `json:"session"`
			Sequence uint64         `json:"sequence"`
			Floor    uint64         `json:"floor"`
			Body     map[string]any `json:"body"`
		}
		require.NoError(t, json.Unmarshal(renderOne(t, bus.Event, &event.Recorded{Event: e}).Body, &got))
		assert.Equal(t, kind.String(), got.Event)
		assert.Len(t, got.Session, 32)
		assert.Equal(t, uint64(3), got.Sequence)
		assert.Equal(t, uint64(2), got.Floor)
		assert.NotEmpty(t, got.Body, kind.String())
		assert.NotContains(t, got.Body, "seed")
		for key := range got.Body {
			assert.Regexp(t, snakeCase, key)
		}
	}
}

// The kinds that the renderer gives to instructions are those that the
// evaluator numbers so.
func TestInstructionKindsAreTheEvaluators(t *testing.T) {
	src := `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","do":{"kind":"LITERAL","payload":{"value":[1,2]}}}},
		{"kind":"LET","payload":{"name":"steps","value":[{"kind":"FAIL"}]}},
		{"kind":"BRANCH","payload":{"if":"${len(a) == 2}",
			"then":{"kind":"MAP","payload":{"over":"${a}","as":"x","do":{"kind":"SEQ","payload":{"steps":[
				{"kind":"LITERAL","payload":{"value":"${x}"}},
				{"kind":"BRANCH","payload":{"if":false,"then":{"kind":"FAIL","payload":{"message":"no"}},"else":{"kind":"LITERAL","payload":{"value":1}}}}]}}}},
			"else":{"kind":"FAIL","payload":{"message":"no"}}}},
		{"kind":"RETURN","payload":{"do":{"kind":"LITERAL","payload":{"value":{"kind":"CALL"}}}}}]}}`
	raw, problem := value.FromJSON([]byte(src), 1<<16)
	require.Nil(t, problem)
	std, _ := evaluator.Lookup("std/1")
	program, refusal := std.Compile(raw)
	require.Nil(t, refusal, "%+v", refusal)
	kinds := instructionKinds(nil, raw, 0)
	assert.Len(t, kinds, 14)

	seen := map[uint32]bool{}
	tick := program.Start(evaluator.Context{})
	for range 100 {
		at := tick.At()
		require.Less(t, int(at.Node), len(kinds))
		assert.Equal(t, at.Kind, kinds[at.Node], "instruction %d", at.Node)
		seen[at.Node] = true
		if result := tick.Step(); result.Kind != evaluator.NextInstruction {
			require.Equal(t, evaluator.PureValue, result.Kind, "%+v", result.Failure)
			break
		}
	}
	assert.Greater(t, len(seen), 10, "the program runs through most of itself")
}

// A program that is nested without end, which no evaluator would have taken,
// does not end the renderer.
func TestInstructionKindsAreBounded(t *testing.T) {
	nested := value.EmptyMap
	for range 60 {
		inner := value.AppendMapHeader(nil, 2)
		inner = value.AppendString(inner, "kind")
		inner = value.AppendString(inner, "RETURN")
		inner = value.AppendString(inner, "payload")
		inner = value.AppendMapHeader(inner, 1)
		inner = value.AppendString(inner, "do")
		nested = append(inner, nested...)
	}
	assert.Len(t, instructionKinds(nil, nested, 0), 60)
	assert.Empty(t, instructionKinds(nil, value.Null, 0))
}

func TestSpansAreDeterministic(t *testing.T) {
	a, b := identity.ID{1}, identity.ID{2}
	ids := map[string]bool{}
	for _, id := range []string{span(a, 0, 0), span(a, 1, 0), span(a, 1, 1), span(a, 1, 2), span(a, 2, 1), span(b, 1, 1)} {
		assert.Regexp(t, `^[0-9a-f]{16}$`, id)
		ids[id] = true
	}
	assert.Len(t, ids, 6)
	assert.Equal(t, "4fa55c91ccc952e3", span(identity.ID{0x01, 0x8f, 0x4e, 0x5c, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x0a}, 1, 1), "part of the API")
}

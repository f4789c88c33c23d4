package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
)

const sleep100 = `{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":100}}}`

// EV-1: events come in index order; gaps are Raft's own entries.
func TestEventsComeInOrder(t *testing.T) {
	k := kernel.New("default", registry.Lookup)
	boot := &event.Event{Kind: event.KernelBooted, Wall: 1, Body: event.Encode(kerneltest.Config())}
	pulse := &event.Event{Kind: event.Pulse, Wall: 2}
	k.Apply(3, 1, boot)
	assert.PanicsWithValue(t, "kernel: event at index 3 after index 3", func() { k.Apply(3, 1, pulse) })
	assert.Panics(t, func() { k.Apply(2, 1, pulse) })
	k.Apply(7, 2, pulse)
	published := k.Publish()
	assert.EqualValues(t, 7, published.Index)
	assert.EqualValues(t, 2, published.Term)
}

// EV-1: a published state never changes again.
func TestPublishedStateIsImmutable(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, callEcho)}, nil)
	other := s.Start(event.Define{Program: kerneltest.JSON(t, sleep100), Labels: map[string]string{"a": "b"}}, nil)
	s.Apply(kerneltest.InSession(kerneltest.SessionAt(kerneltest.Start, 1), 1, 1, event.AgentSubmit, event.Submit{Agent: id}))
	before := s.State()
	digest := kernel.Digest(before)
	s.Answer(true, 1)
	s.Pass(200)
	s.Kill(id)
	s.Kill(other)
	s.Apply(kerneltest.InSession(kerneltest.SessionAt(kerneltest.Start, 1), 2, 1, event.AgentSubmit, event.Submit{Agent: id}))
	s.Pass(25 * 3_600_000)
	assert.Equal(t, digest, kernel.Digest(before))
	assert.NotEqual(t, digest, kernel.Digest(s.State()))
}

// EV-2: what cannot be applied stops the node, with a message that names
// index, kind and the version of the kernel.
func TestUnknownEventsStopTheNode(t *testing.T) {
	const undecodable = "its body does not decode"
	for name, test := range map[string]struct {
		event event.Event
		why   string
	}{
		"unknown kind, low": {event.Event{Kind: 22}, "no flow takes it"},
		"unknown kind":      {event.Event{Kind: 999}, "no flow takes it"},
		"undecodable body":  {event.Event{Kind: event.AgentKill, Body: []byte{0xff}}, undecodable},
		"no body":           {event.Event{Kind: event.ToolResult}, undecodable},
		"unknown field":     {event.Event{Kind: event.AgentKill, Body: []byte{0xa1, 0x18, 0x63, 0x61, 'x'}}, undecodable},
		"duplicate key":     {event.Event{Kind: event.AgentKill, Body: []byte{0xa2, 0x01, 0x61, 'x', 0x01, 0x61, 'y'}}, undecodable},
		"bytes after it":    {event.Event{Kind: event.AgentKill, Body: []byte{0xa0, 0x00}}, undecodable},
	} {
		s := kerneltest.New(t, 1)
		want := fmt.Sprintf("kernel: event kind %d at index 2 cannot be applied by version %d: %s", test.event.Kind, kernel.Version, test.why)
		assert.PanicsWithValue(t, want, func() { s.Replicas[0].Apply(2, 1, &test.event) }, name)
		assert.False(t, kernel.Readable(&test.event), "%s: its proposer can know", name)
	}
}

// EV-2: a text that is no UTF-8 can be encoded and not read: the proposer asks
// before it is committed. Whatever a kernel took in was readable.
func TestReadable(t *testing.T) {
	message := event.Event{Kind: event.ToolResult, Body: event.Encode(event.Result{Message: "\xff"})}
	require.False(t, kernel.Readable(&message))
	long := event.Event{Kind: event.AgentDefine, Body: event.Encode(event.Define{Grants: make([]permissions.Grant, 5000)})}
	require.False(t, kernel.Readable(&long))
	h := kerneltest.NewHistory(t, 1, 50, kerneltest.NewSeeded(9))
	h.Run(600)
	kinds := make(map[event.Kind]bool)
	for i := range h.Log {
		require.True(t, kernel.Readable(&h.Log[i].Event))
		kinds[h.Log[i].Event.Kind] = true
	}
	require.Len(t, kinds, 32, "every kind of event")
}

// EV-3: records are numbered densely from 1 through the whole log; the first
// of each block is the event itself; each names an earlier cause in its block.
func TestRecordsAreNumberedDensely(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, echoTwice)}, map[string]any{"n": 1})
	s.Pass(7)
	s.Answer(true, map[string]any{"n": 1})
	next := uint64(1)
	for i, raw := range s.Blocks {
		block, err := logging.Decode(raw)
		require.NoError(t, err)
		require.Equal(t, next, block.FirstSeq)
		require.EqualValues(t, i+1, block.Index)
		records := s.Records(i + 1)
		first, ok := records[0].Content.(*event.Recorded)
		require.True(t, ok, "the event comes first")
		require.Equal(t, s.Log[i].Event.Body, first.Event.Body)
		require.Equal(t, s.Log[i].Event.Kind, first.Event.Kind)
		for place, r := range records {
			require.Equal(t, next, r.Seq)
			require.LessOrEqual(t, int(r.Cause), max(place-1, 0))
			next++
		}
	}
	require.Equal(t, next, s.State().Log.NextSeq)
}

// EV-4, EV-5: a flow's records come together, in its order, and only then the
// reactions, first in first out; each is caused by the record that woke it.
func TestReactionsFollowTheWholeFlow(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	require.Equal(t, []string{
		"EVENT",
		"INTERNED", "AGENT_DEFINED", "TOKEN_ISSUED", "LIFECYCLE", "QUEUE_ALLOCATED", "GRANTS_ASSIGNED", "INSTRUCTION_QUEUED", "LIFECYCLE",
		"TICK_SCHEDULED", // the first reaction that finds the agent ACTIVE
		"OUTCOME",
		"TICK_STARTED", "STEP", "TICK_PENDING_TOOL",
		"ALLOW", "LIFECYCLE", "CALL_REQUESTED", "TIMER_SET", // the gate
	}, s.Names())
	cause := func(place int) string { return s.Last()[s.Last()[place].Cause].Name }
	require.Equal(t, "EVENT", cause(8))
	require.Equal(t, "LIFECYCLE", cause(9))
	for place := 14; place <= 17; place++ {
		require.Equal(t, "TICK_PENDING_TOOL", cause(place))
	}
}

// EV-4: a refusal publishes nothing but itself.
func TestRefusalsChangeNothing(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, callEcho)}, nil)
	before := kerneltest.Substance(s.State())
	for _, refused := range []struct {
		kind event.Kind
		body any
		code failure.Code
	}{
		{event.AgentDefine, event.Define{ID: id}, failure.AlreadyExists},
		{event.AgentDefine, event.Define{ID: "x"}, failure.InvalidArgument},
		{event.AgentDefine, event.Define{Mode: "job"}, failure.InvalidArgument},
		{event.AgentDefine, event.Define{Program: kerneltest.JSON(t, `{"kind":"JUMP"}`)}, failure.InvalidProgram},
		{event.AgentStart, event.Start{}, failure.NoInstruction},
		{event.AgentStart, event.Start{Define: event.Define{ID: id}}, failure.AlreadyExists},
		{event.AgentTrigger, event.Trigger{Agent: id, Trigger: "jump"}, failure.InvalidArgument},
		{event.AgentTrigger, event.Trigger{Agent: "x", Trigger: "spawn"}, failure.InvalidArgument},
		{event.AgentKill, event.Kill{Agent: kerneltest.AgentID(99)}, failure.NotFound},
		{event.AgentKill, event.Kill{Agent: id, Reason: "a\nb"}, failure.InvalidArgument},
		{event.AgentSubmit, event.Submit{Agent: kerneltest.AgentID(99)}, failure.NotFound},
		{event.AgentSubmit, event.Submit{Agent: id, Input: []byte{0xff}}, failure.InvalidValue},
		{event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, `1`)}, failure.InvalidProgram},
	} {
		outcome := s.Command(refused.kind, refused.body)
		assert.Equal(t, refused.code, outcome.Refusal.Code, "%+v", refused.body)
		assert.NotEmpty(t, outcome.Refusal.Rule)
		assert.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
		assert.Equal(t, before, kerneltest.Substance(s.State()), "%+v", refused.body)
	}
}

// EV-6: kernel time never goes back.
func TestClockNeverGoesBack(t *testing.T) {
	s := kerneltest.New(t, 1)
	for _, step := range []struct{ wall, clock int64 }{
		{kerneltest.Start + 10, kerneltest.Start + 10},
		{kerneltest.Start - 5, kerneltest.Start + 10},
		{kerneltest.Start + 10, kerneltest.Start + 10},
		{-1, kerneltest.Start + 10},
		{kerneltest.Start + 11, kerneltest.Start + 11},
	} {
		s.Apply(event.Event{Kind: event.Pulse, Wall: step.wall})
		require.Equal(t, step.clock, s.State().Clock)
		block, err := logging.Decode(s.Blocks[len(s.Blocks)-1])
		require.NoError(t, err)
		require.Equal(t, step.clock, block.ClockMillis)
	}
}

// EV-6: record the event, fire what is due in (deadline, id) order, decide,
// drain; a timer fires before the event that comes at its deadline is decided.
func TestOrderWithinAnEvent(t *testing.T) {
	s := kerneltest.New(t, 1)
	sleeper := func(ms string) string {
		return s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
			{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":`+ms+`}}},{"kind":"LITERAL","payload":{"value":1}}]}}`)}, nil)
	}
	late, early, tied := sleeper("100"), sleeper("50"), sleeper("100")
	s.Wall += 100
	s.Kill(tied)
	var told []string
	name := map[uint32]string{numberOf(s, late): "late", numberOf(s, early): "early", numberOf(s, tied): "tied"}
	for _, r := range s.Last() {
		switch b := r.Content.(type) {
		case *timers.Cleared:
			told = append(told, "timer "+name[r.Agent])
		case *lifecycle.Event:
			if b.Trigger == lifecycle.Abandon {
				told = append(told, "killed "+name[r.Agent])
			}
		case *event.Outcome:
			told = append(told, "answered")
		case *execution.StartedBody:
			told = append(told, "tick "+name[r.Agent])
		}
	}
	require.Equal(t, []string{
		"timer early", "timer late", "timer tied", // by deadline, then by id
		"killed tied", // it was ACTIVE again, its tick queued
		"answered",
		"tick early", "tick late",
	}, told)
}

// EV-6: a timer that is made while timers fire waits for the next event, even
// if it is due at once.
func TestTimersMadeMeanwhileWait(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"MAP","payload":{"over":[1,2,3],"as":"i",
		"do":{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":0}}}}}`)}, nil)
	for range 3 {
		require.Equal(t, lifecycle.Waiting, s.StateOf(id))
		s.Pulse()
		require.Equal(t, 1, s.Count(bus.TimerCleared), "one at a time")
	}
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
}

// EV-7: a Pulse is nothing but time.
func TestPulseIsOnlyTime(t *testing.T) {
	s := kerneltest.New(t, 1)
	before := kerneltest.Substance(s.State())
	s.Pass(1_000)
	require.Equal(t, []string{"EVENT"}, s.Names())
	require.Equal(t, before, kerneltest.Substance(s.State()))
	s.Node(event.LeaderStarted, event.Leader{Node: "n1", Term: 1})
	require.Equal(t, []string{"EVENT"}, s.Names())
	s.Node(event.Checkpoint, event.Compare{Index: 2, Values: []event.Voter{{Node: "n1"}}})
	require.Equal(t, []string{"EVENT", "TREE_HEAD"}, s.Names())
	require.Equal(t, before, kerneltest.Substance(s.State()))
}

// EV-8: the first event fixes the limits; before it nothing is done, and a
// second one is refused.
func TestBoot(t *testing.T) {
	s := kerneltest.Unbooted(t, 1, registry.Lookup)
	for _, early := range []event.Event{
		{Kind: event.AgentDefine, Body: event.Encode(event.Define{})},
		kerneltest.InSession(kerneltest.SessionAt(kerneltest.Start, 1), 1, 1, event.AgentDefine, event.Define{}),
		{Kind: event.AgentDefine, IdempotencyKey: "k", Body: event.Encode(event.Define{})},
		{Kind: event.Pulse}, {Kind: event.ToolResult, Body: event.Encode(event.Result{})},
	} {
		outcome := s.Apply(early)
		require.Equal(t, failure.NotBooted, outcome.Refusal.Code)
		require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
		require.Zero(t, s.State().Sessions.Len(), "nothing is remembered without limits")
	}
	bad := kerneltest.Config(func(c *config.Config) { c.MaxAgents = 0 })
	outcome := s.Node(event.KernelBooted, bad)
	require.Equal(t, failure.InvalidArgument, outcome.Refusal.Code)
	require.Equal(t, "config.max_agents", outcome.Refusal.Field)
	require.Nil(t, s.State().Config)

	s.Node(event.KernelBooted, kerneltest.Config(func(c *config.Config) { c.MaxAgents = 3 }))
	require.Equal(t, []string{"EVENT", "KERNEL_BOOTED"}, s.Names())
	require.EqualValues(t, 3, s.State().Config.MaxAgents)

	outcome = s.Node(event.KernelBooted, kerneltest.Config())
	require.Equal(t, failure.AlreadyBooted, outcome.Refusal.Code)
	require.EqualValues(t, 3, s.State().Config.MaxAgents, "for ever (INV-12)")
	s.CheckFold()
	s.CheckReplay(1)
}

// EV-9: a configuration of another kernel version is refused.
func TestOtherVersionsAreRefused(t *testing.T) {
	s := kerneltest.Unbooted(t, 1, registry.Lookup)
	outcome := s.Node(event.KernelBooted, kerneltest.Config(func(c *config.Config) { c.Version = kernel.Version + 1 }))
	require.Equal(t, failure.InvalidArgument, outcome.Refusal.Code)
	require.Equal(t, "config.version", outcome.Refusal.Field)
}

// EV-14: a quarantined event is recorded and refused, and nothing else of it
// happens: no timer fires, no tick runs.
func TestQuarantine(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, sleep100)}, nil)
	s.Wall += 1_000
	outcome := s.Quarantine(event.Event{Kind: event.AgentKill, Body: event.Encode(event.Kill{Agent: id})})
	require.Equal(t, failure.Quarantined, outcome.Refusal.Code)
	require.Equal(t, []string{"EVENT", "QUARANTINED", "OUTCOME"}, s.Names())
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Quarantine(event.Event{Kind: event.AgentKill, Body: []byte{0xff}}) // whatever made it deadly
	s.Pulse()
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}

// LO-1: equal logs have equal chains, and one different byte anywhere gives
// another chain from there on.
func TestChainTellsLogsApart(t *testing.T) {
	run := func(reason string) *kerneltest.Sim {
		s := kerneltest.New(t, 1)
		id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, nil)
		s.Command(event.AgentKill, event.Kill{Agent: id, Reason: reason})
		s.Pass(1)
		return s
	}
	a, b, c := run("x"), run("x"), run("y")
	require.Equal(t, a.Blocks, b.Blocks)
	require.Equal(t, a.State().Log.Chain, b.State().Log.Chain)
	require.NotEqual(t, a.State().Log.Chain, c.State().Log.Chain)
	require.Equal(t, a.Blocks[:2], c.Blocks[:2])
	require.NotEqual(t, a.Blocks[3], c.Blocks[3], "the same Pulse stands on another chain")
}

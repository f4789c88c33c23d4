package replay_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

// supposed follows an agent's history with a change.
func supposed(t kerneltest.TB, s *kerneltest.Sim, no uint32, change replay.Change) (*replay.WhatIfReport, error) {
	t.Helper()
	log := s.Placed()
	w := replay.NewWhatIf(no, s.State().Config, s.Lookup, log.Body, replay.Range{}, change)
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(no); !touched || w.Done() {
			continue
		}
		b, gone := kerneltest.Fleeting(b)
		require.NoError(t, w.Block(at, b))
		gone()
	}
	return w.Report()
}

// told answers a call with a value.
func told(t kerneltest.TB, call uint32, v any) []execution.Answer {
	return []execution.Answer{{Call: call, OK: true, Value: kerneltest.Value(t, v)}}
}

// pages reads pages until one says it is the last; the second call is about
// what the first one said.
const pages = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"a","do":{"kind":"CALL","payload":{"tool":"echo","args":{"page":1}}}}},
	{"kind":"EMIT","payload":{"value":"${a.title}"}},
	{"kind":"LET","payload":{"name":"b","do":{"kind":"CALL","payload":{"tool":"echo","args":{"page":"${a.next}"}}}}},
	{"kind":"RETURN","payload":{"value":"${[a.title, b.title]}"}}]}}`

func reading(t testing.TB) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, pages)}, nil)
	s.Answer(true, map[string]any{"title": "one", "next": 2})
	s.Answer(true, map[string]any{"title": "two", "next": 3})
	return s
}

// What does not change what the agent asks for goes on with the recorded
// answers, to the tick's end.
func TestAnotherResultOfACall(t *testing.T) {
	s := reading(t)
	r, err := supposed(t, s, 1, replay.Change{Tick: 1, Answers: told(t, 1, map[string]any{"title": "uno", "next": 2})})
	require.NoError(t, err)
	assert.True(t, r.Differs())
	assert.EqualValues(t, 1, r.Tick)
	assert.Equal(t, first(t, s, bus.ResultDelivered, 0), r.Began)
	assert.EqualValues(t, 1, r.Used, "the second page's answer")
	assert.EqualValues(t, 1, r.Requests)
	assert.Nil(t, r.Never)
	assert.Equal(t, "the tick ended", r.End)
	assert.JSONEq(t, `["one","two"]`, string(r.Recorded.Value.AppendJSON(nil)))
	assert.JSONEq(t, `["uno","two"]`, string(r.Replayed.Value.AppendJSON(nil)))
	assert.Len(t, r.EmittedWas, 1)
	assert.Equal(t, `"uno"`, string(r.EmittedNow[0].AppendJSON(nil)))

	same, err := supposed(t, s, 1, replay.Change{Tick: 1, Answers: told(t, 1, map[string]any{"title": "one", "next": 2})})
	require.NoError(t, err)
	assert.False(t, same.Differs())
	assert.Equal(t, same.Recorded, same.Replayed)
}

// It stops at the first call that was never made, and names it.
func TestTheFirstCallThatWasNeverMade(t *testing.T) {
	s := reading(t)
	r, err := supposed(t, s, 1, replay.Change{Tick: 1, Answers: told(t, 1, map[string]any{"title": "one", "next": 7})})
	require.NoError(t, err)
	assert.True(t, r.Differs())
	require.NotNil(t, r.Never)
	assert.EqualValues(t, 2, r.Never.Call)
	assert.JSONEq(t, `{"page":2}`, string(r.Never.Recorded.Args.AppendJSON(nil)))
	assert.JSONEq(t, `{"page":7}`, string(r.Never.Replayed.Args.AppendJSON(nil)))
	assert.Zero(t, r.Used)
	assert.Nil(t, r.Replayed)
	assert.Equal(t, "the first call that was never made", r.End)

	// … also where the record asked for nothing at all.
	ends := kerneltest.New(t, 1)
	ends.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","do":{"kind":"CALL","payload":{"tool":"echo"}}}},
		{"kind":"BRANCH","payload":{"if":"${a}","then":{"kind":"CALL","payload":{"tool":"echo","args":{"more":true}}}}}]}}`)}, nil)
	ends.Answer(true, false)
	r, err = supposed(t, ends, 1, replay.Change{Tick: 1, Answers: told(t, 1, true)})
	require.NoError(t, err)
	require.NotNil(t, r.Never)
	assert.Nil(t, r.Never.Recorded)
	assert.True(t, r.Recorded.OK)
}

// A failure in place of an answer, an answer in place of a failure.
func TestAFailureInsteadOfAnAnswer(t *testing.T) {
	s := reading(t)
	r, err := supposed(t, s, 1, replay.Change{Tick: 1, Answers: []execution.Answer{{Call: 2, Code: failure.ToolFailed, Message: "no"}}})
	require.NoError(t, err)
	assert.True(t, r.Recorded.OK)
	assert.False(t, r.Replayed.OK)
	assert.Equal(t, failure.ToolFailed, r.Replayed.Failure.Code)

	failed := kerneltest.New(t, 1)
	failed.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, pages)}, nil)
	failed.Answer(false, "TOOL_FAILED")
	r, err = supposed(t, failed, 1, replay.Change{Tick: 1, Answers: told(t, 1, map[string]any{"title": "one", "next": 2})})
	require.NoError(t, err)
	assert.False(t, r.Recorded.OK)
	require.NotNil(t, r.Never, "it would have gone on to the second page")
	assert.Nil(t, r.Never.Recorded)

	_, err = supposed(t, s, 1, replay.Change{Tick: 1, Answers: told(t, 3, 1)})
	require.ErrorIs(t, err, replay.ErrNoCall)
	_, err = supposed(t, s, 1, replay.Change{Tick: 2, Answers: told(t, 1, 1)})
	require.ErrorIs(t, err, replay.ErrNoCall)
}

// Calls in parallel, and a tick that a failure put back: what waits with the
// changed call gets what it got, and what is asked again is asked again.
func TestWhatIfInParallelAndAfterARecovery(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","do":{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","args":1},{"tool":"echo","args":2}]}}}},
		{"kind":"LET","payload":{"name":"b","do":{"kind":"CALL","payload":{"tool":"echo","args":3}}}},
		{"kind":"RETURN","payload":{"value":"${[a, b]}"}}]}}`)}, nil)
	s.Answer(true, 10)
	s.Answer(true, 20)
	s.Answer(false, "TOOL_TIMEOUT") // a passing fault: the tick goes back, and asks again
	s.Pass(2000)
	s.Answer(true, 30)
	for call, want := range map[uint32]string{1: `[[5,20],30]`, 2: `[[10,5],30]`} {
		r, err := supposed(t, s, 1, replay.Change{Tick: 1, Answers: told(t, call, 5)})
		require.NoError(t, err)
		require.NotNil(t, r.Replayed, r.End)
		assert.JSONEq(t, want, string(r.Replayed.Value.AppendJSON(nil)), "call %d", call)
		assert.JSONEq(t, `[[10,20],30]`, string(r.Recorded.Value.AppendJSON(nil)))
		assert.EqualValues(t, 2, r.Used)
	}
}

// Under other budgets the first run that differs is found, and followed.
func TestOtherLimits(t *testing.T) {
	s := reading(t)
	s.Must(event.AgentSubmit, event.Submit{Agent: kerneltest.AgentID(1)})
	s.Answer(true, map[string]any{"title": "three", "next": 4})
	limit := func(change func(*config.Config)) replay.Change {
		c := *s.State().Config
		change(&c)
		return replay.Change{Limits: &c}
	}
	r, err := supposed(t, s, 1, limit(func(c *config.Config) { c.MaxStepsPerTick = 9 }))
	require.NoError(t, err)
	assert.False(t, r.Differs())
	assert.EqualValues(t, 5, r.Looked)

	r, err = supposed(t, s, 1, limit(func(c *config.Config) { c.MaxStepsPerTick = 6 }))
	require.NoError(t, err)
	assert.True(t, r.Differs())
	assert.EqualValues(t, 1, r.Tick)
	assert.True(t, r.Recorded.OK)
	assert.Equal(t, failure.TickOverflow, r.Replayed.Failure.Code)

	r, err = supposed(t, s, 1, limit(func(c *config.Config) { c.MaxCallsPerTick = 1 }))
	require.NoError(t, err)
	assert.Equal(t, failure.CallOverflow, r.Replayed.Failure.Code)

	// More than there was: what overflowed goes on.
	narrow := kerneltest.New(t, 1, func(c *config.Config) { c.MaxStepsPerTick = 4 })
	narrow.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, pages)}, nil)
	narrow.Answer(true, map[string]any{"title": "one", "next": 2})
	c := *narrow.State().Config
	c.MaxStepsPerTick = 100
	r, err = supposed(t, narrow, 1, replay.Change{Limits: &c})
	require.NoError(t, err)
	assert.Equal(t, failure.TickOverflow, r.Recorded.Failure.Code)
	require.NotNil(t, r.Never)
	assert.JSONEq(t, `{"page":2}`, string(r.Never.Replayed.Args.AppendJSON(nil)))
}

// Whatever history, the recorded answer in place of itself changes nothing, and
// another one in its place ends in a report.
func TestWhatIfOfRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 10, drawn{t})
		h.Run(rapid.IntRange(10, 60).Draw(t, "steps"))
		type delivery struct {
			kerneltest.Record
			answer execution.Answer
		}
		var deliveries []delivery
		for _, r := range h.All() {
			if b, ok := r.Content.(*execution.DeliveredBody); ok {
				deliveries = append(deliveries, delivery{r, b.Answer})
			}
		}
		if len(deliveries) == 0 {
			return
		}
		d := deliveries[rapid.IntRange(0, len(deliveries)-1).Draw(t, "which")]
		r, err := supposed(t, h.Sim, d.Agent, replay.Change{Tick: d.Tick, Answers: []execution.Answer{d.answer}})
		require.NoError(t, err)
		require.False(t, r.Differs(), "%+v %+v %+v", r, r.Recorded, r.Replayed)
		_, err = supposed(t, h.Sim, d.Agent, replay.Change{Tick: d.Tick, Answers: told(t, d.answer.Call, "something else")})
		require.NoError(t, err)
		wide := *h.State().Config
		wide.MaxStepsPerTick *= 100
		_, err = supposed(t, h.Sim, d.Agent, replay.Change{Limits: &wide})
		require.NoError(t, err)
	})
}

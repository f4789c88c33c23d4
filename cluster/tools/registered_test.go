package tools

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// factory is a kind whose adapters are one function; it counts them.
type factory struct {
	call         func(ctx context.Context, r Request) Result
	refuses      error
	made, closed atomic.Int32
}

func (f *factory) Name() string { return "test" }

func (f *factory) Check(*kerneltools.Manifest) *failure.Refusal { return nil }

func (f *factory) Make(*kerneltools.Manifest) (Caller, error) {
	if f.refuses != nil {
		return nil, f.refuses
	}
	f.made.Add(1)
	return &fromFactory{f}, nil
}

type fromFactory struct{ f *factory }

func (c *fromFactory) Call(ctx context.Context, r Request) Result { return c.f.call(ctx, r) }

func (c *fromFactory) Close() error {
	c.f.closed.Add(1)
	return nil
}

func withKind(t *testing.T, f *factory) *Registry {
	t.Helper()
	r, err := New(Options{Kinds: []Kind{f}})
	require.NoError(t, err)
	return r
}

func registered(revision uint64, change func(*kerneltools.Manifest)) Request {
	m := &kerneltools.Manifest{Name: "crm.get", Adapter: "test"}
	if change != nil {
		change(m)
	}
	return Request{Tool: m.Name, Args: value.EmptyMap, Timeout: time.Minute, Revision: revision, Manifest: m}
}

func code(c failure.Code) func(context.Context, Request) Result {
	return func(context.Context, Request) Result { return Fail(c, "no") }
}

// TO-9: an adapter is made once for a revision, and closed when nobody needs it and
// its last call has ended, however late.
func TestAdaptersLiveAsLongAsTheirRevisions(t *testing.T) {
	hold, begun := make(chan struct{}), make(chan struct{}, 1)
	f := &factory{call: func(_ context.Context, r Request) Result {
		if r.IdempotencyKey == "slow" {
			begun <- struct{}{}
			<-hold
		}
		return Succeed(value.True)
	}}
	r := withKind(t, f)
	for range 3 {
		require.True(t, r.Run(t.Context(), registered(4, nil)).OK)
	}
	require.True(t, r.Run(t.Context(), registered(9, nil)).OK)
	assert.EqualValues(t, 2, f.made.Load())
	assert.Equal(t, 2, r.Made())

	slow := registered(4, nil)
	slow.IdempotencyKey = "slow"
	ended := make(chan Result)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- r.Run(ctx, slow) }()
	<-begun
	r.Keep(func(revision uint64) bool { return revision == 9 })
	assert.Zero(t, f.closed.Load(), "a call runs with it")
	cancel()
	assert.Equal(t, failure.Withdrawn, (<-ended).Code)
	assert.Zero(t, f.closed.Load(), "its adapter has not returned")
	close(hold)
	require.Eventually(t, func() bool { return f.closed.Load() == 1 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, 1, r.Made())
	r.Keep(func(uint64) bool { return false })
	assert.EqualValues(t, 2, f.closed.Load())
	require.True(t, r.Run(t.Context(), registered(9, nil)).OK, "made anew, when it is needed after all")
}

// TO-6: schemas hold for registered tools, both ways, and a node that cannot make an
// adapter says so; the call was certainly not made.
func TestRegisteredToolsKeepToTheirSchemas(t *testing.T) {
	f := &factory{call: func(context.Context, Request) Result { return Succeed(value.True) }}
	r := withKind(t, f)
	object := raw(t, map[string]any{"type": "object", "required": []any{"id"}})
	refused := r.Run(t.Context(), registered(1, func(m *kerneltools.Manifest) { m.Input = object }))
	assert.Equal(t, Fail(failure.ToolArgsInvalid, "must have the member id"), refused)
	refused = r.Run(t.Context(), registered(2, func(m *kerneltools.Manifest) { m.Output = object }))
	assert.Equal(t, failure.ToolResultInvalid, refused.Code)
	refused = r.Run(t.Context(), registered(3, func(m *kerneltools.Manifest) { m.Adapter = "other" }))
	assert.Equal(t, failure.ToolUnreachable, refused.Code)
	f.refuses = errors.New("no")
	assert.Equal(t, failure.ToolUnreachable, r.Run(t.Context(), registered(5, nil)).Code)
	f.call = func(context.Context, Request) Result { panic("boom") }
	f.refuses = nil
	assert.Equal(t, failure.ToolCrashed, r.Run(t.Context(), registered(6, nil)).Code)
}

// TO-10: after five calls in a row that nobody answered none is made for ten seconds;
// then one is, and what comes of it decides. Another revision begins anew.
func TestCircuitBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls int
		answer := failure.ToolUnreachable
		f := &factory{call: func(context.Context, Request) Result {
			calls++
			if answer == "" {
				return Succeed(value.True)
			}
			return Fail(answer, "no")
		}}
		r := withKind(t, f)
		for range 4 {
			r.Run(t.Context(), registered(1, nil))
		}
		answer = failure.ToolFailed // an answer, be it a bad one
		r.Run(t.Context(), registered(1, nil))
		answer = failure.ToolTimeout
		for range 5 {
			r.Run(t.Context(), registered(1, nil))
		}
		require.Equal(t, 10, calls)
		refused := r.Run(t.Context(), registered(1, nil))
		assert.Equal(t, failure.ToolUnreachable, refused.Code)
		assert.Contains(t, refused.Message, "circuit breaker")
		assert.Equal(t, 10, calls, "it was not made")
		r.Run(t.Context(), registered(2, nil))
		assert.Equal(t, 11, calls, "another revision")

		time.Sleep(breakerOpen + time.Millisecond)
		r.Run(t.Context(), registered(1, nil))
		assert.Equal(t, 12, calls, "one is tried")
		assert.Contains(t, r.Run(t.Context(), registered(1, nil)).Message, "circuit breaker")
		time.Sleep(breakerOpen + time.Millisecond)
		answer = ""
		for range 3 {
			assert.True(t, r.Run(t.Context(), registered(1, nil)).OK)
		}
	})
}

// TO-10: what was certainly not made is tried again; what may have done something only
// where it may be made twice, and its failure may pass; nothing longer than the
// call's time.
func TestRetries(t *testing.T) {
	thrice := func(m *kerneltools.Manifest) {
		m.Retry = kerneltools.Retry{MaxAttempts: 3, BackoffMillis: 100, MaxBackoffMillis: 150}
	}
	idempotent := func(m *kerneltools.Manifest) { thrice(m); m.Idempotent = true }
	passing := func(context.Context, Request) Result {
		return Result{Code: failure.ToolFailed, Message: "no", Passing: true}
	}
	for name, row := range map[string]struct {
		change func(*kerneltools.Manifest)
		call   func(context.Context, Request) Result
		want   int
	}{
		"not made":                  {thrice, code(failure.ToolUnreachable), 3},
		"not made, no retries":      {nil, code(failure.ToolUnreachable), 1},
		"may pass, not idempotent":  {thrice, passing, 1},
		"may pass, idempotent":      {idempotent, passing, 3},
		"will not pass, idempotent": {idempotent, code(failure.ToolFailed), 1},
		"unknown, not idempotent":   {thrice, code(failure.OutcomeUnknown), 1},
		"arguments are wrong":       {idempotent, code(failure.ToolArgsInvalid), 1},
		"success":                   {idempotent, func(context.Context, Request) Result { return Succeed(value.Null) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := 0
				r := withKind(t, &factory{call: func(ctx context.Context, request Request) Result {
					made++
					result := row.call(ctx, request)
					result.Usage = kerneltools.Usage{Metered: true, Tokens: 10}
					return result
				}})
				began := time.Now()
				result := r.Run(t.Context(), registered(1, row.change))
				assert.Equal(t, row.want, made)
				assert.EqualValues(t, 10*made, result.Usage.Tokens, "what all attempts cost")
				if made == 3 {
					assert.InDelta(t, 250, time.Since(began).Milliseconds(), 60)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r := withKind(t, &factory{call: code(failure.ToolUnreachable)})
		request := registered(1, func(m *kerneltools.Manifest) {
			m.Retry = kerneltools.Retry{MaxAttempts: 20, BackoffMillis: 1000, MaxBackoffMillis: 1000}
		})
		request.Timeout = 2500 * time.Millisecond
		began := time.Now()
		result := r.Run(t.Context(), request)
		assert.Contains(t, []failure.Code{failure.ToolUnreachable, failure.ToolTimeout}, result.Code)
		assert.LessOrEqual(t, time.Since(began), 2500*time.Millisecond)
		synctest.Wait()
	})
}

// TO-9: the door refuses a manifest whose calls could never be made, by its field.
func TestCheckAtTheDoor(t *testing.T) {
	r := withKind(t, &factory{})
	schema := func(properties map[string]any, required ...any) value.Raw {
		return raw(t, map[string]any{"type": "object", "properties": properties, "required": append([]any{}, required...)})
	}
	text := map[string]any{"id": map[string]any{"type": "string"}}
	for name, row := range map[string]struct {
		change      func(*kerneltools.Manifest)
		field, rule string
	}{
		"fine":             {func(m *kerneltools.Manifest) { m.Input, m.Segments = schema(text, "id"), []string{"id"} }, "", ""},
		"adapter":          {func(m *kerneltools.Manifest) { m.Adapter = "http" }, "adapter", "is none that this node has"},
		"input":            {func(m *kerneltools.Manifest) { m.Input = raw(t, map[string]any{"type": "objekt"}) }, "input", "is no JSON Schema (draft 2020-12) that compiles"},
		"output":           {func(m *kerneltools.Manifest) { m.Output = raw(t, map[string]any{"$ref": "https://example.com/x"}) }, "output", "is no JSON Schema (draft 2020-12) that compiles"},
		"no such argument": {func(m *kerneltools.Manifest) { m.Input, m.Segments = schema(text, "id"), []string{"x"} }, "resource[0]", `names the argument "x", which input.properties must have`},
		"not required":     {func(m *kerneltools.Manifest) { m.Input, m.Segments = schema(text), []string{"id"} }, "resource[0]", `names the argument "id", which input.required must list`},
		"wrong type": {func(m *kerneltools.Manifest) {
			m.Input, m.Segments = schema(map[string]any{"id": map[string]any{"type": "array"}}, "id"), []string{"id"}
		}, "resource[0]", `names the argument "id", which must have a type in input.properties: string or integer`},
	} {
		request := registered(1, row.change)
		refused := r.Check(request.Manifest)
		if row.field == "" {
			assert.Nil(t, refused, name)
			continue
		}
		require.NotNil(t, refused, name)
		assert.Equal(t, []string{row.field, row.rule}, []string{refused.Field, refused.Rule}, name)
	}
}

// TO-10: a service that asks to be left alone for a while is, unless the call's time
// would be over by then: it ends at once. Of attempts that may have done something
// and do not say what they cost, nobody knows what they cost together.
func TestRetriesAsTheServiceSays(t *testing.T) {
	for name, row := range map[string]struct {
		after, took time.Duration
		made        int
	}{
		"a while":        {20 * time.Second, 20 * time.Second, 2},
		"less than that": {time.Millisecond, time.Second, 2},
		"too long":       {time.Minute, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := 0
				r := withKind(t, &factory{call: func(context.Context, Request) Result {
					made++
					return Result{Code: failure.ToolUnreachable, Message: "no", After: row.after}
				}})
				began := time.Now()
				result := r.Run(t.Context(), registered(1, func(m *kerneltools.Manifest) {
					m.Retry = kerneltools.Retry{MaxAttempts: 2, BackoffMillis: 1000}
				}))
				assert.Equal(t, failure.ToolUnreachable, result.Code)
				assert.Equal(t, row.made, made)
				assert.InDelta(t, row.took.Milliseconds(), time.Since(began).Milliseconds(), 250)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		results := []Result{
			{Code: failure.OutcomeUnknown, Passing: true},
			{Code: failure.ToolUnreachable},
			{OK: true, Value: value.True, Usage: kerneltools.Usage{Metered: true, Tokens: 7}},
		}
		r := withKind(t, &factory{call: func(context.Context, Request) (next Result) {
			next, results = results[0], results[1:]
			return next
		}})
		thrice := func(m *kerneltools.Manifest) { m.Retry.MaxAttempts, m.Idempotent = 3, true }
		result := r.Run(t.Context(), registered(1, thrice))
		assert.True(t, result.OK)
		assert.Equal(t, kerneltools.Usage{}, result.Usage)
	})
}

// TO-10: a call whose last attempt was not made, after one that may have done something,
// ends as that one did, and is charged in full unless it told what it came to.
func TestLastAttemptThatWasNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := []Result{{Code: failure.ToolTimeout, Message: "slow", Passing: true}, {Code: failure.ToolUnreachable, Usage: kerneltools.Usage{Metered: true}}}
		r := withKind(t, &factory{call: func(context.Context, Request) (next Result) {
			next, results = results[0], results[1:]
			return next
		}})
		result := r.Run(t.Context(), registered(1, func(m *kerneltools.Manifest) { m.Retry.MaxAttempts, m.Idempotent = 2, true }))
		assert.Empty(t, results, "two attempts")
		assert.Equal(t, []any{failure.ToolTimeout, "slow", kerneltools.Usage{}}, []any{result.Code, result.Message, result.Usage})
	})
}

package tools

import (
	"context"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// adapter is a tool made of one function.
type adapter struct {
	manifest Manifest
	call     func(ctx context.Context, r Request) Result
}

func (a adapter) Manifest() Manifest                         { return a.manifest }
func (a adapter) Call(ctx context.Context, r Request) Result { return a.call(ctx, r) }

func tuned(change func(*Manifest)) Manifest {
	m := Manifest{Name: "test.tool", MaxResultBytes: 1000, DefaultTimeout: time.Minute}
	if change != nil {
		change(&m)
	}
	return m
}

func newRegistry(t *testing.T, options Options, m Manifest, call func(context.Context, Request) Result) *Registry {
	t.Helper()
	r, err := New(options, adapter{m, call})
	require.NoError(t, err)
	return r
}

func raw(t *testing.T, v any) value.Raw {
	t.Helper()
	r, problem := value.FromGo(v)
	require.Nil(t, problem)
	return r
}

func TestNewRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Manifest)
		want   string
	}{
		"no name":        {func(m *Manifest) { m.Name = "" }, "name must be dotted words"},
		"upper case":     {func(m *Manifest) { m.Name = "Echo" }, "name must be dotted words"},
		"slash":          {func(m *Manifest) { m.Name = "a/b" }, "name must be dotted words"},
		"empty word":     {func(m *Manifest) { m.Name = "a..b" }, "name must be dotted words"},
		"long name":      {func(m *Manifest) { m.Name = strings.Repeat("a", 129) }, "name must be dotted words"},
		"no bound":       {func(m *Manifest) { m.MaxResultBytes = 0 }, "MaxResultBytes must be positive"},
		"no timeout":     {func(m *Manifest) { m.DefaultTimeout = 0 }, "DefaultTimeout must be positive"},
		"not JSON":       {func(m *Manifest) { m.Args = "{" }, "args schema is not JSON"},
		"not a schema":   {func(m *Manifest) { m.Result = `{"type": 7}` }, "result schema"},
		"long schema":    {func(m *Manifest) { m.Args = strings.Repeat(" ", 64<<10) + "{}" }, "must be at most 65536 bytes"},
		"remote schema":  {func(m *Manifest) { m.Args = `{"$ref": "http://127.0.0.1:1/x.json"}` }, "another document"},
		"file schema":    {func(m *Manifest) { m.Args = `{"$ref": "file:///etc/passwd"}` }, "another document"},
		"remote dialect": {func(m *Manifest) { m.Args = `{"$schema": "http://127.0.0.1:1/x"}` }, "another document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Options{}, adapter{manifest: tuned(row.change)})
			require.Error(t, err)
			assert.Contains(t, err.Error(), row.want)
		})
	}
	_, err := New(Options{}, adapter{manifest: tuned(nil)}, adapter{manifest: tuned(nil)})
	require.ErrorIs(t, err, errDuplicate)
}

func TestManifestsAreOrdered(t *testing.T) {
	r, err := New(Options{},
		adapter{manifest: tuned(func(m *Manifest) { m.Name = "b" })}, adapter{manifest: tuned(func(m *Manifest) { m.Name = "a" })})
	require.NoError(t, err)
	assert.Equal(t, "a", r.Manifests()[0].Name)
	assert.Equal(t, "b", r.Manifests()[1].Name)
}

func TestRunPassesTheRequest(t *testing.T) {
	var seen Request
	r := newRegistry(t, Options{}, tuned(nil), func(ctx context.Context, r Request) Result {
		seen = r
		deadline, ok := ctx.Deadline()
		assert.True(t, ok)
		assert.WithinDuration(t, time.Now().Add(time.Hour), deadline, time.Minute)
		return Succeed(value.True)
	})
	request := Request{Tool: "test.tool", IdempotencyKey: "k", Args: raw(t, "x"), Timeout: time.Hour}
	assert.Equal(t, Succeed(value.True), r.Run(t.Context(), request))
	assert.Equal(t, request, seen)
}

// TO-6: each way to fail has its own code.
func TestRunFailures(t *testing.T) {
	answer := func(result Result) func(context.Context, Request) Result {
		return func(context.Context, Request) Result { return result }
	}
	integer := func(m *Manifest) { m.Result = `{"type": "integer"}` }
	for name, row := range map[string]struct {
		change  func(*Manifest)
		call    func(context.Context, Request) Result
		code    failure.Code
		message string
	}{
		"args": {func(m *Manifest) { m.Args = `{"type": "object"}` }, nil, failure.ToolArgsInvalid, "must be of type object"},
		"crash": {nil, func(context.Context, Request) Result { panic("secret") },
			failure.ToolCrashed, "the adapter crashed"},
		"goexit": {nil, func(context.Context, Request) Result { runtime.Goexit(); return Result{} },
			failure.ToolCrashed, "the adapter crashed"},
		"own failure": {nil, answer(Fail(failure.ToolUnreachable, "gone")), failure.ToolUnreachable, "gone"},
		"no code":     {nil, answer(Result{}), failure.ToolFailed, ""},
		"bad text":    {nil, answer(Result{Code: failure.ToolFailed, Message: "a\xffb"}), failure.ToolFailed, "a?b"},
		"no value":    {nil, answer(Result{OK: true}), failure.ToolResultInvalid, "the bytes end inside a value"},
		"bad value":   {nil, answer(Succeed(value.Raw{0x18, 0x01})), failure.ToolResultInvalid, ""},
		"too large": {nil, answer(Succeed(raw(t, strings.Repeat("a", 1000)))), failure.ToolResultTooLarge,
			"the result is larger than 1000 bytes"},
		"wrong shape": {integer, answer(Succeed(raw(t, "a"))), failure.ToolResultInvalid, "must be of type integer"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t, Options{}, tuned(row.change), row.call)
			got := r.Run(t.Context(), Request{Tool: "test.tool", Args: raw(t, 1)})
			assert.False(t, got.OK)
			assert.Empty(t, got.Value)
			assert.Equal(t, row.code, got.Code)
			if row.message != "" {
				assert.Equal(t, row.message, got.Message)
			}
			assert.LessOrEqual(t, len(got.Message), failure.MaxMessage)
		})
	}
	got := newRegistry(t, Options{}, tuned(nil), nil).Run(t.Context(), Request{Tool: "no.such"})
	assert.Equal(t, Fail(failure.ToolUnknown, "this node has no tool of that name"), got)
}

func TestRunBoundsMessages(t *testing.T) {
	r := newRegistry(t, Options{}, tuned(nil), func(context.Context, Request) Result {
		return Result{Code: failure.ToolFailed, Message: strings.Repeat("é", failure.MaxMessage)}
	})
	got := r.Run(t.Context(), Request{Tool: "test.tool", Args: value.Null})
	assert.Equal(t, strings.Repeat("é", failure.MaxMessage/2), got.Message)
}

// The node's log learns what the log of events must not (EV-13).
func TestCrashIsReported(t *testing.T) {
	type crash struct {
		tool  string
		cause any
		stack string
	}
	reported := make(chan crash, 1)
	options := Options{OnCrash: func(tool string, cause any, stack []byte) { reported <- crash{tool, cause, string(stack)} }}
	r := newRegistry(t, options, tuned(nil), func(context.Context, Request) Result { panic("why") })
	assert.Equal(t, Fail(failure.ToolCrashed, "the adapter crashed"), r.Run(t.Context(), Request{Tool: "test.tool", Args: value.Null}))
	got := <-reported
	assert.Equal(t, "test.tool", got.tool)
	assert.Equal(t, "why", got.cause)
	assert.Contains(t, got.stack, "TestCrashIsReported")
}

// TO-6: an adapter that does not listen to its context cannot hold up a call.
func TestRunTimesOut(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	r := newRegistry(t, Options{}, tuned(nil), func(context.Context, Request) Result { <-release; return Succeed(value.True) })
	got := r.Run(t.Context(), Request{Tool: "test.tool", Args: value.Null, Timeout: 20 * time.Millisecond})
	assert.Equal(t, Fail(failure.ToolTimeout, "no answer within 20 ms"), got)

	m := tuned(func(m *Manifest) { m.DefaultTimeout = 10 * time.Millisecond })
	r = newRegistry(t, Options{}, m, func(context.Context, Request) Result { <-release; return Succeed(value.True) })
	got = r.Run(t.Context(), Request{Tool: "test.tool", Args: value.Null})
	assert.Equal(t, Fail(failure.ToolTimeout, "no answer within 10 ms"), got)
}

// TO-5: a withdrawn call ends at once.
func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRegistry(t, Options{}, tuned(nil), func(ctx context.Context, _ Request) Result {
		cancel()
		<-ctx.Done()
		return Fail(failure.ToolFailed, "not looked at")
	})
	got := r.Run(ctx, Request{Tool: "test.tool", Args: value.Null})
	if got.Code == failure.ToolFailed {
		return // it answered before Run looked: its answer counts
	}
	assert.Equal(t, Fail(failure.Withdrawn, "the call was cancelled"), got)
}

// What hangs keeps its place, so that it cannot grow without bound; the place
// comes back when it returns.
func TestRunningCallsAreBounded(t *testing.T) {
	release := make(chan struct{})
	var running, most atomic.Int64
	r := newRegistry(t, Options{MaxRunning: 2}, tuned(nil), func(context.Context, Request) Result {
		most.Store(int64(math.Max(float64(most.Load()), float64(running.Add(1)))))
		defer running.Add(-1)
		<-release
		return Succeed(value.True)
	})
	request := Request{Tool: "test.tool", Args: value.Null, Timeout: 10 * time.Millisecond}
	for range 5 {
		assert.Equal(t, failure.ToolTimeout, r.Run(t.Context(), request).Code)
	}
	assert.Equal(t, int64(2), most.Load())
	close(release)
	request.Timeout = time.Minute
	for range 5 {
		assert.Equal(t, Succeed(value.True), r.Run(t.Context(), request))
	}
}

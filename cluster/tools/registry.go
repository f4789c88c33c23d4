package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Options bound a registry. The zero value takes the defaults.
type Options struct {
	// MaxRunning is how many calls may be under way at once; 1,024 if zero. An
	// adapter that does not return when its time is over keeps its place, so
	// what hangs cannot grow.
	MaxRunning int
	// MaxResultBytes lowers every manifest's bound to what the kernel accepts;
	// no bound if zero.
	MaxResultBytes int
	// Kinds make the adapters of registered tools.
	Kinds []Kind
	// Absent are kinds that the node does without, each with what it would take.
	Absent map[string]string
	// OnCrash is told what an adapter panicked with, and where, for the node's
	// log. It never reaches a result. It may be nil.
	OnCrash func(tool string, cause any, stack []byte)
}

const (
	defaultMaxRunning  = 1024
	defaultResultBytes = 64 << 10         // the kernel's default bound on values
	defaultTimeout     = 30 * time.Second // … and on the time of calls
)

// Registry holds the tools of one node: those that are built in, which are fixed
// when it is made, and the adapters of registered ones, which it makes as calls need
// them. Run is called on many goroutines at once.
type Registry struct {
	tools     map[string]*tool
	kinds     map[string]Kind
	absent    map[string]string
	revisions revisions
	maxResult int
	slots     chan struct{} // one token for each call under way
	onCrash   func(tool string, cause any, stack []byte)
}

// tool is an adapter with what was made of its manifest.
type tool struct {
	adapter   Caller
	retry     retry
	breaker   *breaker // of a registered tool
	manifest  Manifest
	args      *schema.Schema
	result    *schema.Schema
	maxResult int
}

// New compiles the manifests. The error names the tool that is wrong.
func New(options Options, adapters ...Adapter) (*Registry, error) {
	if options.MaxRunning <= 0 {
		options.MaxRunning = defaultMaxRunning
	}
	r := &Registry{
		tools:   make(map[string]*tool, len(adapters)),
		slots:   make(chan struct{}, options.MaxRunning),
		onCrash: options.OnCrash,
		kinds:   make(map[string]Kind, len(options.Kinds)), maxResult: options.MaxResultBytes, absent: options.Absent,
	}
	r.revisions.made = make(map[uint64]*revision)
	if r.maxResult <= 0 {
		r.maxResult = defaultResultBytes
	}
	for _, kind := range options.Kinds {
		r.kinds[kind.Name()] = kind
	}
	for _, adapter := range adapters {
		t, err := newTool(adapter, options.MaxResultBytes)
		if err != nil {
			return nil, err
		}
		if _, taken := r.tools[t.manifest.Name]; taken {
			return nil, fmt.Errorf("tool %s: %w", t.manifest.Name, errDuplicate)
		}
		r.tools[t.manifest.Name] = t
	}
	return r, nil
}

func newTool(adapter Adapter, maxResultBytes int) (*tool, error) {
	t := &tool{adapter: adapter, manifest: adapter.Manifest()}
	if err := t.manifest.check(); err != nil {
		return nil, err
	}
	t.maxResult = t.manifest.MaxResultBytes
	if maxResultBytes > 0 {
		t.maxResult = min(t.maxResult, maxResultBytes)
	}
	var err error
	if t.args, err = schema.Compile(t.manifest.Args); err != nil {
		return nil, fmt.Errorf("tool %s: args %w", t.manifest.Name, err)
	}
	if t.result, err = schema.Compile(t.manifest.Result); err != nil {
		return nil, fmt.Errorf("tool %s: result %w", t.manifest.Name, err)
	}
	return t, nil
}

// Manifests lists the tools, ordered by name.
func (r *Registry) Manifests() []Manifest {
	manifests := make([]Manifest, 0, len(r.tools))
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		manifests = append(manifests, r.tools[name].manifest)
	}
	return manifests
}

// Run runs one call to its end. It never panics, never returns later than the
// call's timeout, and answers (TO-6):
//
//	TOOL_UNKNOWN           no such tool on this node
//	TOOL_ARGS_INVALID      the arguments do not fit the schema; the adapter was not called
//	TOOL_TIMEOUT           no answer in time
//	TOOL_CRASHED           the adapter panicked
//	TOOL_RESULT_TOO_LARGE  the result is over its bound
//	TOOL_RESULT_INVALID    the result does not fit the schema
//	TOOL_UNREACHABLE       this node cannot make the tool's adapter, or its circuit breaker is open
//	WITHDRAWN              ctx was cancelled; nothing is known about the call
//
// or whatever failure the adapter itself answers.
func (r *Registry) Run(ctx context.Context, request Request) Result {
	t, over, none := r.find(request)
	if none != nil {
		return *none
	}
	return r.run(ctx, t, request, over)
}

// find finds the tool of a request, which is needed until over is called; none is the
// result where there is none.
func (r *Registry) find(request Request) (t *tool, over func(), none *Result) {
	if request.Manifest != nil {
		one := r.take(request.Revision, request.Manifest)
		over = func() { r.give(request.Revision, one) }
		if one.err != nil {
			over()
			none := Fail(failure.ToolUnreachable, "this node cannot run the tool: its manifest names an adapter that the node does not have, or cannot make")
			return nil, nil, &none
		}
		return one.tool, over, nil
	}
	t, ok := r.tools[request.Tool]
	if !ok {
		none := Fail(failure.ToolUnknown, "this node has no tool of that name")
		return nil, nil, &none
	}
	return t, func() {}, nil
}

// run is Run, of a tool that there is; over is called once, when its adapter is not
// needed for the call any more, however late.
func (r *Registry) run(ctx context.Context, t *tool, request Request, over func()) Result {
	if broken := t.admit(request); broken != nil {
		over()
		return *broken
	}
	if request.Timeout <= 0 {
		request.Timeout = t.manifest.DefaultTimeout
	}
	request.Timeout = min(request.Timeout, MaxTime)
	if t.breaker == nil {
		return r.within(ctx, t, request, over)
	}
	done, err := t.breaker.Allow()
	if err != nil {
		over()
		return broken()
	}
	result := r.within(ctx, t, request, over)
	done(verdict(result))
	return result
}

// within bounds a call's time.
func (r *Registry) within(ctx context.Context, t *tool, request Request, over func()) Result {
	ctx, cancel := context.WithTimeout(ctx, request.Timeout)
	defer cancel()
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		over()
		return ended(ctx, request.Timeout)
	}
	done := make(chan Result, 1)
	go func() {
		defer over()
		r.call(ctx, t, request, done)
	}()
	select {
	case result := <-done:
		return t.judge(result)
	case <-ctx.Done():
	}
	select {
	case result := <-done: // the answer and the end came together
		return t.judge(result)
	default:
		return ended(ctx, request.Timeout)
	}
}

// call runs the adapter and gives the slot back when it returns, however late
// and however it ends.
func (r *Registry) call(ctx context.Context, t *tool, request Request, done chan<- Result) {
	result := Fail(failure.ToolCrashed, "the adapter crashed")
	defer func() {
		if cause := recover(); cause != nil && r.onCrash != nil {
			r.onCrash(t.manifest.Name, cause, stack())
		}
		<-r.slots
		done <- result
	}()
	result = t.retry.run(ctx, func() Result { return t.adapter.Call(ctx, request) })
}

// ended says why a call has no answer.
func ended(ctx context.Context, timeout time.Duration) Result {
	if ctx.Err() == context.DeadlineExceeded {
		return Fail(failure.ToolTimeout, fmt.Sprintf("no answer within %d ms", timeout.Milliseconds()))
	}
	return Fail(failure.Withdrawn, "the call was cancelled")
}

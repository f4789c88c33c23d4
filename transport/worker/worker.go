package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Handler makes one call. What it gives must encode as JSON; an error ends the call as
// TOOL_FAILED with its text, unless it is a *Failure.
type Handler func(ctx context.Context, call *Call) (any, error)

// Call is what a Handler has to make.
type Call struct {
	api.LentCall
	Usage *api.Usage // what it cost: the Handler says so, if it knows
}

// Into reads the call's arguments into what the Handler wants.
func (c *Call) Into(args any) error {
	raw, err := c.Args.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, args)
}

// Failure is a failed call with a code: TOOL_FAILED, TOOL_CRASHED, or TOOL_UNREACHABLE,
// which says that it certainly did not happen.
type Failure struct {
	Code    string
	Message string
}

// Error implements error.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// Options of a worker. The zero value of each is its default.
type Options struct {
	Name        string        // for people
	Concurrency int           // calls that are made at once; 1
	Wait        time.Duration // how long one poll waits, and so how long a stop may; 5 s
	Grace       time.Duration // how long a stop lets calls end; 10 s
	Told        func(error)   // is told of what goes wrong and is tried again; nobody is when nil
}

// Worker makes calls. It is made with New.
type Worker struct {
	client   *client.Client
	options  Options
	handlers map[string]Handler
}

// New makes a worker that asks with this client.
func New(c *client.Client, options Options) *Worker {
	options.Concurrency = max(options.Concurrency, 1)
	if options.Wait <= 0 {
		options.Wait = 5 * time.Second
	}
	if options.Grace <= 0 {
		options.Grace = 10 * time.Second
	}
	if options.Told == nil {
		options.Told = func(error) {}
	}
	return &Worker{client: c, options: options, handlers: make(map[string]Handler)}
}

// Handle has calls of a tool made by h. It is called before Run.
func (w *Worker) Handle(tool string, h Handler) { w.handlers[tool] = h }

// Run works until the context ends, and then until the calls that it has are over. Its
// error is one that asking again would not mend, such as a tool's name that is none.
func (w *Worker) Run(ctx context.Context) error {
	working, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var calls sync.WaitGroup
	defer calls.Wait()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(w.options.Grace, cut) })
	defer stop()

	body := api.PollBody{Worker: w.options.Name, WaitMillis: uint64(w.options.Wait.Milliseconds())}
	for tool := range w.handlers {
		body.Tools = append(body.Tools, tool)
	}
	slices.Sort(body.Tools)
	free := make(chan struct{}, w.options.Concurrency)
	for range w.options.Concurrency {
		free <- struct{}{}
	}
	for ctx.Err() == nil {
		body.Max = takeAll(ctx, free)
		if body.Max == 0 {
			return nil
		}
		// A poll is not cut short: what it was just given would be lost with it.
		work, err := w.client.PollWork(working, body)
		if final := w.failed(ctx, err); final != nil {
			return final
		}
		for i := range work.Calls {
			calls.Go(func() {
				defer func() { free <- struct{}{} }()
				w.make(working, &Call{LentCall: work.Calls[i]})
			})
		}
		for range int(body.Max) - len(work.Calls) {
			free <- struct{}{}
		}
	}
	return nil
}

// takeAll waits for a free place, and takes all that are; 0 when the context ended.
func takeAll(ctx context.Context, free <-chan struct{}) (taken uint64) {
	select {
	case <-ctx.Done():
		return 0
	case <-free:
	}
	for taken = 1; taken < api.MaxPollCalls; taken++ {
		select {
		case <-free:
		default:
			return taken
		}
	}
	return taken
}

// failed gives an error back that asking again would not mend; of any other it tells, and
// waits a little.
func (w *Worker) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var usage *client.Usage
	var said *api.Error
	if errors.As(err, &usage) || errors.As(err, &said) && said.Code == api.CodeInvalidArgument {
		return err
	}
	w.options.Told(err)
	pause(ctx, time.Second)
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// make makes one call, keeps its lease meanwhile, and hands in what came of it.
func (w *Worker) make(ctx context.Context, call *Call) {
	left := time.Duration(call.LeftMillis) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var beats sync.WaitGroup
	working, done := context.WithCancel(ctx)
	beats.Go(func() { w.beat(working, call, cancel) })
	result, err := w.handle(ctx, call)
	done()
	beats.Wait()
	if ctx.Err() != nil {
		w.options.Told(fmt.Errorf("%s: the call was over before it was answered: %w", call.Tool, context.Cause(ctx)))
		return
	}
	if err := w.handIn(ctx, call, result, err); err != nil {
		w.options.Told(fmt.Errorf("%s: what the call came to was not taken: %w", call.Tool, err))
	}
}

// beat says that the worker lives, three times within a lease; the call is over when the
// leader says so.
func (w *Worker) beat(ctx context.Context, call *Call, lost func()) {
	lease := time.Duration(call.LeaseMillis) * time.Millisecond
	for {
		pause(ctx, lease/3)
		if ctx.Err() != nil {
			return
		}
		beat, err := w.client.Heartbeat(ctx, call.Lease, client.Timeout(lease))
		if over(err) {
			lost()
			return
		}
		if err == nil {
			lease = time.Duration(beat.LeaseMillis) * time.Millisecond
		}
	}
}

// over tells whether the leader says that the call is not the worker's any more.
func over(err error) bool {
	var said *api.Error
	return errors.As(err, &said) && (said.Code == api.CodeLeaseLost || said.Code == api.CodeStaleResult)
}

// handle runs the Handler, and makes a failure of its panic.
func (w *Worker) handle(ctx context.Context, call *Call) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.options.Told(fmt.Errorf("%s: the handler panicked: %v", call.Tool, cause))
			err = &Failure{Code: "TOOL_CRASHED", Message: "the worker crashed"}
		}
	}()
	h, ok := w.handlers[call.Tool]
	if !ok {
		return nil, &Failure{Code: "TOOL_UNREACHABLE", Message: "the worker was given a call of a tool that it did not ask for"}
	}
	return h(ctx, call)
}

func (w *Worker) handIn(ctx context.Context, call *Call, result any, failed error) error {
	body := api.CompleteCallBody{Usage: call.Usage}
	if failed == nil {
		raw, err := json.Marshal(result)
		if err == nil {
			err = body.Result.UnmarshalJSON(raw)
		}
		if err != nil {
			failed = &Failure{Code: "TOOL_FAILED", Message: "the worker's result does not encode as a value"}
		}
	}
	if failed == nil {
		_, err := w.client.CompleteCall(ctx, call.Lease, body)
		return err
	}
	fail := api.FailCallBody{Code: "TOOL_FAILED", Message: failed.Error(), Usage: call.Usage}
	var known *Failure
	if errors.As(failed, &known) {
		fail.Code, fail.Message = known.Code, known.Message
	}
	_, err := w.client.FailCall(ctx, call.Lease, fail)
	return err
}

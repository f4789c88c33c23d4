package cluster

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	toolbox "github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// due is a call that may be made now.
type due struct {
	call *tools.Call
	left time.Duration
	term context.Context   // of the leader that lets it be made
	made chan event.Result // closed without one when the call was cut short

	manifest *tools.Manifest // of a registered tool, as the call was requested with
}

// carryOut has a call made, and its result proposed in the term, as long as that lasts. A
// call takes up to an hour: it goes on when the term ends, since its result is still
// worth handing in, and the term does not wait for it.
func (r *runner) carryOut(ctx context.Context, d *due) {
	select {
	case r.begun <- d:
	case <-ctx.Done():
		if d.call.Idempotent {
			r.release(d.call.Key)
		} else {
			r.later(notMade(d.call))
		}
		return
	}
	select {
	case out, some := <-d.made:
		if !some {
			return
		}
		select {
		case r.results <- out: // proposed together with others; released there
		case <-ctx.Done():
			r.later(out)
		}
	case <-ctx.Done():
	}
}

// makeCalls makes what calls are due, all at once, until the context ends: then those
// that are under way are cut short.
func (r *runner) makeCalls(ctx context.Context) {
	jobs, ctx := supervise.NewGroup(ctx)
	jobs.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case d := <-r.begun:
				jobs.Go(func() { r.makeOne(ctx, d) })
			}
		}
	})
	jobs.Wait()
}

// makeOne makes a call, and lets go of it when it is cut short or panics: nobody knows
// how far it came, and nobody is told anything.
func (r *runner) makeOne(ctx context.Context, d *due) {
	told := false
	defer func() {
		close(d.made)
		if !told {
			r.release(d.call.Key)
		}
	}()
	// It stops when the call is withdrawn or its time is over.
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.running[d.call.Key].cancel = cancel
	r.mu.Unlock()
	out := r.call(calling, d)
	if ctx.Err() != nil {
		return
	}
	told = true
	select {
	case d.made <- out:
	case <-d.term.Done():
		r.later(out)
	}
}

func (r *runner) call(ctx context.Context, d *due) event.Result {
	began, call := time.Now(), d.call
	result := r.n.config.Tools.Run(ctx, toolbox.Request{
		Tool: call.Tool, Args: call.Args, IdempotencyKey: r.idempotencyKey(call), Timeout: d.left,
		Revision: call.Revision, Manifest: d.manifest,
	})
	r.n.config.Metrics.Call(r.n.config.Tools.KindOf(call.Tool, d.manifest), result.Code, time.Since(began))
	if result.Code == failure.ToolTimeout && !call.Idempotent {
		// It was called, and nobody can say how far it came: not a timeout that
		// a program, or a recovery, may answer by calling again.
		result = toolbox.Fail(failure.OutcomeUnknown, "the tool's time was over before it answered: the call may or may not have happened")
	}
	return event.Result{
		Agent: call.Key.Agent, Tick: call.Key.Tick, Call: call.Key.Call, OK: result.OK, Value: result.Value,
		Code: string(result.Code), Message: result.Message, Millis: time.Since(began).Milliseconds(),
		Metered: result.Usage.Metered, Tokens: result.Usage.Tokens, USDMicros: result.Usage.USDMicros,
	}
}

// notMade is the result of a call that was dispatched, and that nobody may make any
// more.
func notMade(call *tools.Call) event.Result {
	return event.Result{
		Agent: call.Key.Agent, Tick: call.Key.Tick, Call: call.Key.Call, Code: string(failure.ToolUnreachable),
		Message: "the runner lost leadership before it called the tool: the call did not happen",
	}
}

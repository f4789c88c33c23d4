package cluster

import (
	"context"
	"slices"
	"time"

	toolbox "github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/workers"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// forgetEvery is how often the broker is held against the outbox.
const forgetEvery = time.Second

// lend gives a call to the broker, if it is one for workers; it waits there, and costs
// no goroutine, until one asks for it (TO-15).
func (r *runner) lend(ctx context.Context, call *tools.Call) (lent bool) {
	if call.Revision == 0 {
		return false
	}
	if r.broker.Has(call.Key) {
		return true
	}
	state := r.n.fsm.State()
	revision, ok := state.Tools.Revision(call.Revision)
	if !ok {
		return false
	}
	m := revision.Manifest
	lease, lent := r.n.config.Tools.Lease(m)
	if !lent {
		return false
	}
	now := time.Now()
	left := time.Duration(call.Deadline-state.Clock)*time.Millisecond - r.grace()
	c := &workers.Call{
		Key: call.Key, Tool: call.Tool, Revision: call.Revision, Most: m.Concurrency, Lease: lease, Until: now.Add(left), Idempotent: call.Idempotent,
	}
	if c.Most == 0 {
		c.Most = defaultConcurrency
	}
	r.place(ctx, call, c, m)
	// It may have ended while the caller looked at an older state.
	if !r.pending(call.Key) {
		r.broker.Drop(call.Key)
	}
	return true
}

// place gives the broker a call: one that an earlier leader dispatched to whoever has it,
// any other to whoever asks for it, if its arguments are what the manifest wants.
func (r *runner) place(ctx context.Context, call *tools.Call, c *workers.Call, m *tools.Manifest) {
	if call.Dispatched != 0 {
		c.Dispatched = call.Term
		r.broker.Hold(c, time.Now())
		return
	}
	if refused := r.n.config.Tools.Admit(requestOf(call, m)); refused != nil {
		r.broker.Settle(c)
		r.settle(ctx, resultOf(call.Key, *refused, 0))
		return
	}
	r.broker.Offer(c)
}

func requestOf(call *tools.Call, m *tools.Manifest) toolbox.Request {
	return toolbox.Request{Tool: call.Tool, Args: call.Args, Revision: call.Revision, Manifest: m}
}

func resultOf(key tools.Key, result toolbox.Result, took time.Duration) event.Result {
	return event.Result{
		Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: result.OK, Value: result.Value,
		Code: string(result.Code), Message: result.Message, Millis: took.Milliseconds(),
		Metered: result.Usage.Metered, Tokens: result.Usage.Tokens, USDMicros: result.Usage.USDMicros,
	}
}

// pending tells whether a call is in the outbox, as this node has applied it by now.
func (r *runner) pending(key tools.Key) bool {
	_, pending := r.n.fsm.State().Tools.Get(key)
	return pending
}

// settle has a result proposed, in this term if that lasts.
func (r *runner) settle(ctx context.Context, out event.Result) {
	select {
	case r.results <- out:
	case <-ctx.Done():
		r.later(out)
	}
}

// keepLent ends leases, and calls that wait for a worker, when their time is over; not
// while the kernel is suspended, when no time passes for them.
func (r *runner) keepLent(ctx context.Context) {
	looked := time.Now()
	for ctx.Err() == nil {
		pause(ctx, sweepEvery)
		if r.suspended() {
			continue
		}
		var results []event.Result
		for _, over := range r.broker.Expire(time.Now()) {
			if r.pending(over.Key) {
				results = append(results, resultOf(over.Key, unlent(over.Why), over.Lent))
			}
		}
		r.judge(ctx, results)
		if time.Since(looked) >= forgetEvery {
			looked = time.Now()
			r.broker.Forget(r.pending)
		}
	}
}

// judge proposes what this term's broker takes calls for. Nobody is handed that who leads
// another term: there a worker may be heard of again. What was not taken is found in the
// outbox anew, by whoever leads.
func (r *runner) judge(ctx context.Context, results []event.Result) {
	for batch := range slices.Chunk(results, resultBatch) {
		events := make([]event.Event, len(batch))
		for i := range batch {
			events[i] = r.eventOf(batch[i])
		}
		for i, answer := range r.n.ProposeAll(ctx, events) {
			if answer.Verdict != Applied {
				r.broker.Drop(keyOf(batch[i]))
			}
		}
	}
}

// unlent is the result of a call whose time is over.
func unlent(why workers.Reason) toolbox.Result {
	switch why {
	case workers.Unasked:
		return toolbox.Fail(failure.ToolUnreachable, "no worker asked for the call in time: it did not happen")
	case workers.Unanswered:
		return toolbox.Fail(failure.ToolTimeout, "no worker that took the call answered in time")
	}
	return toolbox.Fail(failure.OutcomeUnknown, "the worker that took the call was not heard of until its lease ran out: the call may or may not have happened")
}

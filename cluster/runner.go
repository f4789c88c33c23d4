package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cluster/workers"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// runner runs the external calls of the outbox while this node leads (TO-2).
//
// What it owes is all in the state: it hears of new calls as they are
// committed, and looks at the whole outbox when a term begins. A call that may
// run twice is run at once. For any other a dispatch record is committed
// first; one that an earlier leader dispatched is not touched, and the kernel
// calls it unknown at its deadline (TO-4).
type runner struct {
	n *Node

	mu      sync.Mutex // guards queue, running, turns, late
	queue   []tools.Key
	running map[tools.Key]*carried
	turns   turns
	late    []event.Result // for whoever leads; not more than are running
	woken   signal
	results chan event.Result
	overdue signal    // late has some
	begun   chan *due // calls to be made
	broker  *workers.Broker
}

// carried is a call that is being run here.
type carried struct {
	revision uint64
	cancel   context.CancelFunc // nil before the adapter is called
}

func newRunner(n *Node) *runner {
	return &runner{
		n: n, running: make(map[tools.Key]*carried), turns: newTurns(), woken: newSignal(),
		results: make(chan event.Result, resultBatch), overdue: newSignal(), begun: make(chan *due),
		broker: workers.New(),
	}
}

// maxQueue bounds what is remembered of new calls; beyond it, and while this
// node does not lead, the outbox itself is the queue.
const maxQueue = 1 << 16

// requested is told by the FSM of calls that entered the outbox.
func (r *runner) requested(keys []tools.Key) {
	r.mu.Lock()
	if len(r.queue)+len(keys) <= maxQueue {
		r.queue = append(r.queue, keys...)
	}
	r.mu.Unlock()
	r.woken.stir()
}

// take hands over what is queued.
func (r *runner) take() []tools.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := r.queue
	r.queue = nil
	return keys
}

// lead works until the term is over. Results that come later are handed to
// whoever leads then.
func (r *runner) lead(ctx context.Context, term uint64) {
	r.take()
	r.mu.Lock()
	r.turns.reset()
	r.mu.Unlock()
	work := make(chan *tools.Call)
	jobs, ctx := supervise.NewGroup(ctx)
	for range runnerWorkers {
		jobs.Go(func() {
			for call := range work {
				r.carry(ctx, call, term)
			}
		})
	}
	jobs.Go(func() { r.propose(ctx, jobs) })
	jobs.Go(func() { r.sweep(ctx) })
	r.broker.Open(term)
	defer r.broker.Shut()
	jobs.Go(func() { r.keepLent(ctx) })
	jobs.Go(func() {
		defer close(work)
		r.feed(ctx, work)
	})
	jobs.Wait()
	r.take()
	r.drain()
	r.n.config.Tools.Keep(func(uint64) bool { return false })
}

// drain hands results on that were ready when the term ended.
func (r *runner) drain() {
	for {
		select {
		case out := <-r.results:
			r.later(out)
		default:
			return
		}
	}
}

// feed gives the workers every call of the outbox once: first all that is
// there, then what is new. From time to time it looks at the whole again, for
// what did not fit the queue, and for what was left while the kernel was suspended.
func (r *runner) feed(ctx context.Context, work chan<- *tools.Call) {
	rescan := time.NewTicker(time.Second)
	defer rescan.Stop()
	give := func(call *tools.Call) bool {
		if r.lend(ctx, call) {
			return true
		}
		if call.Dispatched != 0 || r.suspended() || !r.claim(call) {
			return true
		}
		select {
		case work <- call:
			return true
		case <-ctx.Done():
			r.release(call.Key)
			return false
		}
	}
	all := func() { r.n.fsm.State().Tools.All(give) }
	all()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rescan.C:
			all()
		case <-r.woken:
			state := r.n.fsm.State()
			for _, key := range r.take() {
				if call, ok := state.Tools.Get(key); ok && !give(call) {
					return
				}
			}
		}
	}
}

// suspended reports whether the kernel is, as far as this node has applied: then
// no call begins, and those that are under way end (NO-2).
func (r *runner) suspended() bool { return r.n.fsm.State().Estop.Suspended() }

// claim marks a call as being run here; false when it already is, waits until
// another one of its tool ends, or is a person's to answer.
func (r *runner) claim(call *tools.Call) bool {
	var most uint32
	if call.Revision != 0 {
		revision, ok := r.n.fsm.State().Tools.Revision(call.Revision)
		if !ok {
			return false // the call is over
		}
		if revision.Manifest.Adapter == tools.Human {
			return false // nobody makes it: a person answers (TO-12)
		}
		most = revision.Manifest.Concurrency
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, busy := r.running[call.Key]; busy {
		return false
	}
	if call.Revision != 0 && !r.turns.take(call.Revision, call.Key, most) {
		return false
	}
	r.running[call.Key] = &carried{revision: call.Revision}
	return true
}

func (r *runner) release(key tools.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	over, ok := r.running[key]
	if !ok {
		return
	}
	delete(r.running, key)
	if over.revision == 0 {
		return
	}
	if next, waits := r.turns.give(over.revision); waits {
		r.queue = append(r.queue, next)
		r.woken.stir()
	}
}

// carry runs a call, and lets go of it if that panics: whoever runs calls next may
// take it up, if it was not dispatched.
func (r *runner) carry(ctx context.Context, call *tools.Call, term uint64) {
	panicked := true
	defer func() {
		if panicked {
			r.release(call.Key)
		}
	}()
	r.run(ctx, call, term)
	panicked = false
}

// run carries one call out, from its dispatch to its result.
func (r *runner) run(ctx context.Context, call *tools.Call, term uint64) {
	left := time.Duration(call.Deadline-r.n.fsm.State().Clock)*time.Millisecond - r.grace()
	if left <= 0 {
		// A failover took longer than the call had: it is not made any more, and
		// that is certain, where a dispatch would make it unknown.
		r.later(event.Result{
			Agent: call.Key.Agent, Tick: call.Key.Tick, Call: call.Key.Call, Code: string(failure.ToolTimeout),
			Message: "the call's time was over before it was made: it did not happen",
		})
		return
	}
	if r.suspended() {
		r.release(call.Key)
		return
	}
	switch may, instead := r.mayCall(ctx, call, term); {
	case instead != nil:
		r.later(*instead)
		return
	case !may:
		r.release(call.Key)
		return
	}
	d := &due{call: call, left: left, term: ctx, made: make(chan event.Result)}
	if call.Revision != 0 {
		revision, ok := r.n.fsm.State().Tools.Revision(call.Revision)
		if !ok { // the call was withdrawn, and nobody else needed the revision
			r.release(call.Key)
			return
		}
		d.manifest = revision.Manifest
	}
	r.carryOut(ctx, d)
}

func (r *runner) grace() time.Duration {
	return time.Duration(r.n.fsm.State().Config.CallGraceMillis) * time.Millisecond
}

// idempotencyKey names the call for ever, to the adapter too (TO-4).
func (r *runner) idempotencyKey(call *tools.Call) string {
	id := r.n.fsm.State().Agents.Get(call.Key.Agent).Identity.ID
	return fmt.Sprintf("%s-%d-%d", flows.FormatID(id), call.Key.Tick, call.Key.Call)
}

// propose commits results, together where several are there, as jobs of the term.
func (r *runner) propose(ctx context.Context, jobs *supervise.Group) {
	for {
		var batch []event.Result
		select {
		case <-ctx.Done():
			return
		case first := <-r.results:
			batch = append(batch, first)
		}
	more:
		for len(batch) < resultBatch {
			select {
			case next := <-r.results:
				batch = append(batch, next)
			default:
				break more
			}
		}
		jobs.Go(func() { r.commit(ctx, batch) })
	}
}

// commit proposes results. Those that were not taken, or of which a panic leaves it
// open, are handed on.
func (r *runner) commit(ctx context.Context, batch []event.Result) {
	taken := make([]bool, len(batch))
	defer func() {
		for i := range batch {
			if taken[i] {
				r.release(keyOf(batch[i]))
			} else {
				r.later(batch[i])
			}
		}
	}()
	events := make([]event.Event, len(batch))
	for i := range batch {
		events[i] = r.eventOf(batch[i])
	}
	for i, answer := range r.n.ProposeAll(ctx, events) {
		taken[i] = answer.Verdict == Applied
	}
}

func keyOf(out event.Result) tools.Key {
	return tools.Key{Agent: out.Agent, Tick: out.Tick, Call: out.Call}
}

func (r *runner) eventOf(out event.Result) event.Event {
	return event.Event{Kind: event.ToolResult, Principal: "node:" + r.n.config.NodeID, Body: event.Encode(out)}
}

// sweep cancels adapters whose calls the kernel has resolved without them, and lets
// go of those that no call needs any more.
func (r *runner) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, sweepEvery)
		state := r.n.fsm.State()
		r.mu.Lock()
		for key, call := range r.running {
			if _, pending := state.Tools.Get(key); !pending && call.cancel != nil {
				call.cancel()
			}
		}
		r.mu.Unlock()
		r.n.config.Tools.Keep(func(revision uint64) bool {
			_, needed := state.Tools.Revision(revision)
			return needed
		})
	}
}

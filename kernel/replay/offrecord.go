package replay

import (
	"bytes"
	"slices"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// maxEmitted bounds how many emitted values of a tick are kept on each side.
const maxEmitted = 64

// offRecord is one tick that goes another way than the log says, and what the log
// says of it.
type offRecord struct {
	no      uint32
	slice   *kernel.Slice
	tick    uint64
	began   uint64 // busSeq at which the record was left
	changed []execution.Answer

	// As recorded: what was asked for, before the record was left too where it
	// was asked for again, and answered; how the tick ended.
	asked     map[uint32]execution.Request
	answers   map[uint32]execution.Answer
	decisions []execution.Decision
	emitted   []value.Raw
	outcome   *Outcome

	// As it goes now.
	made    map[uint32]execution.Request
	decided int // decisions made
	showed  []value.Raw
	came    *Outcome
	clock   int64        // the kernel's, as recorded
	above   failure.Code // what the agents above say at the moment, as recorded
	steps   uint64
	used    uint64 // recorded answers
	given   []execution.Answer

	ended string // why nothing more can be known
	never *RequestPair
	batch bus.Batch
}

// over reports that everything is known that can be.
func (o *offRecord) over() bool { return o.ended != "" }

// recorded takes in what the log says next; of is the agent as recorded, before
// that.
func (o *offRecord) recorded(r *logging.Record, rest logging.Records, of *kernel.Slice) {
	kind := bus.Kind(r.Kind)
	o.clock = of.State().Clock
	switch {
	case kind == bus.TokenRevoked:
		o.around(r)
		return
	case r.Tick != o.tick:
		return
	}
	switch kind {
	case bus.TickStarted:
		o.above = ""
		if of.Row().Delegation.Parent != 0 {
			o.above = voided(rest)
		}
		o.advance(r.Seq, true, false)
	case bus.TickPendingTool, bus.TickPendingDelegation:
		if b, ok := execution.DecodePending(r.Body); ok {
			for i := range b.Requests {
				asked := b.Requests[i]
				asked.Args = bytes.Clone(asked.Args) // the block is the reader's
				o.asked[b.First+uint32(i)] = asked
			}
			if b.Decision != nil {
				o.decisions = append(o.decisions, *b.Decision)
			}
		}
	case bus.ResultDelivered:
		if b, ok := execution.DecodeDelivered(r.Body); ok {
			b.Answer.Value = bytes.Clone(b.Answer.Value)
			o.answers[b.Answer.Call] = b.Answer
			o.advance(r.Seq, false, false)
		}
	case bus.Emitted:
		if b, ok := execution.DecodeEmitted(r.Body); ok && len(o.emitted) < maxEmitted {
			o.emitted = append(o.emitted, bytes.Clone(b.Value))
		}
	case bus.EventDelivered, bus.DelegationAccepted, bus.DelegationOver:
		o.advance(r.Seq, false, false)
		if current := o.slice.Row().Execution.Current; !o.over() && current != nil && current.Phase == execution.Pending {
			o.around(r)
		}
	case bus.TickRestored:
		o.restored(r)
	case bus.TickCompleted, bus.TickFailed:
		o.exit(r, of)
	}
}

// around takes in what happened around the tick, as it happened on the record: to
// its token, and to the children that it waits for.
func (o *offRecord) around(r *logging.Record) {
	if o.slice.Take(r) != nil {
		o.stop("what happened around it does not fit what it did")
	}
}

// exit is how the tick ended on the record, for now. A failure that came from
// outside ends what waits now, too.
func (o *offRecord) exit(r *logging.Record, of *kernel.Slice) {
	if b, ok := execution.DecodeCompleted(r.Body); ok && bus.Kind(r.Kind) == bus.TickCompleted {
		o.outcome = &Outcome{OK: true, Steps: b.Steps, Value: bytes.Clone(b.Value)}
	} else if b, ok := execution.DecodeFailed(r.Body); ok {
		o.outcome = &Outcome{Steps: b.Steps, Failure: b.Failure}
		outside := of.Row().Execution.Current == nil || of.Row().Execution.Current.Phase != execution.Running
		o.advance(r.Seq, false, false)
		if current := o.slice.Row().Execution.Current; outside && current != nil && !o.over() {
			o.came = &Outcome{Steps: current.Steps, Failure: b.Failure}
			o.apply(r.Seq, bus.Record{Kind: bus.TickFailed, Agent: o.no, Tick: o.tick, Body: b})
		}
		if b.Failure.Class() == failure.Transient && (o.came == nil || o.came.Failure.Class() == failure.Transient) {
			return // it may be recovered: wait for what comes
		}
	}
	o.end(r.Seq)
}

// restored puts the tick back, if it failed as it did on the record.
func (o *offRecord) restored(r *logging.Record) {
	current := o.slice.Row().Execution.Current
	if o.outcome == nil || o.came == nil || current == nil || current.Phase != execution.Failed {
		o.end(r.Seq)
		return
	}
	o.outcome, o.came = nil, nil
	o.apply(r.Seq, bus.Record{Kind: bus.TickRestored, Agent: o.no, Tick: o.tick, Body: execution.Empty{}})
}

// end is where the record of the tick ends: what can go on by itself does.
func (o *offRecord) end(seq uint64) {
	o.advance(seq, o.outcome != nil, true)
	switch {
	case o.over():
	case o.outcome == nil && o.came == nil:
		o.stop("the tick had not ended where the history does")
	default:
		o.stop("the tick ended")
	}
}

func (o *offRecord) stop(why string) {
	if o.ended == "" {
		o.ended = why
	}
}

// advance goes on as far as the record has what it takes: answers, and, where
// run says so, the moment for a run. With last nothing more will come.
func (o *offRecord) advance(seq uint64, run, last bool) {
	for !o.over() && o.came == nil {
		current := o.slice.Row().Execution.Current
		switch {
		case run && current != nil && (current.Phase == execution.Answered || current.Phase == execution.Restored):
			o.run(seq)
			run = last
		case current != nil && current.Phase == execution.Pending:
			if !o.answer(seq, current, last) {
				return
			}
		default:
			return
		}
	}
}

// answer gives the tick the recorded answers of calls that it makes as it did.
// It reports whether the tick can go on.
func (o *offRecord) answer(seq uint64, current *execution.Tick, last bool) bool {
	if !o.decisionHolds(last) {
		return false
	}
	var ready []execution.Answer
	for i := range current.Waits {
		if current.Waits[i].Answer != nil {
			continue
		}
		call := current.First + uint32(i)
		answer, known := o.answerOf(call, last)
		if !known {
			return false
		}
		ready = append(ready, answer)
	}
	for i := range ready {
		o.apply(seq, bus.Record{Kind: bus.ResultDelivered, Agent: o.no, Tick: o.tick, Body: &execution.DeliveredBody{Answer: ready[i]}})
	}
	return true
}

// answerOf finds the answer to a call: the change's, or the recorded one, if the
// call is the recorded one.
func (o *offRecord) answerOf(call uint32, last bool) (execution.Answer, bool) {
	if made, off := o.made[call]; off {
		asked, known := o.asked[call]
		switch {
		case known && !sameRequest(&asked, &made):
			o.never = &RequestPair{Call: call, Recorded: &asked, Replayed: &made}
			o.stop("the first call that was never made")
			return execution.Answer{}, false
		case !known && last:
			o.never = &RequestPair{Call: call, Replayed: &made}
			o.stop("the first call that was never made")
			return execution.Answer{}, false
		case !known:
			return execution.Answer{}, false
		}
	}
	recorded, known := o.answers[call]
	if i := slices.IndexFunc(o.changed, func(a execution.Answer) bool { return a.Call == call }); i >= 0 {
		if !known && !last {
			return execution.Answer{}, false // when it was answered on the record
		}
		o.given = append(o.given, o.changed[i])
		return o.changed[i], true
	}
	if !known {
		if last {
			o.stop("the record has no answer to a call that waits")
		}
		return execution.Answer{}, false
	}
	if _, off := o.made[call]; off {
		o.used++
	}
	return recorded, true
}

func sameRequest(a, b *execution.Request) bool {
	return a.Tool == b.Tool && a.Timeout == b.Timeout && bytes.Equal(a.Args, b.Args)
}

// decisionHolds reports that the tick's handler decided as it did.
func (o *offRecord) decisionHolds(last bool) bool {
	decided := o.slice.Row().Execution.Current
	if o.decided == 0 || decided == nil {
		return true
	}
	if o.decided > len(o.decisions) {
		if last {
			o.stop("its handler decides what nobody asked it on the record")
		}
		return false
	}
	return true
}

// run evaluates one run, as if its first record had that busSeq.
func (o *offRecord) run(seq uint64) {
	o.activate(seq)
	o.batch.Reset()
	view := o.slice.View(seq)
	now := *view.State
	now.Clock = o.clock
	view.State, view.Above = &now, o.above
	flows.Tick(view, o.no, &o.batch)
	for _, r := range o.batch.Records() {
		switch b := r.Body.(type) {
		case execution.StepBody:
			o.steps++
		case *execution.EmittedBody:
			if len(o.showed) < maxEmitted {
				o.showed = append(o.showed, bytes.Clone(b.Value))
			}
		case *execution.PendingBody:
			for i := range b.Requests {
				o.made[b.First+uint32(i)] = b.Requests[i]
			}
			o.decide(b.Decision)
		case *execution.CompletedBody:
			o.came = &Outcome{OK: true, Steps: b.Steps, Value: b.Value}
		case *execution.FailedBody:
			o.came = &Outcome{Steps: b.Steps, Failure: b.Failure}
		}
		o.apply(seq, r)
	}
	exit := exitOf(o.batch.Records())
	var room bus.Batch
	if demanded, ok := flows.Demanded(o.slice.View(seq), exit, &room); ok {
		o.apply(seq, demanded)
	}
}

// decide compares what a handler said with the record, as far as that goes.
func (o *offRecord) decide(d *execution.Decision) {
	if d == nil {
		return
	}
	o.decided++
	if o.decided <= len(o.decisions) {
		if recorded := o.decisions[o.decided-1]; recorded.Escalation != d.Escalation || recorded.Approve != d.Approve {
			o.stop("its handler decides otherwise")
		}
	}
}

// activate takes the agent, by rows of the table, to where its tick may run: what
// took it there on the record did so for its own reasons.
func (o *offRecord) activate(seq uint64) {
	for range lifecycle.States {
		e := lifecycle.Event{From: o.slice.Row().Lifecycle.State}
		switch e.From {
		case lifecycle.Spawned:
			e.Trigger, e.Caller = lifecycle.Activate, lifecycle.Kernel
		case lifecycle.Waiting:
			e.Trigger, e.Caller = lifecycle.Resume, lifecycle.Scheduler
		case lifecycle.Resumable:
			e.Trigger, e.Caller = lifecycle.Resume, lifecycle.Kernel
		case lifecycle.Faulted:
			e.Trigger, e.Caller = lifecycle.Recover, lifecycle.FailureHandler
		case lifecycle.Recovering:
			e.Trigger, e.Caller = lifecycle.RecoverySuccess, lifecycle.Kernel
		default:
			return
		}
		e.To, _ = lifecycle.Decide(e.From, e.Trigger, e.Caller)
		o.apply(seq, bus.Record{Kind: bus.Lifecycle, Agent: o.no, Tick: o.tick, Body: &e})
	}
}

func (o *offRecord) apply(seq uint64, r bus.Record) {
	if o.slice.Apply(seq, r) != nil {
		o.stop("what it came to does not fit")
	}
}

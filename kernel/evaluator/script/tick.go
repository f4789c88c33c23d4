package script

import (
	"math"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// tick is a running tick: what is kept between the runs of its script. One
// Step is one run, over all that is kept and on to the next call.
type tick struct {
	program *program
	ctx     evaluator.Context
	ended   bool

	maxValue uint32
	maxStore int

	total      uint64 // steps of all runs so far
	main       scope
	handler    *scope    // of the decision at hand
	escalation value.Raw // what it decides

	// answer, where a test sets it, answers calls at once: a straight pass.
	answer func([]evaluator.Call) []evaluator.Answer
}

// Start begins a tick.
func (p *program) Start(ctx evaluator.Context) evaluator.Tick { return newTick(p, ctx) }

func newTick(p *program, ctx evaluator.Context) *tick {
	t := &tick{program: p, ctx: ctx, maxValue: ctx.MaxValueBytes, maxStore: int(ctx.MaxCheckpointBytes)}
	if t.maxValue == 0 {
		t.maxValue = defaultMaxValueBytes
	}
	if t.maxStore == 0 {
		t.maxStore = defaultMaxCheckpointBytes
	}
	return t
}

// Resume restores the tick that a checkpoint describes, and takes what is
// delivered.
func (p *program) Resume(ctx evaluator.Context, checkpoint []byte, delivery *evaluator.Delivery) (running evaluator.Tick, fail *failure.Failure) {
	defer func() {
		if recover() != nil {
			running, fail = nil, badCheckpoint("the checkpoint is not one that this script can have written")
		}
	}()
	t := newTick(p, ctx)
	switch {
	case !t.restore(checkpoint):
		return nil, badCheckpoint("the checkpoint is not one that this script can have written")
	case !t.accept(delivery):
		return nil, badCheckpoint("what was delivered does not fit the call that waits")
	}
	return t, nil
}

func badCheckpoint(message string) *failure.Failure {
	return &failure.Failure{Code: failure.CheckpointInvalid, Message: message}
}

// accept takes what the tick is resumed with; false if it does not fit what
// waits.
func (t *tick) accept(d *evaluator.Delivery) bool {
	waiting := t.waiting()
	switch {
	case d == nil:
		return true
	case d.Escalation != nil:
		member, _ := d.Escalation.Get("escalation")
		number, ok := member.Int()
		if !ok || number < 0 || len(d.Answers) > 0 || t.handler != nil || !t.main.decides {
			return false
		}
		t.handler, t.escalation = new(scope), d.Escalation
		return true
	case len(d.Answers) != int(waiting.count):
		return false
	}
	waiting.keep(d.Answers)
	return true
}

// waiting is where the call stands that the tick waits for.
func (t *tick) waiting() *scope {
	if t.handler != nil {
		return t.handler
	}
	return &t.main
}

// At is the run at hand: its number is that of the calls it has behind it.
func (t *tick) At() evaluator.Position {
	n := len(t.main.kept)
	if t.handler != nil {
		n += len(t.handler.kept)
	}
	return evaluator.Position{Node: uint32(n), Kind: "SCRIPT"}
}

// Step runs the script.
func (t *tick) Step() (result evaluator.Result) {
	if t.ended {
		return evaluator.Result{Kind: evaluator.Failed, Failure: &failure.Failure{Code: failure.InvalidState, Message: "the tick has ended"}}
	}
	r := t.newRun()
	defer func() {
		if recover() != nil { // EX-11
			result = r.failed(&failure.Failure{Code: failure.EvalPanic, Message: "running the script panicked"})
		}
		t.total += r.steps()
		result.Emits = r.emitted
		result.Work = work(r)
		t.ended = result.Kind != evaluator.NeedsTool && result.Kind != evaluator.NeedsDecision
	}()
	return r.result(r.execute())
}

// work is what a run cost in work units.
func work(r *run) uint32 {
	return uint32(min((r.steps()+uint64(r.values)/16)/stepsPerWork, math.MaxUint32))
}

package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Tick runs the tick of the agent at the head of the global queue, to its one
// exit (EX-1; execution-loop.md section 4). What it changes is in the records.
// It returns the work that the evaluation took, in work units.
func Tick(v View, agent uint32, out *bus.Batch) (work uint64) {
	run := tickRun{v: v, t: Target{agent, v.Agents.Get(agent)}, out: out, bodies: new(tickBodies)}
	row := &run.t.Row.Execution
	permit := lifecycle.PermitOf(run.t.Row.Lifecycle.State, lifecycle.TickEngine)
	run.teardown = permit == lifecycle.TeardownOnly && run.t.Row.Identity.Teardown != 0
	if permit != lifecycle.Allowed && !run.teardown {
		// EX-5: the state does not change, and neither does the tick.
		run.leave(row)
		run.fail(&failure.Failure{Code: failure.InvalidState, Message: "the tick came up while the agent was " + run.t.Row.Lifecycle.State.String()})
		return 0
	}
	code, void := v.void(agent)
	if void && !run.teardown && row.Current == nil && len(row.Queue) == 0 {
		run.leave(row) // nothing to run: it came up to fail (LC-10)
		run.fail(voided(code))
		return 0
	}
	run.enter(row)
	run.bodies.started = execution.StartedBody{Program: run.program, Run: run.entry, BusSeqAt: v.Seq, Teardown: run.teardown}
	run.add(bus.TickStarted, 0, &run.bodies.started)
	if void && !run.teardown {
		run.fail(voided(code))
		return 0
	}
	if run.t.Row.Logged.Exceeded && !run.teardown {
		f := logExceeded
		run.fail(&f)
		return 0
	}
	run.evaluate(row)
	return run.work
}

// leave gives the place in the global queue back without a tick.
func (r *tickRun) leave(row *execution.Row) {
	r.seq = r.v.tickOf(r.t) // none, if it was between ticks
	r.out.Add(bus.Record{Kind: bus.TickFrozen, Agent: r.t.No, Body: &execution.PlaceBody{Place: row.Place}})
}

// tickRun is one run of a tick, first or continuation.
type tickRun struct {
	v   View
	t   Target
	out *bus.Batch

	seq      uint64 // tickSeq
	teardown bool   // the agent's last tick (LC-5)
	program  uint32
	input    value.Raw
	entry    uint32 // 1, and one more per continuation
	steps    uint32 // over all runs of the tick (EX-3)
	calls    uint32
	work     uint64
	bodies   *tickBodies
}

// tickBodies is the bodies of a run that ends as most do, allocated together.
type tickBodies struct {
	started   execution.StartedBody
	completed execution.CompletedBody
	pending   execution.PendingBody
	request   [1]execution.Request // of pending, mostly
}

// typicalCheckpoint is where a checkpoint begins, in bytes: enough for most.
const typicalCheckpoint = 192

func (r *tickRun) enter(row *execution.Row) {
	if tick := row.Current; tick != nil {
		r.seq, r.program, r.input, r.entry, r.steps, r.calls = tick.Seq, tick.Program, tick.Input, tick.Runs+1, tick.Steps, tick.Calls
		return
	}
	if r.teardown {
		r.seq, r.program, r.input, r.entry = row.LastTick+1, r.t.Row.Identity.Teardown, value.Null, 1
		return
	}
	head := &row.Queue[0]
	r.seq, r.program, r.input, r.entry = row.LastTick+1, head.Program, head.Input, 1
}

// open gives the ephemeral store: initialised or restored, never both (EX-8).
func (r *tickRun) open(row *execution.Row) (evaluator.Tick, *failure.Failure) {
	program, ok := r.v.Compiled.Program(r.program)
	if !ok {
		return nil, &failure.Failure{Code: failure.CheckpointInvalid, Message: "the tick's program is not there"}
	}
	ctx := r.context()
	tick := row.Current
	if tick != nil {
		r.work += uint64(len(tick.Checkpoint)) / 64 // restoring is work too (EV-12)
	}
	switch {
	case tick == nil || tick.Checkpoint == nil:
		return program.Start(ctx), nil
	case len(tick.Event) > 0:
		return program.Resume(ctx, tick.Checkpoint, &evaluator.Delivery{Escalation: tick.Event})
	case len(tick.Waits) == 0:
		return program.Resume(ctx, tick.Checkpoint, nil)
	}
	if len(tick.Waits) == 1 {
		var one struct { // one allocation for both
			delivery evaluator.Delivery
			answer   [1]evaluator.Answer
		}
		one.answer[0] = answerOf(&tick.Waits[0])
		one.delivery.Answers = one.answer[:]
		return program.Resume(ctx, tick.Checkpoint, &one.delivery)
	}
	answers := make([]evaluator.Answer, len(tick.Waits))
	for i := range tick.Waits {
		answers[i] = answerOf(&tick.Waits[i])
	}
	return program.Resume(ctx, tick.Checkpoint, &evaluator.Delivery{Answers: answers})
}

func answerOf(w *execution.Wait) evaluator.Answer {
	return evaluator.Answer{OK: w.Answer.OK, Value: w.Answer.Value, Code: w.Answer.Code, Message: w.Answer.Message}
}

func (r *tickRun) context() evaluator.Context {
	id := &r.t.Row.Identity
	env := value.Raw(r.v.Interned.Body(id.Env))
	if env == nil {
		env = value.EmptyMap
	}
	return evaluator.Context{
		AgentID: FormatID(id.ID), AgentName: id.Name, TickSeq: r.seq, BusSeqAt: r.v.Seq,
		Input: r.input, Env: env,
		MaxValueBytes: r.v.Config.MaxValueBytes, MaxCheckpointBytes: r.v.Config.MaxCheckpointBytes,
	}
}

// evaluate takes the run to its one exit. A panic in an evaluator is that
// tick's failure, on every replica (EX-11).
func (r *tickRun) evaluate(row *execution.Row) {
	defer func() {
		if recover() != nil {
			r.fail(&failure.Failure{Code: failure.EvalPanic, Message: "the evaluator panicked"})
		}
	}()
	tick, f := r.open(row)
	if f != nil {
		r.fail(f)
		return
	}
	r.loop(tick)
}

// loop is execution-loop.md section 4, step 3: at most maxStepsPerTick steps,
// each recorded before it is evaluated (EX-6, EX-7).
func (r *tickRun) loop(tick evaluator.Tick) {
	limits := r.v.Config
	for r.steps < limits.MaxStepsPerTick {
		r.steps++
		r.add(bus.Step, r.steps, execution.StepBody{Node: tick.At().Node})
		result := tick.Step()
		r.work += 1 + uint64(result.Work)
		for _, emitted := range result.Emits {
			r.add(bus.Emitted, r.steps, &execution.EmittedBody{Value: emitted})
		}
		switch {
		case result.Kind == evaluator.NextInstruction && r.work > limits.MaxWorkPerTick:
			r.fail(&failure.Failure{Code: failure.WorkExceeded, Message: "the tick took more work than max_work_per_tick allows"})
			return
		case result.Kind == evaluator.NextInstruction:
			continue
		case result.Kind == evaluator.PureValue:
			r.complete(&result)
		case result.Kind == evaluator.NeedsTool:
			r.pend(tick, result.Calls, nil)
		case result.Kind == evaluator.NeedsDecision:
			r.pend(tick, nil, result.Decision)
		default:
			r.fail(ending(result.Failure))
		}
		return
	}
	r.add(bus.TickOverflow, 0, &execution.OverflowBody{Steps: r.steps})
	r.fail(&failure.Failure{Code: failure.TickOverflow, Message: "the tick took more steps than max_steps_per_tick allows"})
}

// complete ends the tick with its value. A program that goes on anew is queued
// again, behind what was submitted meanwhile: what it held of its program goes
// over to the new instruction. The last tick of an agent has nothing behind it.
func (r *tickRun) complete(result *evaluator.Result) {
	again := result.Again != nil && !r.teardown
	if again {
		r.add(bus.InstructionQueued, 0, &execution.InstructionBody{Program: r.program, Input: result.Again})
	}
	r.bodies.completed = execution.CompletedBody{Steps: r.steps, Value: result.Value, Again: again}
	r.add(bus.TickCompleted, 0, &r.bodies.completed)
	if !again {
		r.release()
	}
}

// ending makes sure that an evaluator's failure has a class, whoever wrote the
// evaluator: without one the tick would stay open for ever.
func ending(f *failure.Failure) *failure.Failure {
	if f == nil || f.Class() == failure.Unclassified {
		return &failure.Failure{Code: failure.EvalFailure, Message: "the evaluator failed without a failure that ends a tick"}
	}
	return f
}

// pend leaves the tick with requests, or to wait again for those that it made;
// the gate judges them as a reaction.
func (r *tickRun) pend(tick evaluator.Tick, calls []evaluator.Call, decision *evaluator.Decision) {
	if r.calls+uint32(len(calls)) > r.v.Config.MaxCallsPerTick {
		r.fail(&failure.Failure{Code: failure.CallOverflow, Message: "the tick made more calls than max_calls_per_tick allows"})
		return
	}
	checkpoint := tick.AppendCheckpoint(make([]byte, 0, typicalCheckpoint))
	if uint32(len(checkpoint)) > r.v.Config.MaxCheckpointBytes {
		r.fail(&failure.Failure{Code: failure.ValueTooLarge, Message: "the tick's variables are larger than max_checkpoint_bytes"})
		return
	}
	kind, body := bus.TickPendingTool, &r.bodies.pending
	*body = execution.PendingBody{Steps: r.steps, First: r.calls + 1, Checkpoint: checkpoint}
	if decision != nil {
		open, ok := r.v.Delegation.Newest(r.t.No, r.seq)
		if !ok {
			r.fail(&failure.Failure{Code: failure.CheckpointInvalid, Message: "the tick waits for children that it does not have"})
			return
		}
		kind, body.First = bus.TickPendingDelegation, open.Call
		body.Decision = &execution.Decision{Escalation: decision.Escalation, Approve: decision.Approve, Reason: decision.Reason}
	} else {
		body.Requests = r.bodies.request[:]
		if len(calls) > 1 {
			body.Requests = make([]execution.Request, len(calls))
		}
		for i := range calls {
			body.Requests[i] = execution.Request{Tool: calls[i].Tool, Args: calls[i].Args, Timeout: calls[i].TimeoutMillis}
			if calls[i].Tool == execution.Delegate {
				kind = bus.TickPendingDelegation
			}
		}
	}
	r.add(kind, 0, body)
}

func (r *tickRun) fail(f *failure.Failure) {
	r.add(bus.TickFailed, 0, &execution.FailedBody{Steps: r.steps, Failure: *f})
	if f.Class() == failure.PolicyViolation && r.program != 0 {
		r.release()
	}
}

// release gives the submitted program back once its tick is over for good.
func (r *tickRun) release() {
	if r.program != r.t.Row.Identity.Program && !r.teardown {
		r.add(bus.Released, 0, &interning.Lost{Numbers: []uint32{r.program}})
	}
}

func (r *tickRun) add(kind bus.Kind, step uint32, body bus.Body) {
	r.out.Add(bus.Record{Kind: kind, Agent: r.t.No, Tick: r.seq, Step: step, Body: body})
}

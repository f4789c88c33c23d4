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
	run := tickRun{v: v, t: Target{agent, v.Agents.Get(agent)}, out: out}
	row := &run.t.Row.Execution
	if lifecycle.PermitOf(run.t.Row.Lifecycle.State, lifecycle.TickEngine) != lifecycle.Allowed {
		// EX-5: the state does not change, and neither does the tick.
		out.Add(bus.Record{Kind: bus.TickFrozen, Agent: agent, Body: &execution.PlaceBody{Place: row.Place}})
		run.seq = row.LastTick
		run.fail(&failure.Failure{Code: failure.InvalidState, Message: "the tick came up while the agent was " + run.t.Row.Lifecycle.State.String()})
		return 0
	}
	run.enter(row)
	run.add(bus.TickStarted, 0, &execution.StartedBody{Program: run.program, Run: run.entry, BusSeqAt: v.Seq})
	run.evaluate(row)
	return run.work
}

// tickRun is one run of a tick, first or continuation.
type tickRun struct {
	v   View
	t   Target
	out *bus.Batch

	seq     uint64 // tickSeq
	program uint32
	input   value.Raw
	entry   uint32 // 1, and one more per continuation
	steps   uint32 // over all runs of the tick (EX-3)
	calls   uint32
	work    uint64
}

func (r *tickRun) enter(row *execution.Row) {
	if tick := row.Current; tick != nil {
		r.seq, r.program, r.input, r.entry, r.steps, r.calls = tick.Seq, tick.Program, tick.Input, tick.Runs+1, tick.Steps, tick.Calls
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
	case tick.Answer == nil:
		return program.Resume(ctx, tick.Checkpoint, nil)
	}
	return program.Resume(ctx, tick.Checkpoint, &evaluator.Answer{
		OK: tick.Answer.OK, Value: tick.Answer.Value, Code: tick.Answer.Code, Message: tick.Answer.Message,
	})
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
		switch {
		case result.Kind == evaluator.NextInstruction && r.work > limits.MaxWorkPerTick:
			r.fail(&failure.Failure{Code: failure.WorkExceeded, Message: "the tick took more work than max_work_per_tick allows"})
			return
		case result.Kind == evaluator.NextInstruction:
			continue
		case result.Kind == evaluator.PureValue:
			r.add(bus.TickCompleted, 0, &execution.CompletedBody{Steps: r.steps, Value: result.Value})
			r.release()
		case result.Kind == evaluator.NeedsTool:
			r.pend(tick, result.Call)
		default:
			r.fail(ending(result.Failure))
		}
		return
	}
	r.add(bus.TickOverflow, 0, &execution.OverflowBody{Steps: r.steps})
	r.fail(&failure.Failure{Code: failure.TickOverflow, Message: "the tick took more steps than max_steps_per_tick allows"})
}

// ending makes sure that an evaluator's failure has a class, whoever wrote the
// evaluator: without one the tick would stay open for ever.
func ending(f *failure.Failure) *failure.Failure {
	if f == nil || f.Class() == failure.Unclassified {
		return &failure.Failure{Code: failure.EvalFailure, Message: "the evaluator failed without a failure that ends a tick"}
	}
	return f
}

// pend leaves the tick with a request; the gate judges it as a reaction.
func (r *tickRun) pend(tick evaluator.Tick, call *evaluator.Call) {
	if r.calls >= r.v.Config.MaxCallsPerTick {
		r.fail(&failure.Failure{Code: failure.CallOverflow, Message: "the tick made more calls than max_calls_per_tick allows"})
		return
	}
	checkpoint := tick.AppendCheckpoint(nil)
	if uint32(len(checkpoint)) > r.v.Config.MaxCheckpointBytes {
		r.fail(&failure.Failure{Code: failure.ValueTooLarge, Message: "the tick's variables are larger than max_checkpoint_bytes"})
		return
	}
	r.add(bus.TickPendingTool, 0, &execution.PendingBody{
		Steps: r.steps, Call: r.calls + 1, Tool: call.Tool, Args: call.Args, Timeout: call.TimeoutMillis, Checkpoint: checkpoint,
	})
}

func (r *tickRun) fail(f *failure.Failure) {
	r.add(bus.TickFailed, 0, &execution.FailedBody{Steps: r.steps, Failure: *f})
	if f.Class() == failure.PolicyViolation {
		r.release()
	}
}

// release gives the submitted program back once its tick is over for good.
func (r *tickRun) release() {
	if r.program != r.t.Row.Identity.Program {
		r.add(bus.Released, 0, &interning.Lost{Numbers: []uint32{r.program}})
	}
}

func (r *tickRun) add(kind bus.Kind, step uint32, body bus.Body) {
	r.out.Add(bus.Record{Kind: kind, Agent: r.t.No, Tick: r.seq, Step: step, Body: body})
}

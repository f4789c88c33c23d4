package script

import (
	"errors"
	"maps"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// run is one execution of a script, from its first line over what is kept to
// the next call or to its end: a new thread and fresh globals each time.
type run struct {
	*tick
	thread starlark.Thread
	meter  *expr.Meter
	limit  uint64 // steps of this run
	full   bool   // they are used up

	at      *scope // main's, or the handler's while it decides
	emitted []value.Raw
	bytes   int // of emitted
	values  int // bytes of values that came in or went out

	ended evaluator.Result // where the script stopped itself: for a call, a decision, again
}

// errStopped unwinds a script that has stopped itself; ended tells why.
var errStopped = errors.New("the script has stopped")

// problem is a failure on its way through the interpreter.
type problem struct{ *failure.Failure }

func (p problem) Error() string { return p.Message }

// raised makes an error of a failure.
func raised(f *failure.Failure) error {
	if f == nil {
		return nil
	}
	return problem{f}
}

// wrong is the failure of an operation that does not fit its operands.
func wrong(words string) error {
	return problem{&failure.Failure{Code: failure.EvalFailure, Message: failure.Clip(words)}}
}

// large is the failure of something beyond a bound.
func large(words string) error {
	return problem{&failure.Failure{Code: failure.ValueTooLarge, Message: failure.Clip(words)}}
}

// local is under which name a thread knows its run.
const local = "run"

func (t *tick) newRun() *run {
	r := &run{tick: t, limit: MaxSteps, at: &t.main}
	r.limit = min(r.limit, MaxTotalSteps-min(t.total, MaxTotalSteps))
	r.meter = expr.NewMeterFor("the script", uint32(r.limit), MaxMemory, MaxValueBytes)
	r.thread.SetLocal(local, r)
	r.thread.OnMaxSteps = func(thread *starlark.Thread) {
		r.full = true
		thread.Cancel(local)
	}
	r.settle()
	return r
}

// settle lets the interpreter stop where its steps and the builtins' together
// are as many as there may be.
func (r *run) settle() {
	r.thread.SetMaxExecutionSteps(max(1, r.limit-min(r.limit, uint64(r.meter.Steps()))))
}

// steps are those of the run so far.
func (r *run) steps() uint64 { return r.thread.Steps + uint64(r.meter.Steps()) }

// runOf is the run that a thread belongs to, its meter ready for one more
// builtin.
func runOf(thread *starlark.Thread) *run {
	r := thread.Local(local).(*run)
	r.meter.SetMaxSteps(uint32(r.limit - min(r.limit, thread.Steps)))
	return r
}

// execute runs the script to where it ends or stops.
func (r *run) execute() (starlark.Value, error) {
	globals, err := r.program.code.Init(&r.thread, r.predeclared())
	if err != nil {
		return nil, err
	}
	var args starlark.Tuple
	if r.program.input {
		input, f := r.enter(orNull(r.ctx.Input))
		if f != nil {
			return nil, problem{f}
		}
		args = starlark.Tuple{input}
	}
	main, ok := globals["main"].(*starlark.Function)
	if !ok {
		return nil, wrong("main is no function any more")
	}
	return starlark.Call(&r.thread, main, args, nil)
}

func orNull(raw value.Raw) value.Raw {
	if raw == nil {
		return value.Null
	}
	return raw
}

// predeclared is what the script sees beside its own names.
func (r *run) predeclared() starlark.StringDict {
	if !r.program.uses.agent && !r.program.uses.env {
		return r.program.common
	}
	names := maps.Clone(r.program.common)
	agent := newDict(3)
	agent.put(starlark.String("id"), starlark.String(r.ctx.AgentID))
	agent.put(starlark.String("name"), starlark.String(r.ctx.AgentName))
	agent.put(starlark.String("tick_seq"), starlark.MakeUint64(r.ctx.TickSeq))
	agent.Freeze()
	names[nameAgent] = agent
	env := r.ctx.Env
	if env == nil {
		env = value.EmptyMap
	}
	names[nameEnv] = starlark.None
	if seen, f := r.enter(env); f == nil {
		names[nameEnv] = seen
	}
	return names
}

// result is how a run ended.
func (r *run) result(v starlark.Value, err error) evaluator.Result {
	switch {
	case err == nil && r.main.next < len(r.main.kept), err == nil && r.main.waits():
		return r.failed(diverged())
	case err == nil:
		raw, f := r.leave(v, r.maxValue, "what main returns")
		if f != nil {
			return r.failed(f)
		}
		return evaluator.Result{Kind: evaluator.PureValue, Value: raw}
	case errors.Is(err, errStopped):
		return r.ended
	}
	return r.failed(r.failureOf(err))
}

func (r *run) failed(f *failure.Failure) evaluator.Result {
	return evaluator.Result{Kind: evaluator.Failed, Failure: f}
}

package script

import (
	"strconv"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ending are the builtins that publish, fail, and begin anew.
func ending(all starlark.StringDict) {
	params(all, "emit", []string{"value"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
		return args[0], r.emit(args[0])
	})
	variadic(all, "print", 0, func(r *run, args []starlark.Value) (starlark.Value, error) {
		line, err := r.line(args)
		if err != nil {
			return nil, err
		}
		return starlark.None, r.emit(line)
	})
	params(all, "again", []string{"state"}, 0, func(r *run, args []starlark.Value) (starlark.Value, error) {
		if r.at != &r.main {
			return nil, wrong("a function that decides cannot begin the script anew")
		}
		state := args[0]
		if state == nil {
			state = starlark.None
		}
		raw, f := r.leave(state, r.maxValue, "the state")
		if f != nil {
			return nil, problem{f}
		}
		if r.main.next < len(r.main.kept) || r.main.waits() {
			return nil, problem{diverged()}
		}
		r.ended = evaluator.Result{Kind: evaluator.PureValue, Value: value.Null, Again: raw}
		return nil, errStopped
	})
	all["fail"] = starlark.NewBuiltin("fail", fail)
}

// line is values as text, with a space between.
func (r *run) line(args []starlark.Value) (starlark.Value, error) {
	var line starlark.Value = starlark.String("")
	for i, arg := range args {
		word, f := r.text(arg)
		if f == nil && i > 0 {
			line, f = r.binary(binaryOperators["+"], line, starlark.String(" "))
		}
		if f == nil {
			line, f = r.binary(binaryOperators["+"], line, word)
		}
		if f != nil {
			return nil, problem{f}
		}
	}
	return line, nil
}

// emit publishes a value, unless that was done before the call that the script
// is run again for.
func (r *run) emit(v starlark.Value) error {
	raw, f := r.leave(v, r.maxValue, "what is emitted")
	if f != nil {
		return problem{f}
	}
	if f := r.meter.Charge(callSteps); f != nil {
		return problem{f}
	}
	s := r.at
	if s.emits++; s.emits <= s.published {
		return nil
	}
	if r.bytes += len(raw); r.bytes > MaxEmitBytes || len(r.emitted) >= MaxEmits {
		return large("between two calls a script emits at most 1000 values of " + strconv.Itoa(MaxEmitBytes) + " bytes together")
	}
	r.emitted = append(r.emitted, raw)
	return nil
}

// fail is fail(words …, code=None): the script's own failure.
func fail(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := runOf(thread)
	defer r.settle()
	line, err := r.line(args)
	if err != nil {
		return nil, err
	}
	message := string(line.(starlark.String))
	for _, named := range kwargs {
		code, ok := named[1].(starlark.String)
		if named[0] != starlark.String("code") || !ok {
			return nil, wrong("fail takes words, and code, which is text")
		}
		message = string(code) + ": " + message
	}
	return nil, problem{&failure.Failure{Code: failure.ProgramFailed, Message: failure.Clip(message)}}
}

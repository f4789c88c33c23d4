package script

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Names that every script sees and that belong to its agent.
const (
	nameAgent   = "agent"
	nameEnv     = "env"
	nameNothing = "~nothing" // stands for a bound that a slice does not have
)

// Builtins that only the rewriter can name.
const (
	opMember  = ".member"
	opMethod  = ".method"
	opIndex   = "[]"
	opSlice   = "[:]"
	opItem    = "[]" // and = += … behind it
	opUnary   = "unary" + " "
	opDict    = "{}"
	opPairs   = "{for}"
	opList    = "[for]"
	opIterate = "for in"
	opSpread  = "spread "
	opRoom    = "room"
	opUnpack  = "a, b ="
)

// builtin is a function of the language. It charges the run's meter before it
// allocates, and before it does anything longer than a few instructions.
type builtin = func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure)

// builtins is all that a script can name beside what it defines itself.
var builtins = makeBuiltins()

func makeBuiltins() starlark.StringDict {
	all := starlark.StringDict{nameNothing: starlark.None}
	for _, group := range []func(starlark.StringDict){operators, accesses, functions, collections, asking} {
		group(all)
	}
	all.Freeze()
	return all
}

// define makes a builtin of exactly n arguments, without names.
func define(all starlark.StringDict, name string, n int, do builtin) {
	all[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != n || len(kwargs) > 0 {
			return nil, wrong(name + " takes " + counted(n, "argument"))
		}
		r := runOf(thread)
		v, f := do(r, args)
		r.settle()
		if f != nil {
			return nil, problem{f}
		}
		return v, nil
	})
}

// params makes a builtin whose parameters have names, the first required ones
// not optional. What is not given is nil.
func params(all starlark.StringDict, name string, names []string, required int, do func(r *run, args []starlark.Value) (starlark.Value, error)) {
	all[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		placed, err := place(name, names, required, args, kwargs)
		if err != nil {
			return nil, err
		}
		r := runOf(thread)
		v, err := do(r, placed)
		r.settle()
		return v, err
	})
}

// place puts arguments in the order of the parameters.
func place(name string, names []string, required int, args starlark.Tuple, kwargs []starlark.Tuple) ([]starlark.Value, error) {
	if len(args) > len(names) {
		return nil, wrong(name + " takes at most " + counted(len(names), "argument"))
	}
	placed := make([]starlark.Value, len(names))
	copy(placed, args)
	for _, named := range kwargs {
		word := string(named[0].(starlark.String))
		at := -1
		for i := range names {
			if names[i] == word {
				at = i
			}
		}
		switch {
		case at < 0:
			return nil, wrong(name + " has no parameter " + clipTo(word, 64))
		case placed[at] != nil:
			return nil, wrong(name + " got " + word + " twice")
		}
		placed[at] = named[1]
	}
	for i := range required {
		if placed[i] == nil {
			return nil, wrong(name + " needs " + names[i])
		}
	}
	return placed, nil
}

// variadic makes a builtin of any number of arguments from least on.
func variadic(all starlark.StringDict, name string, least int, do func(r *run, args []starlark.Value) (starlark.Value, error)) {
	all[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		switch {
		case len(kwargs) > 0:
			return nil, wrong(name + " has no parameter " + clipTo(string(kwargs[0][0].(starlark.String)), 64))
		case len(args) < least:
			return nil, wrong(name + " takes at least " + counted(least, "argument"))
		}
		r := runOf(thread)
		v, err := do(r, args)
		r.settle()
		return v, err
	})
}

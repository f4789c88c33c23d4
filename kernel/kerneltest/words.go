package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Words is an evaluator of the tests' own (EX-9), beside those of the module:
// a program is one word, and does what no program of std/1 can.
//
//	breach  fails by an invariant's breach (FA-4)
//	panic   panics (EX-11)
//	forget  calls echo, and cannot be resumed from its checkpoint (FA-1)
const Words = "word/1"

// Lookup finds the evaluators of the module, and Words.
func Lookup(name string) (evaluator.Evaluator, bool) {
	if name == Words {
		return words{}, true
	}
	return registry.Lookup(name)
}

type words struct{}

func (words) Name() string { return Words }

func (words) Compile(program value.Raw) (evaluator.Program, *failure.Refusal) {
	text, ok := program.Text()
	if !ok {
		return nil, &failure.Refusal{Code: failure.InvalidProgram, Field: "program", Rule: "must be a word"}
	}
	return word(text), nil
}

type word string

func (w word) Start(evaluator.Context) evaluator.Tick { return w }

func (word) Resume(evaluator.Context, []byte, *evaluator.Delivery) (evaluator.Tick, *failure.Failure) {
	return nil, &failure.Failure{Code: failure.CheckpointInvalid, Message: "forgotten"}
}

func (w word) At() evaluator.Position             { return evaluator.Position{Kind: "WORD"} }
func (w word) AppendCheckpoint(dst []byte) []byte { return append(dst, w...) }

func (w word) Step() evaluator.Result {
	switch w {
	case "breach":
		return evaluator.Result{Kind: evaluator.Failed, Failure: &failure.Failure{Code: failure.InvariantBroken, Message: "a breach"}}
	case "panic":
		panic("a bug")
	case "forget":
		return evaluator.Result{Kind: evaluator.NeedsTool, Calls: []evaluator.Call{{Tool: "echo", Args: value.EmptyMap, TimeoutMillis: 300}}}
	}
	return evaluator.Result{Kind: evaluator.PureValue, Value: value.AppendString(nil, string(w))}
}

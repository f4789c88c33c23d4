package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// StdName is the name of the evaluator of this package.
const StdName = "std/1"

// Std returns the evaluator std/1.
func Std() Evaluator { return std{} }

// std is the instruction set std/1.
type std struct{}

// Name is StdName.
func (std) Name() string { return StdName }

// Compile checks a program completely: its shape, its names, its limits and
// every expression. A refusal names the field by its path from "program".
func (std) Compile(raw value.Raw) (p Program, refusal *failure.Refusal) {
	defer func() {
		if recover() != nil { // EX-11: whatever is wrong, it is this program's alone
			p, refusal = nil, invalid(rootPath, "compiling the program panicked", "")
		}
	}()
	if problem := value.Check(raw, MaxProgramBytes); problem != nil {
		return nil, invalid(value.JoinKey(rootPath, problem.Path), problem.Rule, "")
	}
	return compileAt(raw, rootPath, 1)
}

// compileAt compiles a canonical program that stands at a path, as the program
// of a child does.
func compileAt(raw value.Raw, path string, generation int) (Program, *failure.Refusal) {
	c := compiler{program: &program{slots: map[string]int32{}}, generation: generation}
	if _, refusal := c.instruction(raw, path, none, 1); refusal != nil {
		return nil, refusal
	}
	return c.program, nil
}

// program is a compiled program of std/1.
type program struct {
	nodes []node
	names []string         // of the variables, by number
	slots map[string]int32 // number of each name
	// frameHeads bounds what the frames of running instructions add to a
	// checkpoint beside values, in bytes.
	frameHeads int64
}

// Start begins a tick at the root.
func (p *program) Start(ctx Context) Tick { return newTick(p, ctx) }

// Resume restores the tick that a checkpoint describes.
func (p *program) Resume(ctx Context, checkpoint []byte, delivery *Delivery) (running Tick, fail *failure.Failure) {
	defer func() {
		if recover() != nil {
			running, fail = nil, badCheckpoint()
		}
	}()
	t := newTick(p, ctx)
	switch {
	case !t.restore(checkpoint):
		return nil, badCheckpoint()
	case !t.accept(delivery):
		return nil, badDelivery()
	}
	return t, nil
}

func badCheckpoint() *failure.Failure {
	return &failure.Failure{
		Code:    failure.CheckpointInvalid,
		Message: "the checkpoint is not one that this program can have written",
	}
}

func badDelivery() *failure.Failure {
	return &failure.Failure{
		Code:    failure.CheckpointInvalid,
		Message: "what was delivered does not fit the instruction that waits",
	}
}

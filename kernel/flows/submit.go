package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Submit decides an AgentSubmit event: one more instruction in the agent's
// queue, which is bounded (EX-4).
func Submit(v View, cmd *event.Submit, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	switch t.Row.Lifecycle.State {
	case lifecycle.Spawned, lifecycle.Active, lifecycle.Waiting, lifecycle.Resumable:
	default:
		return t, refuse(failure.InvalidState, "agent", "an agent that is "+t.Row.Lifecycle.State.String()+" takes no instructions")
	}
	if uint32(len(t.Row.Execution.Queue)) >= v.Config.InstructionQueue {
		return t, refuseHint(failure.QueueFull, "agent", "the agent's instruction queue is full", "wait until it has run some, then submit again")
	}
	if refusal := v.checkRun(cmd.Input, ""); refusal != nil {
		return t, refusal
	}
	var in interner
	program := t.Row.Identity.Program
	switch {
	case len(cmd.Program) > 0:
		if refusal := v.checkProgram(t, cmd.Program); refusal != nil {
			return t, refusal
		}
		body := ProgramBody(t.Row.Identity.Evaluator, cmd.Program)
		if known, ok := v.Interned.Find(interning.DigestOf(interning.Program, body)); !ok || known.No != program {
			program = in.add(v, interning.Program, body)
		}
	case program == 0:
		return t, refuse(failure.NoInstruction, "program", "the agent has no program of its own: submit one")
	}
	if refusal := in.room(v); refusal != nil {
		return t, refusal
	}
	if len(in.gains.Entries) > 0 {
		out.Add(bus.Record{Kind: bus.Interned, Body: &in.gains})
	}
	out.Add(instruction(t, program, cmd.Input))
	return t, nil
}

func (v View) checkProgram(t Target, program value.Raw) *Refusal {
	if uint32(len(program)) > v.Config.MaxProgramBytes {
		return refuse(failure.InvalidProgram, "program", "the program is larger than the kernel's max_program_bytes")
	}
	name := t.Row.Identity.Evaluator
	if _, known := v.Interned.Find(interning.DigestOf(interning.Program, ProgramBody(name, program))); known {
		return nil // it compiled when it came in
	}
	eval, ok := v.Compiled.Evaluator(name)
	if !ok {
		return refuse(failure.InvalidProgram, "program", "this binary does not have the agent's evaluator")
	}
	if _, r := eval.Compile(program); r != nil {
		return &Refusal{Refusal: *r}
	}
	return nil
}

// ProgramBody is how a program is interned: with the evaluator that it was
// written for, since the digest must name both.
func ProgramBody(evaluatorName string, program value.Raw) []byte {
	return append(bus.AppendText(nil, evaluatorName), program...)
}

// ParseProgramBody takes it apart.
func ParseProgramBody(body []byte) (evaluatorName string, program value.Raw) {
	d := bus.NewDecoder(body)
	name := d.Text()
	return name, value.Raw(body[uint64(len(body))-d.Left():])
}

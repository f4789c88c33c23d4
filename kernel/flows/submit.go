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
	if _, run := v.runOf(t.No); run != nil {
		return t, refuse(failure.InvalidState, "agent", "the agent is the root of a run: what it executes are the run's tasks")
	}
	if refusal := t.full(); refusal != nil {
		return t, refusal
	}
	if uint32(len(t.Row.Execution.Queue)) >= v.Config.InstructionQueue {
		return t, refuseHint(failure.QueueFull, "agent", "the agent's instruction queue is full", "wait until it has run some, then submit again")
	}
	if refusal := v.checkRun(cmd.Input, ""); refusal != nil {
		return t, refusal
	}
	program := t.Row.Identity.Program
	switch {
	case len(cmd.Program) > 0:
		if program, refusal = v.submitted(t, cmd.Program, out); refusal != nil {
			return t, refusal
		}
	case program == 0:
		return t, refuse(failure.NoInstruction, "program", "the agent has no program of its own: submit one")
	}
	out.Add(instruction(t, program, cmd.Input))
	return t, nil
}

// submitted interns a program that comes with an instruction, unless it is the
// agent's own.
func (v View) submitted(t Target, program value.Raw, out *bus.Batch) (no uint32, _ *Refusal) {
	if uint32(len(program)) > v.Config.MaxProgramBytes {
		return 0, refuse(failure.InvalidProgram, "program", "the program is larger than the kernel's max_program_bytes")
	}
	var room typicalBody
	gains := &interning.Gained{}
	in := interner{gains: gains}
	no = in.add(v, interning.Program, AppendProgramBody(room[:0], t.Row.Identity.Evaluator, program))
	switch {
	case no == t.Row.Identity.Program:
		return no, nil
	case in.fresh > 0: // what is known compiled when it came in
		if refusal := v.checkProgram(t, program); refusal != nil {
			return 0, refusal
		}
	}
	if refusal := in.room(v); refusal != nil {
		return 0, refusal
	}
	out.Add(bus.Record{Kind: bus.Interned, Body: gains})
	return no, nil
}

func (v View) checkProgram(t Target, program value.Raw) *Refusal {
	eval, ok := v.Compiled.Evaluator(t.Row.Identity.Evaluator)
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
	return AppendProgramBody(nil, evaluatorName, program)
}

// AppendProgramBody appends what ProgramBody gives.
func AppendProgramBody(dst []byte, evaluatorName string, program value.Raw) []byte {
	return append(bus.AppendText(dst, evaluatorName), program...)
}

// ParseProgramBody takes it apart.
func ParseProgramBody(body []byte) (evaluatorName string, program value.Raw) {
	d := bus.NewDecoder(body)
	name := d.Text()
	return name, value.Raw(body[uint64(len(body))-d.Left():])
}

package flows

import (
	"bytes"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Fork decides an AgentFork event: rows 0, 1 and 2 of a new root agent that
// brings what another had at a recorded point (LO-13). Whoever proposed it read
// that from the log; here it is taken for what it says, within the limits of any
// agent, so that no image can make what no history could.
func Fork(v View, cmd *event.Fork, out *bus.Batch) (Target, *Refusal) {
	f := forking{v: v, cmd: cmd}
	for _, check := range [...]func() *Refusal{
		f.checkOrigin, f.checkDefinition, f.checkMessages, f.checkQueue, f.checkTick, f.checkMemory, f.checkRoom,
	} {
		if refusal := check(); refusal != nil {
			return Target{}, refusal
		}
	}
	f.publish(out)
	return Target{No: f.d.no}, nil
}

// forking is a fork that is being checked, with what its records will say.
type forking struct {
	v      View
	cmd    *event.Fork
	df     *definer
	d      *definition
	source uint32 // the agent that it starts from
	origin identity.Forked
	queue  []execution.InstructionBody
	tick   *execution.ForkedTick
	memory memory.Forked
}

// checkOrigin holds what can be known here of the point: there is such an agent,
// and the log is beyond it.
func (f *forking) checkOrigin() *Refusal {
	t, refusal := f.v.target(f.cmd.Source)
	if refusal != nil {
		return refusal
	}
	if f.cmd.At < t.Row.Identity.Seq || f.cmd.At >= f.v.Log.NextSeq {
		return refuse(failure.InvalidArgument, "at", "must be a busSeq of the agent's life: not before its definition, and in the log")
	}
	f.source = t.No
	f.origin = identity.Forked{Origin: identity.Origin{ID: t.Row.Identity.ID, Seq: f.cmd.At, Head: f.cmd.Head}}
	return nil
}

func (f *forking) checkDefinition() *Refusal {
	f.df = f.v.definer()
	f.df.in.made = make(map[interning.Digest]uint32)
	d, refusal := f.df.define(&f.cmd.Define, "agent.", derived(f.v.kernelID(), uint64(f.df.next)))
	if refusal != nil {
		return refusal
	}
	f.d = d
	if source, ok := f.v.Budgets.Get(f.v.Account(f.source)); ok && d.account == nil {
		d.account = &budgets.Opened{Limits: source.Limits} // else a fork would be a way around it
	}
	return nil
}

func (f *forking) checkMessages() *Refusal {
	var size uint64
	for i, message := range f.cmd.Messages {
		if p := f.check(message); p != nil {
			return refuse(failure.InvalidValue, "messages["+strconv.Itoa(i)+"]"+p.Path, p.Rule)
		}
		size += uint64(len(message))
	}
	if uint64(len(f.cmd.Messages)) > uint64(f.v.Config.MaxMailbox) || size > uint64(f.v.Config.MaxMailboxBytes) {
		return refuse(failure.QueueFull, "messages", "are more than a mailbox takes")
	}
	return nil
}

func (f *forking) check(v value.Raw) *value.Problem {
	return value.Check(v, int(f.v.Config.MaxValueBytes))
}

func (f *forking) checkQueue() *Refusal {
	for i := range f.cmd.Queue {
		if refusal := f.instruct(&f.cmd.Queue[i], "queue["+strconv.Itoa(i)+"]."); refusal != nil {
			return refusal
		}
	}
	if f.cmd.Submit != nil {
		if refusal := f.instruct(f.cmd.Submit, ""); refusal != nil {
			return refusal
		}
	}
	if uint64(len(f.queue)) > uint64(f.v.Config.InstructionQueue) {
		return refuseHint(failure.QueueFull, "queue", "the agent's instruction queue was full there", "fork without a program, and submit it later")
	}
	return nil
}

func (f *forking) instruct(in *event.ForkInstruction, field string) *Refusal {
	program, refusal := f.program(in.Program, field+"program")
	if refusal != nil {
		return refusal
	}
	if len(in.Input) > 0 {
		if p := f.check(in.Input); p != nil {
			return refuse(failure.InvalidValue, field+value.JoinKey("input", p.Path), p.Rule)
		}
	}
	f.queue = append(f.queue, execution.InstructionBody{Program: program, Input: in.Input})
	return nil
}

// program interns a program of an instruction; the agent's own is in use
// already, and is not counted again.
func (f *forking) program(program value.Raw, field string) (no uint32, _ *Refusal) {
	own := f.d.body.Program
	switch {
	case len(program) == 0 && own == 0:
		return 0, refuse(failure.NoInstruction, field, "the agent has no program of its own: give one")
	case len(program) == 0 || own != 0 && bytes.Equal(program, f.cmd.Define.Program):
		return own, nil
	case uint64(len(program)) > uint64(f.v.Config.MaxProgramBytes):
		return 0, refuse(failure.InvalidProgram, field, "the program is larger than the kernel's max_program_bytes")
	}
	in := &f.df.in
	before := in.fresh
	no = in.add(f.v, interning.Program, ProgramBody(f.d.body.Evaluator, program))
	if in.fresh > before {
		if r := checkProgram(f.d.body.Evaluator, program, field, "agent.", f.v.Compiled.Evaluator); r != nil {
			return 0, &Refusal{Refusal: *r}
		}
	}
	return no, nil
}

// checkMemory puts what is to be otherwise over what was there. What recovery
// would put back under such a key is let go of.
func (f *forking) checkMemory() *Refusal {
	entries, refusal := f.entries(f.cmd.Memory, "memory")
	if refusal != nil {
		return refusal
	}
	undo, refusal := f.entries(f.cmd.Undo, "undo")
	if refusal != nil {
		return refusal
	}
	set := make(map[string]value.Raw, len(f.cmd.Set))
	for i := range f.cmd.Set {
		s := &f.cmd.Set[i]
		field := "set." + s.Key
		if rule := memory.CheckKey(s.Key); rule != "" {
			return refuse(failure.InvalidArgument, field, rule)
		}
		if _, twice := set[s.Key]; twice {
			return refuse(failure.InvalidArgument, field, "is given twice")
		}
		if p := f.check(s.Value); p != nil {
			return refuse(failure.InvalidValue, field+p.Path, p.Rule)
		}
		set[s.Key] = s.Value
	}
	for _, e := range entries {
		if !e.Existed {
			return refuse(failure.InvalidArgument, "memory."+e.Key, "is missing, and only what a run wrote over can be")
		}
		if _, otherwise := set[e.Key]; !otherwise {
			f.memory.Entries = append(f.memory.Entries, e)
		}
	}
	for i := range f.cmd.Set { // its version and time are those of the record
		s := &f.cmd.Set[i]
		f.memory.Entries = append(f.memory.Entries, memory.Before{Key: s.Key, Existed: true, Value: s.Value, At: f.v.Clock})
	}
	for _, e := range undo {
		if _, otherwise := set[e.Key]; !otherwise {
			f.memory.Undo = append(f.memory.Undo, e)
		}
	}
	if f.memory.Undo != nil {
		if f.tick == nil {
			return refuse(failure.InvalidArgument, "undo", "belongs to a tick in progress")
		}
		f.memory.Run = f.tick.Exit
	}
	if problem := f.v.Memory.CheckForked(&f.memory, f.v.memoryLimits()); problem != nil {
		return refuse(problem.Code, "memory", problem.Message)
	}
	return nil
}

// entries checks keys that the image has of memory: each once, in order.
func (f *forking) entries(image []event.ForkEntry, field string) ([]memory.Before, *Refusal) {
	entries := make([]memory.Before, len(image))
	seen := make(map[string]bool, len(image))
	for i := range image {
		e := &image[i]
		at := field + "." + e.Key
		if rule := memory.CheckKey(e.Key); rule != "" {
			return nil, refuse(failure.InvalidArgument, at, rule)
		}
		if seen[e.Key] {
			return nil, refuse(failure.InvalidArgument, at, "is there twice")
		}
		seen[e.Key] = true
		entries[i].Key = e.Key
		if e.Missing {
			continue
		}
		if p := f.check(e.Value); p != nil {
			return nil, refuse(failure.InvalidValue, at+p.Path, p.Rule)
		}
		if e.Version == 0 || e.Version > f.cmd.At || e.Writer > f.v.Agents.Len() || e.At > f.v.Clock {
			return nil, refuse(failure.InvalidArgument, at, "was not written before the point")
		}
		entries[i] = memory.Before{Key: e.Key, Existed: true, Value: e.Value, Version: e.Version, Writer: e.Writer, At: e.At}
	}
	return entries, nil
}

// checkRoom asks for the rest: something to do, and places for it.
func (f *forking) checkRoom() *Refusal {
	if f.d.body.Mode == identity.Task && f.tick == nil && len(f.queue) == 0 {
		return refuseHint(failure.NoInstruction, "program", "the agent had nothing to run there",
			"give the fork a program to run, or an input for its own, or choose an earlier point")
	}
	if refusal := f.df.room(); refusal != nil {
		return refusal
	}
	if f.v.Running.Reserved >= f.v.Config.GlobalQueue {
		return queueFull()
	}
	return nil
}

func (f *forking) publish(out *bus.Batch) {
	f.d.publish(out)
	t := Target{No: f.d.no}
	out.Add(bus.Record{Kind: bus.Forked, Agent: t.No, Body: &f.origin})
	why := cause{reason: "a fork"}
	f.v.spawn(t, &f.d.body, lifecycle.Client, why, out)
	if len(f.memory.Entries) > 0 || len(f.memory.Undo) > 0 {
		version := f.v.Seq + uint64(out.Len()) // the busSeq that the record will get
		for i := range f.memory.Entries {
			if e := &f.memory.Entries[i]; e.Version == 0 {
				e.Version = version
			}
		}
		out.Add(bus.Record{Kind: bus.MemoryForked, Agent: t.No, Tick: f.tickSeq(), Body: &f.memory})
	}
	for _, message := range f.cmd.Messages {
		out.Add(bus.Record{Kind: bus.MessageQueued, Agent: t.No, Body: &mailbox.Message{Value: message}})
	}
	out.Add(bus.Record{Kind: bus.TickForked, Agent: t.No, Tick: f.tickSeq(), Body: &execution.ForkedBody{
		LastTick: f.cmd.LastTick, Emitted: f.cmd.Emitted, Tick: f.tick,
	}})
	for i := range f.queue {
		out.Add(instruction(t, f.queue[i].Program, f.queue[i].Input))
	}
	out.Add(transition(t, lifecycle.Spawned, lifecycle.Activate, lifecycle.Client, why))
}

// tickSeq of the tick in progress, 0 between ticks.
func (f *forking) tickSeq() uint64 {
	if f.tick == nil {
		return 0
	}
	return f.cmd.LastTick
}

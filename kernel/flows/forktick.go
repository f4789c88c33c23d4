package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// checkTick takes the tick in progress apart. Its checkpoint is bounded here, and
// read when the tick goes on: what no evaluator takes back is the tick's failure.
func (f *forking) checkTick() *Refusal {
	image := f.cmd.Tick
	if image == nil {
		return nil
	}
	limits := f.v.Config
	switch {
	case f.cmd.LastTick == 0:
		return refuse(failure.InvalidArgument, "last_tick", "is 0, and a tick is in progress")
	case image.Runs == 0 || image.Exit > image.Runs || image.Steps > limits.MaxStepsPerTick || image.Calls > limits.MaxCallsPerTick:
		return refuse(failure.InvalidArgument, "tick", "has counts that no tick can have")
	case uint64(len(image.Checkpoint)) > uint64(limits.MaxCheckpointBytes):
		return refuse(failure.ValueTooLarge, "tick.checkpoint", "is larger than the kernel's max_checkpoint_bytes")
	case uint64(len(image.Requests)) > uint64(limits.MaxCallsPerTick):
		return refuse(failure.InvalidArgument, "tick.requests", "are more than the kernel's max_calls_per_tick")
	}
	program, refusal := f.program(image.Program, "tick.program")
	if refusal != nil {
		return refusal
	}
	input := image.Input
	if len(input) == 0 {
		input = value.Null
	}
	if p := f.check(input); p != nil {
		return refuse(failure.InvalidValue, "tick.input"+p.Path, p.Rule)
	}
	t := &execution.ForkedTick{
		Phase: execution.Phase(image.Phase), Program: program, Input: input, Runs: image.Runs, Steps: image.Steps, Calls: image.Calls,
		Exit: image.Exit, First: image.First, Checkpoint: image.Checkpoint, Orphan: image.Orphan,
		Requests: make([]execution.Request, len(image.Requests)), Answers: make([]*execution.Answer, len(image.Requests)),
	}
	if len(t.Checkpoint) == 0 {
		t.Checkpoint = nil
	}
	for i := range image.Requests {
		if refusal := f.request(t, i, &image.Requests[i]); refusal != nil {
			return refusal
		}
	}
	if !t.Possible() {
		return refuse(failure.InvalidArgument, "tick", "waits for calls in a way that no tick can")
	}
	f.tick = t
	return nil
}

func (f *forking) request(t *execution.ForkedTick, i int, image *event.ForkRequest) *Refusal {
	field := "tick.requests[" + strconv.Itoa(i) + "]"
	r := &t.Requests[i]
	if !validText(image.Tool, int(f.v.Config.MaxProgramBytes)) {
		return refuse(failure.InvalidArgument, field+".tool", "must be the name of a tool")
	}
	r.Tool = image.Tool
	if image.Answer == nil {
		r.Args, r.Timeout = image.Args, image.Millis
		if p := f.check(r.Args); p != nil {
			return refuse(failure.InvalidValue, field+".args"+p.Path, p.Rule)
		}
		return nil
	}
	a := &execution.Answer{
		Call: t.First + uint32(i), OK: image.Answer.OK, Code: failure.Code(image.Answer.Code), Message: image.Answer.Message,
	}
	if a.OK {
		a.Value = image.Answer.Value
		if p := f.check(a.Value); p != nil {
			return refuse(failure.InvalidValue, field+".answer"+p.Path, p.Rule)
		}
	}
	if a.OK != (a.Code == "") || !validText(image.Answer.Message, failure.MaxMessage) || !validText(image.Answer.Code, MaxNameBytes) {
		return refuse(failure.InvalidArgument, field+".answer", "is no answer that a tick can be given")
	}
	t.Answers[i] = a
	return nil
}

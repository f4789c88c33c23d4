package kerneltest

import (
	"maps"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// remembered is a copy.
func remembered(memory map[string]stored) map[string]stored { return maps.Clone(memory) }

func (n *Naive) compiled(a *agent, program value.Raw) evaluator.Program {
	key := a.evaluator + string(program)
	if n.programs[key] == nil {
		eval, _ := n.lookup(a.evaluator)
		n.programs[key], _ = eval.Compile(program)
	}
	return n.programs[key]
}

func done(v value.Raw) *result { return &result{ok: true, value: v} }

// run runs the tick of an agent to its one exit (EX-1).
func (n *Naive) run(a *agent) {
	code, void := n.void(a)
	last := a.state == lifecycle.Completing
	switch {
	case a.tick != nil:
	case last: // LC-5
		a.lastTick++
		a.tick = &tick{seq: a.lastTick, program: a.teardown, input: value.Null, teardown: true}
	case len(a.instructions) > 0:
		a.lastTick++
		a.tick = &tick{seq: a.lastTick, program: a.instructions[0].program, input: a.instructions[0].input}
		a.instructions = a.instructions[1:]
	}
	if void && !last { // LC-10
		n.fail(a, code)
		return
	}
	if a.exceeded && !last { // LS-3
		n.fail(a, failure.LogLimitExceeded)
		return
	}
	t := a.tick
	t.ready = false
	exit, code := n.steps(a)
	switch {
	case code != "":
		n.fail(a, code)
	case exit.Kind == evaluator.PureValue:
		a.tick = nil
		if t.teardown {
			a.torn = true
			n.over(a)
			return
		}
		a.result = done(exit.Value)
		if exit.Again != nil { // it is as if the program had been submitted once more
			a.instructions = append(a.instructions, instruction{program: t.program, input: exit.Again})
			n.enqueue(a)
			return
		}
		n.over(a)
	default:
		n.exit(a, exit)
	}
}

// steps evaluates the tick until it leaves (EX-3, EX-6).
func (n *Naive) steps(a *agent) (result evaluator.Result, code failure.Code) {
	t := a.tick
	defer func() {
		if recover() != nil {
			code = failure.EvalPanic
		}
	}()
	running, work, f := n.open(a)
	if f != nil {
		return result, f.Code
	}
	for {
		if t.steps >= n.config.MaxStepsPerTick {
			return result, failure.TickOverflow
		}
		t.steps++
		result = running.Step()
		work += 1 + uint64(result.Work)
		switch result.Kind {
		case evaluator.NextInstruction:
			if work > n.config.MaxWorkPerTick {
				return result, failure.WorkExceeded
			}
			continue
		case evaluator.Failed:
			return result, result.Failure.Code
		case evaluator.NeedsTool, evaluator.NeedsDecision:
			if t.calls+uint32(len(result.Calls)) > n.config.MaxCallsPerTick {
				return result, failure.CallOverflow
			}
			checkpoint := running.AppendCheckpoint(nil)
			if len(checkpoint) > int(n.config.MaxCheckpointBytes) {
				return result, failure.ValueTooLarge
			}
			t.checkpoint = checkpoint
		}
		return result, ""
	}
}

// open starts the tick or takes it up from its checkpoint (EX-8).
func (n *Naive) open(a *agent) (evaluator.Tick, uint64, *failure.Failure) {
	t := a.tick
	context := evaluator.Context{
		AgentID: IDOf(a.id), AgentName: a.name, TickSeq: t.seq, Input: t.input, Env: a.env,
		MaxValueBytes: n.config.MaxValueBytes, MaxCheckpointBytes: n.config.MaxCheckpointBytes,
	}
	program := n.compiled(a, t.program)
	if t.checkpoint == nil {
		return program.Start(context), 0, nil
	}
	var delivery *evaluator.Delivery
	switch {
	case t.event != nil:
		delivery = &evaluator.Delivery{Escalation: t.event}
	case len(t.waits) > 0:
		delivery = &evaluator.Delivery{}
		for _, c := range t.waits {
			delivery.Answers = append(delivery.Answers, *c.answer)
		}
	}
	running, f := program.Resume(context, t.checkpoint, delivery)
	work := uint64(len(t.checkpoint)) / 64
	t.checkpoint, t.waits, t.event = nil, nil, nil
	return running, work, f
}

// exit is a PENDING exit: the checkpoints, then the door (FA-1, TO-3).
func (n *Naive) exit(a *agent, result evaluator.Result) {
	t := a.tick
	t.recovery, t.memory = t.checkpoint, remembered(a.memory)
	if d := result.Decision; d != nil {
		if len(a.requests) == 0 {
			n.fail(a, failure.CheckpointInvalid)
			return
		}
		r := a.requests[len(a.requests)-1]
		t.again = r.call
		t.waits = []*call{{no: r.call, tool: "agent.delegate"}}
		a.move(lifecycle.Waiting, lifecycle.Yield, "")
		before := len(n.queue)
		n.considered(a, d)
		woken := n.queue[before:]
		n.queue = n.queue[:before:before]
		n.takeUp(a, r) // whose place, if it has more to decide, comes before those of whom its decision woke
		n.queue = append(n.queue, woken...)
		return
	}
	t.again, t.waits = t.calls+1, nil
	for _, asked := range result.Calls {
		t.calls++
		t.waits = append(t.waits, &call{no: t.calls, tool: asked.Tool, args: asked.Args, timeout: asked.TimeoutMillis})
	}
	n.gate(a)
}

// considered is the decision of a parent's handler (PE-3).
func (n *Naive) considered(a *agent, d *evaluator.Decision) {
	for _, e := range n.escalations {
		if e.number == d.Escalation && e.handler == a {
			n.decided(e, d.Approve)
			return
		}
	}
}

// takeUp is a parent that waits for its children again.
func (n *Naive) takeUp(a *agent, r *request) {
	if r.open == 0 {
		n.join(r)
		return
	}
	n.offer(a)
}

var callTimers = []timers.Purpose{
	timers.CallDeadline, timers.SleepOver, timers.ReceiveOver, timers.EscalationOver, timers.DelegationOver,
}

// answers gives a call its answer; with the last one the agent goes on (row 7).
func (n *Naive) answers(a *agent, c *call, answer evaluator.Answer) {
	n.dropOf(a, c.no, callTimers...)
	c.answer, c.outbox, c.receives = &answer, false, false
	for _, other := range a.tick.waits {
		if other.answer == nil {
			return
		}
	}
	a.tick.ready = true
	if a.state == lifecycle.Completing {
		n.enqueue(a)
		return
	}
	n.activate(a, lifecycle.Resume)
}

func (n *Naive) fails(a *agent, c *call, code failure.Code) {
	n.answers(a, c, evaluator.Answer{Code: code})
}

func (n *Naive) succeeds(a *agent, c *call, v value.Raw) {
	if len(v) > int(n.config.MaxValueBytes) {
		n.fails(a, c, failure.ValueTooLarge)
		return
	}
	n.answers(a, c, evaluator.Answer{OK: true, Value: v})
}

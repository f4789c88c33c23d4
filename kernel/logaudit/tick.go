package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// tick is where an agent's tick has got to.
type tick struct {
	seq, last    uint64 // in progress; the last number given
	phase        phase
	run          uint32 // entries into it
	steps, calls uint32 // over all runs
	first, count uint32 // the calls that it waits for, while it is pending
	teardown     bool   // it is the agent's last one
}

type phase uint8

const (
	over     phase = iota // no tick is in progress
	running               // its exit follows in the same event
	pending               // waits for answers
	answered              // goes on next
	restored              // recovery put it back; goes on next
	failed                // waits for recovery, or the agent's end
)

// started looks at TICK_STARTED.
func (a *Auditor) started(g *agent, b *execution.StartedBody) {
	a.report.Ticks++
	t, seq := &g.tick, a.record.Tick
	state := g.state()
	switch {
	case t.phase == running:
		a.found(Tick, "tick %d starts within a run of tick %d", seq, t.seq)
	case state != lifecycle.Active && (state != lifecycle.Completing || !b.Teardown):
		a.found(Tick, "tick %d runs while the agent is %s", seq, state)
	case b.Run == 1 && t.phase != over:
		a.found(Tick, "tick %d starts, and tick %d is not over", seq, t.seq)
	case b.Run == 1 && seq != t.last+1:
		a.found(Tick, "tick %d starts after tick %d", seq, t.last)
	case b.Run == 1 && !b.Teardown && g.queued == 0:
		a.found(Tick, "tick %d starts, and no instruction was queued for it", seq)
	case b.Run != 1 && (seq != t.seq || b.Run != t.run+1):
		a.found(Tick, "run %d of tick %d follows run %d of tick %d", b.Run, seq, t.run, t.seq)
	case b.Run != 1 && t.phase == pending:
		a.found(Result, "the tick goes on, and its call %d has no answer", g.unanswered())
	case b.Run != 1 && t.phase != answered && t.phase != restored:
		a.found(Tick, "tick %d goes on, and it is over, or failed", seq)
	}
	if b.Run == 1 {
		*t = tick{last: seq}
		g.calls = g.calls[:0]
		if !b.Teardown && g.queued > 0 {
			g.queued--
		}
	}
	t.seq, t.run, t.phase, t.teardown = seq, b.Run, running, b.Teardown
	g.drop(func(c *call) bool { return c.ended })
	a.touch(g)
}

// step looks at STEP.
func (a *Auditor) step(g *agent) {
	a.report.Steps++
	t := &g.tick
	switch force := a.force(g); {
	case t.phase != running || a.record.Tick != t.seq:
		a.found(Step, "a step of tick %d is taken outside of it", a.record.Tick)
		t.seq, t.phase = a.record.Tick, running
		a.touch(g)
	case a.record.Step != t.steps+1:
		a.found(Step, "step %d follows step %d", a.record.Step, t.steps)
	case a.config != nil && a.record.Step > a.config.MaxStepsPerTick:
		a.found(Step, "step %d is more than max_steps_per_tick, which is %d", a.record.Step, a.config.MaxStepsPerTick)
	case force.lost && g.state() != lifecycle.Completing:
		a.found(Authority, "the tick runs on %s", a.why(g, force))
	}
	t.steps = a.record.Step
}

// exits looks at any record that ends a run.
func (a *Auditor) exits(g *agent, steps uint32) {
	t := &g.tick
	switch {
	case t.phase != running || a.record.Tick != t.seq:
		a.found(Tick, "tick %d ends, and no run of it has started", a.record.Tick)
	case steps != t.steps:
		a.found(Step, "the tick says that it took %d steps, and %d are recorded", steps, t.steps)
		t.steps = steps
	}
}

// pending looks at TICK_PENDING_TOOL and TICK_PENDING_DELEGATION: what the
// tick asks for must be judged before anything is done about it.
func (a *Auditor) pending(g *agent, b *execution.PendingBody) {
	a.exits(g, b.Steps)
	t := &g.tick
	t.phase, t.first, t.count = pending, b.First, max(uint32(len(b.Requests)), 1)
	a.touch(g)
	if b.Decision != nil {
		if c := g.call(t.seq, b.First); c == nil || c.tool != execution.Delegate {
			a.found(Tick, "the tick waits again for the children of call %d, which it does not have", b.First)
			t.phase = answered
		}
		return
	}
	if b.First != t.calls+1 {
		a.found(Tick, "call %d follows call %d", b.First, t.calls)
	}
	for i := range b.Requests {
		g.calls = append(g.calls, a.asked(b.First+uint32(i), &b.Requests[i]))
	}
	t.calls = b.First + uint32(len(b.Requests)) - 1
	if a.config != nil && t.calls > a.config.MaxCallsPerTick {
		a.found(Tick, "call %d is more than max_calls_per_tick, which is %d", t.calls, a.config.MaxCallsPerTick)
	}
}

// forked looks at TICK_FORKED: an agent that has run nothing goes on with the
// tick of another (LO-13). What that had not been answered must be judged anew.
func (a *Auditor) forked(g *agent, b *execution.ForkedBody) {
	if g.tick != (tick{}) || a.event.Kind != event.AgentFork {
		a.found(Tick, "the agent is given the tick of another, and had ticks of its own, or nobody forked it")
	}
	g.tick = tick{seq: b.LastTick, last: b.LastTick}
	if b.Tick == nil {
		return
	}
	t := &g.tick
	t.run, t.steps, t.calls, t.first, t.count = b.Tick.Runs, b.Tick.Steps, b.Tick.Calls, b.Tick.First, uint32(len(b.Tick.Requests))
	switch b.Tick.Phase {
	case execution.Pending:
		t.phase = pending
	case execution.Answered:
		t.phase = answered
	default:
		t.phase = restored
	}
	for i := range b.Tick.Requests {
		if b.Tick.Answers[i] == nil {
			g.calls = append(g.calls, a.asked(t.first+uint32(i), &b.Tick.Requests[i]))
		}
	}
	a.touch(g)
}

// completed looks at TICK_COMPLETED.
func (a *Auditor) completed(g *agent, b *execution.CompletedBody) {
	a.exits(g, b.Steps)
	g.tick.phase = over
}

// failed looks at TICK_FAILED. A tick that runs fails by itself; one that does
// not, or none at all, is failed from outside, for few reasons.
func (a *Auditor) failed(g *agent, b *execution.FailedBody) {
	t := &g.tick
	code := b.Failure.Code
	switch {
	case code == failure.InvalidState: // EX-5: it changes nothing
		if t.phase == running || g.state() == lifecycle.Active {
			a.found(Tick, "the tick fails because its agent is not ACTIVE, and it is")
		}
		return
	case t.phase == running:
		if code != failure.InvariantBroken {
			a.exits(g, b.Steps)
		}
	case !fromOutside(code):
		a.found(Tick, "tick %d fails with %s, and no run of it has started", a.record.Tick, code)
	case t.phase != over && a.record.Tick != t.seq:
		a.found(Tick, "tick %d is failed, and tick %d is in progress", a.record.Tick, t.seq)
	case t.phase == over && a.record.Tick != 0:
		a.found(Tick, "tick %d is failed, and no tick is in progress", a.record.Tick)
	}
	switch {
	case t.phase == over && t.seq != a.record.Tick:
	case b.Failure.Class() == failure.PolicyViolation:
		t.phase = over
	case t.phase != over:
		t.phase = failed
	}
}

// fromOutside lists the failures that a tick comes to without running.
func fromOutside(code failure.Code) bool {
	switch code {
	case failure.Killed, failure.TokenRevoked, failure.TokenExpired, failure.WaitTimeout, failure.InvariantBroken, failure.BudgetExceeded, failure.LogLimitExceeded:
		return true
	}
	return false
}

// overflow looks at TICK_OVERFLOW (EX-6).
func (a *Auditor) overflow(g *agent) {
	t := &g.tick
	if t.phase != running || a.record.Tick != t.seq || a.config == nil || t.steps != a.config.MaxStepsPerTick {
		a.found(Step, "the tick is over its steps after %d", t.steps)
	}
}

// restored looks at TICK_RESTORED (FA-1): whatever the tick waited for is asked
// for again, but for children that its handler was deciding about.
func (a *Auditor) restored(g *agent) {
	t := &g.tick
	again := t.phase == answered && g.state() == lifecycle.Active && a.event.Kind == event.RunResume // RU-2
	if t.phase != failed && !again || g.state() != lifecycle.Recovering && !again || a.record.Tick != t.seq {
		a.found(Tick, "tick %d is put back to its checkpoint, and is not one that failed and is being recovered, or whose run is resumed", a.record.Tick)
	}
	t.phase = restored
	g.drop(func(c *call) bool { return !c.accepted || c.over || c.delivered })
}

// eventDelivered looks at EVENT_DELIVERED: a parent is asked about a child's
// request while it waits for its children (PE-3).
func (a *Auditor) eventDelivered(g *agent) {
	t := &g.tick
	if t.phase != pending || a.record.Tick != t.seq {
		a.found(Escalation, "the agent is asked to decide, and does not wait")
	}
	t.phase = answered
}

// unanswered is the first call that the tick waits for; 0 when none is open.
func (g *agent) unanswered() uint32 {
	t := &g.tick
	for i := range g.calls {
		if c := &g.calls[i]; c.no >= t.first && c.no-t.first < t.count && !c.delivered {
			return c.no
		}
	}
	return 0
}

// answer notes that a call that the tick waits for has its answer.
func (g *agent) answer() {
	if g.tick.phase == pending && g.unanswered() == 0 {
		g.tick.phase = answered
	}
}

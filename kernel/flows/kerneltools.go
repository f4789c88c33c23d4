package flows

import (
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// kernelTool answers a deterministic tool inside Apply (TO-1).
//
//	clock.now           → integer, Unix milliseconds of the kernel clock
//	uuid.new            → text, a UUID that no other call gets
//	random.int min max  → integer, min ≤ n ≤ max
//	timer.sleep ms      → null, once the kernel clock has moved on by ms
func (g *gate) kernelTool() {
	id, call := g.t.Row.Identity.ID, g.request.Call
	switch g.request.Tool {
	case "clock.now":
		g.ok(value.AppendInt(nil, g.v.Clock))
	case "uuid.new":
		g.ok(value.AppendString(nil, FormatID(derived(id, g.tick, uint64(call)))))
	case "random.int":
		g.randomInt()
	case "timer.sleep":
		g.sleep()
	default:
		panic("flows: a kernel tool without an answer")
	}
}

func (g *gate) ok(v value.Raw) { g.answer(execution.Answer{OK: true, Value: v}) }

func (g *gate) badArgs(rule string) {
	g.answer(execution.Answer{Code: failure.ToolArgsInvalid, Message: rule})
}

func (g *gate) intArg(name string) (int64, bool) {
	raw, ok := g.request.Args.Get(name)
	if !ok {
		return 0, false
	}
	return raw.Int()
}

// randomInt draws without bias: numbers that would favour the low end are
// drawn again.
func (g *gate) randomInt() {
	low, okLow := g.intArg("min")
	high, okHigh := g.intArg("max")
	if !okLow || !okHigh || low > high {
		g.badArgs("random.int takes integers min and max, min not above max")
		return
	}
	span := uint64(high-low) + 1 // at most 2^54+1: no overflow within the value model
	limit := ^uint64(0) - ^uint64(0)%span
	for nth := uint64(0); ; nth++ {
		n := random(g.v.Config.Seed, g.t.Row.Identity.ID, g.tick, g.request.Call, nth)
		if n < limit {
			g.ok(value.AppendInt(nil, low+int64(n%span)))
			return
		}
	}
}

// sleep leaves the agent WAITING until its timer is due.
func (g *gate) sleep() {
	millis, ok := g.intArg("ms")
	if !ok || millis < 0 || millis > g.v.Config.MaxCallTimeoutMillis {
		g.badArgs("timer.sleep takes an integer ms from 0 to max_call_timeout_ms")
		return
	}
	g.out.Add(g.v.setTimer(timers.Timer{
		Deadline: g.v.Clock + millis, Purpose: timers.SleepOver, Agent: g.t.No, Tick: g.tick, Call: g.request.Call,
	}, 0))
}

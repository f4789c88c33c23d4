package flows

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// kernelTool answers a deterministic tool inside Apply (TO-1).
//
//	clock.now           → integer, Unix milliseconds of the kernel clock
//	uuid.new            → text, a UUID that no other call gets
//	random.int min max  → integer, min ≤ n ≤ max
//	timer.sleep ms      → null, once the kernel clock has moved on by ms
//	mailbox.receive     → the oldest message, once there is one
//	memory.*, shared.*  → see memory.go
//	agent.*             → see children.go; agent.delegate in delegate.go
func (g *gate) kernelTool(j *judgement) {
	id, call := g.t.Row.Identity.ID, j.call
	switch tool := j.request.Tool; tool {
	case "clock.now":
		g.succeed(call, tool, value.AppendInt(nil, g.v.Clock))
	case "uuid.new":
		g.succeed(call, tool, value.AppendString(nil, FormatID(derived(id, g.tick, uint64(call)))))
	case "random.int":
		g.randomInt(j)
	case "timer.sleep":
		g.sleep(j)
	case receiveTool:
		g.receive(j)
	default:
		switch j.tool.Family {
		case tools.Memory:
			g.memoryTool(j)
		case tools.Agent:
			g.agentTool(j)
		default:
			panic("flows: a kernel tool without an answer")
		}
	}
}

func (g *gate) badArgs(j *judgement, rule string) {
	g.refuse(j.call, j.request.Tool, &failure.Failure{Code: failure.ToolArgsInvalid, Message: rule})
}

func (j *judgement) intArg(name string) (int64, bool) {
	raw, ok := j.request.Args.Get(name)
	if !ok {
		return 0, false
	}
	return raw.Int()
}

// randomInt draws without bias: numbers that would favour the low end are
// drawn again.
func (g *gate) randomInt(j *judgement) {
	low, okLow := j.intArg("min")
	high, okHigh := j.intArg("max")
	if !okLow || !okHigh || low > high {
		g.badArgs(j, "random.int takes integers min and max, min not above max")
		return
	}
	span := uint64(high-low) + 1 // at most 2^54+1: no overflow within the value model
	limit := ^uint64(0) - ^uint64(0)%span
	seed, who := g.v.seedOf(g.t)
	for nth := uint64(0); ; nth++ {
		n := random(seed, who, g.tick, j.call, nth)
		if n < limit {
			g.succeed(j.call, j.request.Tool, value.AppendInt(nil, low+int64(n%span)))
			return
		}
	}
}

// sleep leaves the agent WAITING until its timer is due.
func (g *gate) sleep(j *judgement) {
	millis, ok := j.intArg("ms")
	if !ok || millis < 0 || millis > g.v.Config.MaxWaitMillis {
		g.badArgs(j, "timer.sleep takes an integer ms from 0 to max_wait_ms")
		return
	}
	g.out.Add(g.setTimer(timers.Timer{Deadline: g.v.Clock + millis, Purpose: timers.SleepOver, Call: j.call}))
}

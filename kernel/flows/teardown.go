package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Finish reacts to the end of a tick: a task agent with nothing left to do is
// complete (LC-11, FA-3), and one that has torn down is done (row 11).
func Finish(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	t := Target{made.Agent, row}
	switch state := row.Lifecycle.State; {
	case state == lifecycle.Active && row.Identity.Mode == identity.Task && row.Execution.Idle():
		out.Add(transition(t, lifecycle.Active, lifecycle.Complete, lifecycle.Kernel, cause{tick: made.Tick}))
	case state == lifecycle.Completing && row.Execution.Torn:
		out.Add(transition(t, lifecycle.Completing, lifecycle.TeardownOK, lifecycle.Kernel, cause{tick: made.Tick}))
	}
}

// Teardown reacts to Lifecycle. A COMPLETING agent without a teardown of its
// own is done at once (row 11); Schedule queues the last tick of one that has
// it. An agent that recovered a failed teardown is ACTIVE for no ordinary
// tick: it completes at once, and the teardown goes on (LC-5).
func Teardown(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	t := Target{made.Agent, row}
	switch tick := row.Execution.Current; {
	case row.Lifecycle.State == lifecycle.Completing && (row.Identity.Teardown == 0 || row.Execution.Torn):
		out.Add(transition(t, lifecycle.Completing, lifecycle.TeardownOK, lifecycle.Kernel, cause{tick: made.Tick}))
	case row.Lifecycle.State == lifecycle.Active && tick != nil && tick.Teardown:
		out.Add(transition(t, lifecycle.Active, lifecycle.Complete, lifecycle.Kernel, cause{tick: made.Tick}))
	}
}

// tornOff records that an agent ends with its teardown begun, or queued, and not
// done (LC-5), just before the transition that ends it.
func (v View) tornOff(t Target, out *bus.Batch) {
	row := &t.Row.Execution
	begun := row.Current != nil && row.Current.Teardown
	queued := t.Row.Lifecycle.State == lifecycle.Completing && t.Row.Identity.Teardown != 0 && !row.Torn
	if begun || queued {
		out.Add(bus.Record{Kind: bus.TeardownFailed, Agent: t.No, Tick: v.tickOf(t), Body: execution.Empty{}})
	}
}

// teardown answers what a COMPLETING agent's last tick asks for: memory may be
// read and flushed, and nothing else (LC-6). Everything is answered at once,
// so the agent never waits and its state does not change.
func (g *gate) teardown() {
	for i := range g.body.Requests {
		call, r := g.body.First+uint32(i), &g.body.Requests[i]
		if !flushes(r.Tool) || lifecycle.PermitOf(g.t.Row.Lifecycle.State, lifecycle.MemoryLayer) != lifecycle.ReadAndFlush {
			g.refuse(call, r.Tool, &failure.Failure{
				Code: failure.PermissionDenied, Message: "a teardown may read and write memory, and nothing else",
			})
			continue
		}
		j := judgement{call: call, request: r, bodies: new(gateBodies)}
		g.judge(&j)
		if j.waits {
			panic("flows: a teardown waits")
		}
		g.proceed(&j)
	}
}

// flushes lists what LC-6 lets a COMPLETING agent do with memory.
func flushes(tool string) bool {
	switch tool {
	case "memory.read", "memory.list", "memory.write", "shared.read", "shared.list", "shared.write":
		return true
	}
	return false
}

package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// agent is what the records so far say about an agent that is not TERMINATED.
type agent struct {
	no         uint32
	holds      *authority.Agent
	suspending lifecycle.Caller // who asked to suspend it while it was WAITING
	queued     uint32           // instructions that wait
	tick       tick
	calls      []call // of the tick, asked for and without an answer that was delivered
	births     births
	size       size
	touched    bool                    // by the block that is being read
	outlaw     bool                    // that its token was used although it is not in force was found
	last       uint64                  // pointer to its newest block; 0 before the first
	head       [logging.HashBytes]byte // its own chain value, after that block
	run        uint32                  // that it works for; 0 for none
}

// births are the children of the request that was accepted last.
type births struct {
	first, count uint32
	tick         uint64
	call         uint32
}

// state is where the agent's last transition led.
func (g *agent) state() lifecycle.State { return g.holds.State }

// defined looks at AGENT_DEFINED.
func (a *Auditor) defined() {
	no, last := a.record.Agent, a.holders.Last()
	body, ok := a.record.Body.(*identity.Defined)
	if !ok {
		return
	}
	if no != last+1 {
		a.found(Identity, "agent %d is defined after agent %d", no, last)
	}
	if _, known := a.holders.Set(body.Grants); !known {
		a.found(Grants, "the agent is defined with list %d of grants, which is not in the log", body.Grants)
	}
	if no <= last {
		return
	}
	a.holders.Take(a.seq, &a.record)
	a.agents[no] = &agent{no: no, holds: a.holders.Agent(no)}
}

// notAlive looks at a record of an agent that is over, or never was.
func (a *Auditor) notAlive() {
	if a.record.Agent > a.holders.Last() {
		a.found(Identity, "there is no agent %d", a.record.Agent)
		return
	}
	switch body := a.record.Body.(type) {
	case *tools.ActionBody:
		if a.record.Kind != bus.ActionFailed || body.Code != failure.Withdrawn {
			a.found(Over, "a call of an agent that is TERMINATED has an answer")
		}
		return
	case *lifecycle.Rejection:
		a.rejected(lifecycle.Terminated, body)
		return
	}
	switch a.record.Kind {
	case bus.ChildResult, bus.ChildFailure:
		a.childOver()
	case bus.EscalationDecided:
		a.decided(nil)
	default:
		if afterTheEnd(a.record.Kind) {
			return
		}
		a.found(Over, "the agent is TERMINATED, and this says that it does something, or that something is done for it")
	}
}

// afterTheEnd lists what is recorded of an agent that is TERMINATED: what it
// held is given back, and what rested on it is told.
func afterTheEnd(kind bus.Kind) bool {
	switch kind {
	case bus.Released, bus.QueueReleased, bus.TickFrozen, bus.TimerSet, bus.TimerCleared, bus.SnapshotDropped,
		bus.AgentArchived, bus.MemoryReleased, bus.ReceiveStarted, bus.DelegationOver, bus.RequestCancelled,
		bus.ChildrenRevoked, bus.ParentTerminated, bus.CascadeMoved, bus.StaleResult, bus.Audit,
		bus.BudgetBlocked, bus.BudgetOutlived, bus.RunArchived:
		return true
	}
	return false
}

// call finds a call of the agent's tick that has no answer yet.
func (g *agent) call(tick uint64, no uint32) *call {
	if tick != g.tick.seq {
		return nil
	}
	for i := range g.calls {
		if g.calls[i].no == no {
			return &g.calls[i]
		}
	}
	return nil
}

// drop forgets calls.
func (g *agent) drop(over func(c *call) bool) {
	kept := g.calls[:0]
	for i := range g.calls {
		if !over(&g.calls[i]) {
			kept = append(kept, g.calls[i])
		}
	}
	clear(g.calls[len(kept):])
	g.calls = kept
}

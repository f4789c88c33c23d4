package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// clocked looks at the time of an account that starts, stops or goes on.
func (a *Auditor) clocked(b *budgets.Clock) {
	held := a.purse.accounts[a.record.Agent]
	if held == nil {
		a.found(Budget, "the time of an account runs that is not there")
		return
	}
	held.spent, held.since = held.worked(a.now), 0
	if b.Running {
		held.since = a.now
	}
}

// worked is the time that an account's agent has been at work.
func (h *account) worked(now int64) int64 {
	if h.since == 0 {
		return h.spent
	}
	return h.spent + now - h.since
}

// shift remembers an account whose time another record may have started or stopped.
func (p *purse) shift(no uint32) {
	if p.accounts[no] != nil {
		p.shifted = append(p.shifted, no)
	}
}

// shifts holds the time of accounts against what their agents are doing when the
// block ends: it runs while they are at work, if it is limited, and else stands
// still (RU-9).
func (a *Auditor) shifts() {
	for _, no := range a.purse.shifted {
		held := a.purse.accounts[no]
		if runs := held.limits.WallMillis > 0 && a.atWork(no); runs != (held.since != 0) {
			a.record = bus.Record{Kind: bus.BudgetClock, Agent: no}
			a.found(Budget, "the account's time stands still while its agent is at work, or runs while it is not")
			held.spent, held.since = held.worked(a.now), 0
			if runs {
				held.since = a.now
			}
		}
	}
	a.purse.shifted = a.purse.shifted[:0]
}

func (a *Auditor) atWork(no uint32) bool {
	g := a.agents[no]
	if g == nil {
		return false
	}
	switch g.state() {
	case lifecycle.Defined, lifecycle.Resumable, lifecycle.Faulted, lifecycle.Terminated:
		return false
	}
	r := a.runs[no]
	return r == nil || r.state != runs.Planned && r.state != runs.Paused
}

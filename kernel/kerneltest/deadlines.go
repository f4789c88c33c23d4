package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// wait identifies what an agent waits for.
type wait struct {
	purpose timers.Purpose
	agent   uint32
	tick    uint64
	call    uint32
}

// checkDeadlines: every wait ends (LC-12). What an agent waits for has a timer
// each; RESUMABLE, a fault that is retried and a TERMINATED agent that is no
// tombstone yet have one of their own, a token that expires has one while its
// agent lives; and there is no other.
func (s *Sim) checkDeadlines(st *state.State) {
	s.T.Helper()
	all := make(map[wait]timers.Timer)
	own := make(map[uint32]timers.Timer)
	st.Timers.All(func(t timers.Timer) bool {
		require.LessOrEqual(s.T, t.ID, st.Timers.Next)
		switch t.Purpose {
		case timers.CallDeadline, timers.EscalationOver, timers.DelegationOver, timers.TokenOver, timers.ReservationOver, timers.BudgetOver:
			at := wait{t.Purpose, t.Agent, t.Tick, t.Call}
			require.Zero(s.T, all[at].ID, "two timers of one wait: %+v", at)
			all[at] = t
		default:
			require.Zero(s.T, own[t.Agent].ID, "agent %d's state has two timers", t.Agent)
			own[t.Agent] = t
		}
		return true
	})
	has := func(at wait, deadline int64, id uint64) {
		require.Equal(s.T, id, all[at].ID, "%+v", at)
		require.Equal(s.T, deadline, all[at].Deadline, "%+v", at)
		delete(all, at)
	}
	waits := make(map[uint32]map[uint32]bool) // agent, calls that something will answer
	answered := func(agent, call uint32) {
		if waits[agent] == nil {
			waits[agent] = make(map[uint32]bool)
		}
		require.False(s.T, waits[agent][call], "agent %d waits twice for call %d", agent, call)
		waits[agent][call] = true
	}
	st.Tools.All(func(c *tools.Call) bool {
		has(wait{timers.CallDeadline, c.Key.Agent, c.Key.Tick, c.Key.Call}, c.Deadline, c.Timer)
		answered(c.Key.Agent, c.Key.Call)
		return true
	})
	budgetDeadlines(st, has, answered)
	st.Escalations.All(func(e *permissions.Escalation) bool {
		has(wait{timers.EscalationOver, e.Agent, e.Tick, e.Call}, e.Deadline, e.Timer)
		answered(e.Agent, e.Call)
		return true
	})
	st.Delegation.All(func(o *delegation.Open) bool {
		has(wait{timers.DelegationOver, o.Parent, o.Tick, o.Call}, o.Deadline, o.Timer)
		if tick := st.Agents.Get(o.Parent).Execution.Current; tick.Wait(o.Call) != nil {
			answered(o.Parent, o.Call)
		}
		return true
	})
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := st.Agents.Get(no)
		if d := &row.Delegation; d.Timer != 0 && d.Revoked == "" && row.Lifecycle.State != lifecycle.Terminated {
			has(wait{purpose: timers.TokenOver, agent: no}, d.Expires, d.Timer)
		}
		require.Equal(s.T, timers.Row{Deadline: own[no].Deadline, ID: own[no].ID}, row.Timer, "agent %d", no)
		s.checkOwnTimer(no, row, own[no])
		switch own[no].Purpose {
		case timers.SleepOver, timers.ReceiveOver:
			answered(no, own[no].Call)
		}
		s.checkWaits(no, row, waits[no])
	}
	require.Empty(s.T, all, "timers of what is over")
}

// budgetDeadlines: a call that waits for room has its deadline, what outlives its
// agent another, and so has time at work that is limited.
func budgetDeadlines(st *state.State, has func(wait, int64, uint64), answered func(agent, call uint32)) {
	st.Budgets.AllWaiters(func(w *budgets.Waiter) bool {
		has(wait{timers.CallDeadline, w.Key.Agent, w.Key.Tick, w.Key.Call}, w.Deadline, w.Timer)
		answered(w.Key.Agent, w.Key.Call)
		return true
	})
	st.Budgets.AllReserved(func(r *budgets.Reservation) bool {
		if r.Timer != 0 {
			has(wait{timers.ReservationOver, r.Key.Agent, r.Key.Tick, r.Key.Call}, r.Deadline, r.Timer)
		}
		return true
	})
	st.Budgets.All(func(a *budgets.Account) bool {
		if a.Timer != 0 {
			has(wait{purpose: timers.BudgetOver, agent: a.Agent}, a.Deadline, a.Timer)
		}
		return true
	})
}

// checkOwnTimer: the timer of an agent's state is the one that the state has.
func (s *Sim) checkOwnTimer(no uint32, row *state.Row, own timers.Timer) {
	s.T.Helper()
	purpose := own.Purpose
	switch at := row.Lifecycle.State; {
	case at == lifecycle.Resumable:
		require.Equal(s.T, timers.ResumableOver, purpose, "agent %d", no)
	case at == lifecycle.Terminated && !row.Identity.Archived:
		require.Equal(s.T, timers.RetentionOver, purpose, "agent %d", no)
	case at == lifecycle.Faulted && row.Lifecycle.Fault == failure.Transient:
		// What an operator called TRANSIENT waits for the operator (FA-2).
		if row.Recovery.Retries > 0 {
			require.Equal(s.T, timers.BackoffOver, purpose, "agent %d", no)
		}
	case at == lifecycle.Waiting:
		if own.ID != 0 {
			require.Contains(s.T, []timers.Purpose{timers.SleepOver, timers.ReceiveOver}, purpose, "agent %d", no)
		}
	default:
		require.Zero(s.T, own.ID, "agent %d, %s", no, at)
	}
	if purpose == timers.ReceiveOver {
		require.Equal(s.T, own.Call, row.Mailbox.Call)
		require.Empty(s.T, row.Mailbox.Messages, "agent %d waits for a message and has one", no)
	} else {
		require.Zero(s.T, row.Mailbox.Call, "agent %d waits for a message without end", no)
	}
}

// checkWaits: a WAITING agent waits for exactly what something will answer.
func (s *Sim) checkWaits(no uint32, row *state.Row, waits map[uint32]bool) {
	s.T.Helper()
	if row.Lifecycle.State != lifecycle.Waiting {
		require.Empty(s.T, waits, "agent %d, %s, has calls and does not wait", no, row.Lifecycle.State)
		return
	}
	tick := row.Execution.Current
	require.NotNil(s.T, tick)
	require.Equal(s.T, execution.Pending, tick.Phase)
	open := 0
	for i := range tick.Waits {
		if tick.Waits[i].Answer == nil {
			open++
			require.True(s.T, waits[tick.First+uint32(i)], "nothing will answer call %d of agent %d", tick.First+uint32(i), no)
		}
	}
	require.Positive(s.T, open, "agent %d waits for nothing", no)
	require.Len(s.T, waits, open)
}

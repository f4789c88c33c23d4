package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// room tells whether a call fits into an account and those above it, beside what
// is being reserved with it. If not, where it does not, and for want of what. It
// does not go before those that wait: taken tells in which accounts somebody does.
func (v View) room(account uint32, cost, beside budgets.Amounts, taken func(*budgets.Account) bool) (budgets.Room, *budgets.Account, budgets.Kind) {
	room, scarce, kind := budgets.Fits, (*budgets.Account)(nil), budgets.Kind(0)
	v.Budgets.Up(account, func(a *budgets.Account) bool {
		r, k := a.Room(cost, beside)
		switch {
		case r == budgets.Lacking:
			room, scarce, kind = r, a, k
			return false
		case room == budgets.Fits && (r == budgets.Crowded || taken(a)):
			room, scarce, kind = budgets.Crowded, a, k
		}
		return true
	})
	return room, scarce, kind
}

// charge reserves what a call may come to before the call enters the outbox
// (RU-3). ok is false when it does not enter it now: it waits for room, or was
// refused. An agent that draws on no account is charged nothing.
func (g *gate) charge(j *judgement, call *tools.RequestedBody, timer bus.Record) (ok bool) {
	account := g.v.Account(g.t.No)
	if account == 0 {
		return true
	}
	if uint32(g.v.Budgets.Open()+g.v.Budgets.Waiters())+g.calls >= g.v.Config.MaxOutbox {
		// A reservation may outlive its call (RU-7): the outbox's length does not bound them.
		g.refuse(call.Call, call.Tool, &failure.Failure{Code: failure.ToolUnreachable, Message: "budgets hold as many reservations for calls that may have been made as max_outbox allows"})
		return false
	}
	cost := budgets.Amounts{}
	cost.Tokens, cost.USDMicros = j.tool.Cost(call.Args)
	room, scarce, kind := g.v.room(account, cost, g.charged, func(a *budgets.Account) bool { return a.Waiting > 0 || a.Agent == g.queued })
	switch room {
	case budgets.Lacking:
		g.exhausted(call.Call, call.Tool, scarce, kind, cost, g.charged)
		return false
	case budgets.Crowded:
		g.add(bus.BudgetWaiting, &budgets.Waiting{
			Call: call.Call, Account: scarce.Agent, Tool: call.Tool, Args: call.Args, Resource: call.Resource,
			Idempotent: call.Idempotent, Cost: cost, Deadline: call.Deadline, Timer: call.Timer,
			Revision: call.Revision,
		})
		g.out.Add(timer)
		g.timers++
		g.calls++
		g.queued = scarce.Agent
		return false
	}
	g.charged = g.charged.Plus(cost)
	g.add(bus.BudgetReserved, &budgets.Reserved{
		Call: call.Call, Account: account, Cost: cost, Started: call.Idempotent, Deadline: call.Deadline,
	})
	return true
}

// exhausted answers a call that an account will never have room for, beside what
// the tick has just reserved.
func (s *settler) exhausted(call uint32, tool string, a *budgets.Account, k budgets.Kind, cost, beside budgets.Amounts) {
	mark := markOf(a, k, s.v.Clock)
	mark.Wanted = amount(k, cost)
	mark.Reserved += amount(k, beside)
	s.out.Add(bus.Record{Kind: bus.BudgetExceeded, Agent: a.Agent, Body: mark})
	s.refuse(call, tool, overBudget(mark))
}

// amount is one kind's part.
func amount(k budgets.Kind, a budgets.Amounts) uint64 {
	switch k {
	case budgets.Tokens:
		return a.Tokens
	case budgets.USDMicros:
		return a.USDMicros
	}
	return 0 // time is not reserved
}

func markOf(a *budgets.Account, k budgets.Kind, now int64) *budgets.Mark {
	return &budgets.Mark{Kind: k, Limit: a.Limits.Of(k), Used: a.Used(k, now), Reserved: amount(k, a.Reserved)}
}

// overBudget is the failure that a mark stands for, with its account.
func overBudget(m *budgets.Mark) *failure.Failure {
	text := func(n uint64) string { return strconv.FormatUint(n, 10) }
	message := "the budget of " + text(m.Limit) + " " + m.Kind.String() + " is exceeded: " + text(m.Used) + " are used"
	if m.Reserved > 0 {
		message += ", " + text(m.Reserved) + " reserved"
	}
	if m.Wanted > 0 {
		message += ", and the call may come to " + text(m.Wanted)
	}
	return &failure.Failure{Code: failure.BudgetExceeded, Message: message}
}

// Admit looks at the first call that waits where room may have been made, and
// reports whether there was one. It is judged again, since it is now that it is
// made (TO-5); each look is one call's worth of work, so the rest goes on in
// later events (EV-12).
func Admit(v View, out *bus.Batch) bool {
	w, ok := v.Budgets.Next()
	if !ok {
		return false
	}
	t := Target{w.Key.Agent, v.Agents.Get(w.Key.Agent)}
	account := v.Account(t.No)
	room, scarce, kind := v.room(account, w.Cost, budgets.Amounts{}, func(a *budgets.Account) bool {
		return a.Waiting > 0 && a.Agent != w.Account // where it stands first itself
	})
	s := v.settling(t, out)
	switch room {
	case budgets.Lacking:
		out.Add(clearTimer(t.No, w.Deadline, w.Timer, false))
		s.exhausted(w.Key.Call, w.Tool, scarce, kind, w.Cost, budgets.Amounts{})
		return true
	case budgets.Crowded:
		s.add(bus.BudgetBlocked, &budgets.Blocked{Call: w.Key.Call, Account: scarce.Agent})
		return true
	}
	if !v.Tools.Current(w.Tool, w.Revision) { // it was judged as another tool than it would be (TO-9)
		out.Add(clearTimer(t.No, w.Deadline, w.Timer, false))
		s.refuse(w.Key.Call, w.Tool, replaced())
		return true
	}
	evaluation, code, gone := v.withdrawn(t.No, w.Resource)
	if gone {
		s.add(bus.Deny, &evaluation)
		out.Add(clearTimer(t.No, w.Deadline, w.Timer, false))
		s.refuse(w.Key.Call, w.Tool, unauthorised(code, w.Resource))
		return true
	}
	s.add(bus.Allow, &evaluation)
	s.add(bus.BudgetReserved, &budgets.Reserved{
		Call: w.Key.Call, Account: account, Cost: w.Cost, Started: w.Idempotent, Deadline: w.Deadline,
	})
	s.add(bus.CallRequested, &tools.RequestedBody{
		Call: w.Key.Call, Tool: w.Tool, Args: w.Args, Resource: w.Resource, Idempotent: w.Idempotent, Deadline: w.Deadline, Timer: w.Timer,
		Revision: w.Revision,
	})
	return true
}

// Settle reacts to the end of a call: what was reserved for it becomes what it
// came to. What may have been made, and told nothing yet, may still tell until
// its deadline (RU-3).
func Settle(v View, made bus.Record, out *bus.Batch) {
	if v.Budgets.Len() == 0 {
		return
	}
	body := made.Body.(*tools.ActionBody)
	r, ok := v.Budgets.Reservation(budgets.Key{Agent: made.Agent, Tick: made.Tick, Call: body.Call})
	if !ok {
		return
	}
	switch {
	case body.Usage.Metered:
		settle(r, used(body.Usage), budgets.Reported, out)
	case !r.Started || body.Code.NeverCalled() && (!r.Again || r.Term == v.Term):
		// What another leader did with a call that may be made again, nobody knows.
		settle(r, budgets.Amounts{}, budgets.Returned, out)
	case body.Code.LeavesOpen() && v.Clock < r.Deadline:
		timer := v.setTimer(timers.Timer{
			Deadline: r.Deadline, Purpose: timers.ReservationOver, Agent: r.Key.Agent, Tick: r.Key.Tick, Call: r.Key.Call,
		}, 0)
		out.Add(bus.Record{Kind: bus.BudgetOutlived, Agent: made.Agent, Tick: made.Tick, Body: &budgets.Outlived{Call: body.Call, Timer: timerID(timer)}})
		out.Add(timer)
	default:
		settle(r, r.Cost, budgets.Assumed, out)
	}
}

func used(u tools.Usage) budgets.Amounts {
	return budgets.Amounts{Tokens: u.Tokens, USDMicros: u.USDMicros}.AtMost()
}

func settle(r *budgets.Reservation, used budgets.Amounts, how budgets.How, out *bus.Batch) {
	over := used.Beyond(r.Cost)
	if !over.Zero() {
		out.Add(bus.Record{Kind: bus.BudgetOverrun, Agent: r.Key.Agent, Tick: r.Key.Tick, Body: &budgets.Overrun{Call: r.Key.Call, Beyond: over}})
	}
	out.Add(bus.Record{Kind: bus.BudgetSettled, Agent: r.Key.Agent, Tick: r.Key.Tick, Body: &budgets.Settled{Call: r.Key.Call, Used: used, How: how}})
}

// settleLate settles what a call came to that nobody waits for any more.
func (v View) settleLate(r *budgets.Reservation, u tools.Usage, out *bus.Batch) {
	out.Add(clearTimer(r.Key.Agent, r.Deadline, r.Timer, false))
	if !u.Metered {
		settle(r, r.Cost, budgets.Assumed, out)
		return
	}
	settle(r, used(u), budgets.Reported, out)
}

// reservationOver settles at its maximum what was never told.
func (v View) reservationOver(timer timers.Timer, out *bus.Batch) {
	r, ok := v.Budgets.Reservation(budgets.Key{Agent: timer.Agent, Tick: timer.Tick, Call: timer.Call})
	if ok {
		settle(r, r.Cost, budgets.Assumed, out)
	}
}

// Marks reacts to a settlement: a limit that comes to its warning, or is
// exceeded, is on record once for each of its values.
func Marks(v View, made bus.Record, out *bus.Batch) {
	v.Budgets.Up(v.Account(made.Agent), func(a *budgets.Account) bool {
		for _, k := range [...]budgets.Kind{budgets.Tokens, budgets.USDMicros} {
			v.mark(a, k, out)
		}
		return true
	})
}

func (v View) mark(a *budgets.Account, k budgets.Kind, out *bus.Batch) {
	if a.Warns(k, v.Clock) {
		out.Add(bus.Record{Kind: bus.BudgetWarning, Agent: a.Agent, Body: markOf(a, k, v.Clock)})
	}
	if a.Exceeded(k, v.Clock) {
		out.Add(bus.Record{Kind: bus.BudgetExceeded, Agent: a.Agent, Body: markOf(a, k, v.Clock)})
	}
}

package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// DefaultWarnPercent of a limit is used before there is a warning, unless the
// budget says otherwise.
const DefaultWarnPercent = 80

// limitsOf is what a budget asks for.
func limitsOf(b *event.Budget) budgets.Limits {
	l := budgets.Limits{Tokens: b.Tokens, USDMicros: b.USDMicros, WallMillis: b.WallMillis, WarnPercent: b.WarnPercent}
	if l.WarnPercent == 0 {
		l.WarnPercent = DefaultWarnPercent
	}
	return l
}

// checkBudget holds the rules of a budget that need no state.
func checkBudget(b *event.Budget, field string) *failure.Refusal {
	if b == nil {
		return nil
	}
	if r := checkLimits(limitsOf(b), field); r != nil {
		return r
	}
	if b.Tokens == 0 && b.USDMicros == 0 && b.WallMillis == 0 {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: "must limit something: tokens, usd_micros or wall_ms"}
	}
	return nil
}

func checkLimits(l budgets.Limits, field string) *failure.Refusal {
	bad := func(name, rule string) *failure.Refusal {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field + "." + name, Rule: rule}
	}
	switch {
	case l.Tokens > budgets.MaxLimit:
		return bad("tokens", "must be at most 2^53")
	case l.USDMicros > budgets.MaxLimit:
		return bad("usd_micros", "must be at most 2^53")
	case l.WallMillis < 0 || l.WallMillis > budgets.MaxLimit:
		return bad("wall_ms", "must be from 0 to 2^53")
	case l.WarnPercent > 100:
		return bad("warn_percent", "must be from 1 to 100")
	}
	return nil
}

// SetBudget decides a BudgetSet event: an operator gives an agent's account other
// limits, which are on record with the reason. What is spent or reserved cannot be
// taken back (RU-3).
func SetBudget(v View, cmd *event.SetBudget, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return t, refusal
	}
	a, ok := v.Budgets.Get(t.No)
	switch {
	case !ok:
		return t, v.noAccount(t)
	case t.Row.Lifecycle.State == lifecycle.Terminated:
		return t, refuse(failure.InvalidState, "agent", "the agent is TERMINATED: it spends nothing any more")
	}
	limits := a.Limits
	if cmd.Tokens != nil {
		limits.Tokens = *cmd.Tokens
	}
	if cmd.USDMicros != nil {
		limits.USDMicros = *cmd.USDMicros
	}
	if cmd.WallMillis != nil {
		limits.WallMillis = *cmd.WallMillis
	}
	if cmd.WarnPercent != nil {
		limits.WarnPercent = *cmd.WarnPercent
	}
	if r := checkLimits(limits, "budget"); r != nil {
		return t, &Refusal{Refusal: *r}
	}
	if limits == a.Limits {
		return t, refuse(failure.InvalidArgument, "budget", "must give a limit another value than it has")
	}
	for _, k := range [...]budgets.Kind{budgets.Tokens, budgets.USDMicros, budgets.WallMillis} {
		taken := a.Used(k, v.Clock) + amount(k, a.Reserved)
		if limit := limits.Of(k); limit != a.Limits.Of(k) && limit != 0 && limit < taken {
			return t, refuse(failure.InvalidArgument, "budget."+k.String(), "must be at least what is spent and reserved, which is "+strconv.FormatUint(taken, 10))
		}
	}
	out.Add(bus.Record{Kind: bus.BudgetChanged, Agent: t.No, Body: &budgets.Changed{Limits: limits, Reason: cmd.Reason}})
	return t, nil
}

// noAccount refuses to change an account that the agent does not hold itself.
func (v View) noAccount(t Target) *Refusal {
	hint := "give it a budget when it is defined"
	if holder := v.Account(t.No); holder != 0 {
		hint = "it draws on the account of " + FormatID(v.Agents.Get(holder).Identity.ID)
	}
	return refuseHint(failure.InvalidState, "agent", "the agent holds no account of its own", hint)
}

package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const decisionRule = "on_escalation must give true, false or {approve, reason}"

// consider begins the handler of a DELEGATE (PE-3). What a child asks for may
// be larger than a value by as much as stands around the arguments; beyond, it
// is declined.
func (t *tick) consider(n *node, escalation value.Raw) Result {
	at := t.at
	f := t.push(n)
	f.escalation, _ = escalationNumber(escalation)
	t.charge(len(escalation))
	fail := checkDepth(escalation)
	if fail == nil && len(escalation) > int(t.maxValue)+answerSlack {
		fail = tooLarge("what the child asks for", t.maxValue)
	}
	if fail == nil {
		fail = t.bind(n.name, cell{raw: escalation})
	}
	if fail != nil {
		return t.decline(at, string(fail.Code)+": "+fail.Message)
	}
	return t.goTo(n.body)
}

// decide hands out what the handler of a DELEGATE has said.
func (t *tick) decide(at int32, v cell) Result {
	approve, reason, ok := decision(v.raw)
	if !ok {
		return t.decline(at, string(failure.EvalFailure)+": "+decisionRule+", not "+describe(v.raw))
	}
	return t.decided(at, approve, reason)
}

// decline is what a handler says that has failed.
func (t *tick) decline(at int32, reason string) Result { return t.decided(at, false, reason) }

// decided ends the handler. The tick stands at the DELEGATE again and waits on.
func (t *tick) decided(at int32, approve bool, reason string) Result {
	t.unwind(at)
	number := t.top().escalation
	t.pop()
	t.at = at
	return Result{Kind: NeedsDecision, Decision: &Decision{
		Escalation: number, Approve: approve, Reason: failure.Clip(reason),
	}}
}

// decision reads what a handler gave: a boolean, or {approve, reason?}.
func decision(raw value.Raw) (approve bool, reason string, ok bool) {
	if approve, ok = raw.Bool(); ok {
		return approve, "", true
	}
	member, _ := raw.Get("approve")
	if approve, ok = member.Bool(); !ok {
		return false, "", false
	}
	known := uint64(1)
	if text, given := raw.Get("reason"); given {
		known++
		if reason, ok = text.Text(); !ok {
			return false, "", false
		}
	}
	return approve, reason, raw.Len() == known
}

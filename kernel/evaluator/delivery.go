package evaluator

import "github.com/omnikernel/omnikernel/kernel/value"

// accept takes what the tick is resumed with; false if it does not fit the
// instruction at hand.
func (t *tick) accept(d *Delivery) bool {
	if d == nil {
		return true
	}
	n := t.node()
	switch {
	case d.Escalation != nil:
		_, ok := escalationNumber(d.Escalation)
		if !ok || len(d.Answers) > 0 || n.op != opDelegate || n.body == none {
			return false
		}
	case n.op == opParallel:
		if len(d.Answers) != len(n.more.calls) {
			return false
		}
	case len(d.Answers) != 1:
		return false
	}
	t.arrived = d
	return true
}

// escalationNumber is the number that a decision names.
func escalationNumber(escalation value.Raw) (uint64, bool) {
	member, _ := escalation.Get("escalation")
	number, ok := member.Int()
	return uint64(number), ok && number >= 0
}

// answers hands out those that have arrived, once; nil if none have.
func (t *tick) answers() []Answer {
	if t.arrived == nil {
		return nil
	}
	answers := t.arrived.Answers
	t.arrived = nil
	return answers
}

package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ret compiles RETURN {value}, RETURN {do} and RETURN {}.
func (c *compiler) ret(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	if c.handlers > 0 {
		return n, invalid(s.path, "RETURN cannot stand in on_escalation: the children are still running", "")
	}
	o, refusal := asObject(raw, s.path, "value", "do")
	if refusal != nil {
		return n, refusal
	}
	n.data, n.body, refusal = c.valueOrDo(o, s)
	if refusal == nil && !n.data.given() {
		n.data = constantly(value.Null)
	}
	return n, refusal
}

// stepReturn goes on with the instruction inside, whose value deliver then
// takes for the tick's, or ends the tick here.
func (t *tick) stepReturn(n *node) Result {
	if n.body != none {
		return t.goTo(n.body)
	}
	v, fail := t.evaluate(&n.data)
	if fail != nil {
		return t.failed(fail)
	}
	return t.complete(v)
}

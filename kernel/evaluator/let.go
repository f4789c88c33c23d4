package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// let compiles LET {name, value} and LET {name, do}.
func (c *compiler) let(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "name", "value", "do")
	if refusal != nil {
		return n, refusal
	}
	if n.name, refusal = c.variable(o, "name"); refusal != nil {
		return n, refusal
	}
	if n.data, n.body, refusal = c.valueOrDo(o, s); refusal != nil {
		return n, refusal
	}
	if !n.data.given() && n.body == none {
		return n, invalid(o.path, "one of value and do is required", "")
	}
	return n, nil
}

// valueOrDo compiles the two fields of which at most one may be given.
func (c *compiler) valueOrDo(o object, s scope) (data operand, body int32, refusal *failure.Refusal) {
	_, isValue := o.get("value")
	_, isDo := o.get("do")
	if isValue && isDo {
		return operand{}, none, invalid(o.path, "only one of value and do may be given", "")
	}
	if data, refusal = o.operand("value"); refusal != nil {
		return operand{}, none, refusal
	}
	body, refusal = c.inside(o, "do", s)
	return data, body, refusal
}

func (t *tick) stepLet(n *node) Result {
	if n.body != none {
		return t.goTo(n.body)
	}
	v, fail := t.evaluate(&n.data)
	if fail == nil {
		fail = t.bind(n.name, v)
	}
	if fail != nil {
		return t.failed(fail)
	}
	return t.deliver(v)
}

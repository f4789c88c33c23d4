package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// literal compiles LITERAL {value}.
func (c *compiler) literal(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "value")
	if refusal == nil {
		n.data, refusal = o.required("value")
	}
	return n, refusal
}

func (t *tick) stepLiteral(n *node) Result {
	v, fail := t.evaluate(&n.data)
	if fail != nil {
		return t.failed(fail)
	}
	return t.deliver(v)
}

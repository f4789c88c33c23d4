package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// emit compiles EMIT {value}.
func (c *compiler) emit(raw value.Raw, s scope) (node, *failure.Refusal) { return c.literal(raw, s) }

// stepEmit publishes a value and has it.
func (t *tick) stepEmit(n *node) Result {
	v, fail := t.evaluate(&n.data)
	if fail != nil {
		return t.failed(fail)
	}
	t.charge(len(v.raw))
	r := t.deliver(v)
	r.Emits = []value.Raw{v.raw}
	return r
}

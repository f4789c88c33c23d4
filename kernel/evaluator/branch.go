package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// branch compiles BRANCH {if, then, else?}.
func (c *compiler) branch(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "if", "then", "else")
	if refusal != nil {
		return n, refusal
	}
	if n.data, refusal = o.required("if", value.BoolKind); refusal != nil {
		return n, refusal
	}
	if n.body, refusal = c.inside(o, "then", s); refusal != nil {
		return n, refusal
	}
	if n.body == none {
		return n, o.missing("then")
	}
	n.other, refusal = c.inside(o, "else", s)
	return n, refusal
}

// stepBranch chooses. There is no truthiness: if is a boolean.
func (t *tick) stepBranch(n *node) Result {
	v, fail := t.evaluate(&n.data)
	if fail != nil {
		return t.failed(fail)
	}
	yes, ok := v.raw.Bool()
	switch {
	case !ok:
		return t.failed(wrongType("if must be a boolean, not " + describe(v.raw)))
	case yes:
		return t.goTo(n.body)
	case n.other != none:
		return t.goTo(n.other)
	}
	return t.deliver(nothing)
}

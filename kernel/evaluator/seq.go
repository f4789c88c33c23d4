package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// seq compiles SEQ {steps}.
func (c *compiler) seq(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "steps")
	if refusal != nil {
		return n, refusal
	}
	steps, given := o.get("steps")
	if !given {
		return n, o.missing("steps")
	}
	path := o.path + ".steps"
	rd := value.NewReader(steps)
	count, ok := rd.ReadListHeader()
	if !ok {
		return n, invalid(path, "must be a list of instructions, not "+describe(steps), "")
	}
	if count == 0 {
		return n, invalid(path, "must have at least one instruction", "")
	}
	last := none
	for i := range count {
		step, refusal := c.instruction(rd.Skip(), path+value.JoinItem(i, ""), s.at, s.nesting+1)
		if refusal != nil {
			return n, refusal
		}
		if last == none {
			n.body = step
		} else {
			c.nodes[last].next = step
		}
		last = step
	}
	return n, nil
}

func (t *tick) stepSeq(n *node) Result { return t.goTo(n.body) }

package evaluator

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// toolDelegate is the tool of the kernel that a DELEGATE calls.
const toolDelegate = "agent.delegate"

// family is what a DELEGATE asks for: children that are written out, or one for
// each item of a list.
type family struct {
	children [][]field // written out

	over   operand
	as     int32   // the variable for the item
	common []field // what all of them have, evaluated once: no expressions in it
	each   []field // what is evaluated for each

	failFast, detach bool
}

// delegate compiles DELEGATE {children, fail_fast?, timeout_ms?, detach?,
// handle?, on_escalation?}.
func (c *compiler) delegate(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "children", "fail_fast", "timeout_ms", "detach", "handle", "on_escalation")
	if refusal != nil {
		return n, refusal
	}
	n.more = &more{}
	f := &n.more.family
	if f.failFast, refusal = o.flag("fail_fast"); refusal != nil {
		return n, refusal
	}
	if f.detach, refusal = o.flag("detach"); refusal != nil {
		return n, refusal
	}
	if f.detach && f.failFast {
		return n, invalid(o.path+".fail_fast", "a DELEGATE that does not wait sees no failure: detach is true", "")
	}
	if n.handle, refusal = o.flag("handle"); refusal != nil {
		return n, refusal
	}
	if n.timeout, refusal = o.timeout(); refusal != nil {
		return n, refusal
	}
	if refusal = c.children(o, f); refusal != nil {
		return n, refusal
	}
	handler, given := o.get("on_escalation")
	if !given {
		return n, nil
	}
	path := o.path + ".on_escalation"
	if f.detach {
		return n, invalid(path, "nothing can be asked of a DELEGATE that does not wait: detach is true", "")
	}
	n.name, n.body, refusal = c.handler(handler, scope{path: path, at: s.at, nesting: s.nesting})
	return n, refusal
}

// handler compiles on_escalation {as, do}.
func (c *compiler) handler(raw value.Raw, s scope) (as, body int32, refusal *failure.Refusal) {
	o, refusal := asObject(raw, s.path, "as", "do")
	if refusal != nil {
		return none, none, refusal
	}
	if as, refusal = c.variable(o, "as"); refusal != nil {
		return none, none, refusal
	}
	c.handlers++
	body, refusal = c.framed(o, "do", s, handlerHeads)
	c.handlers--
	return as, body, refusal
}

// stepDelegate asks for the children, or takes what they came to, or begins
// the decision of what one of them asks for.
func (t *tick) stepDelegate(n *node) Result {
	if t.arrived != nil && t.arrived.Escalation != nil {
		escalation := t.arrived.Escalation
		t.arrived = nil
		return t.consider(n, escalation)
	}
	if answers := t.answers(); answers != nil {
		return t.take(n, answers[0])
	}
	args, fail := t.delegation(n)
	if fail != nil {
		return t.failed(fail)
	}
	if args == nil {
		return t.take(n, Answer{OK: true, Value: value.EmptyList})
	}
	millis, fail := t.within(n)
	if fail != nil {
		return t.failed(fail)
	}
	return t.ask([]Call{{Tool: toolDelegate, Args: args, TimeoutMillis: millis}})
}

// delegation builds the arguments; nil when there are no children to ask for.
// Its keys stand in canonical order.
func (t *tick) delegation(n *node) (args value.Raw, fail *failure.Failure) {
	f := &n.more.family
	var items value.Reader
	count := uint64(len(f.children))
	if f.over.given() {
		if items, count, fail = t.items(f); fail != nil || count == 0 {
			return nil, fail
		}
	}
	args = value.AppendMapHeader(nil, 1+asOne(f.over.given())+asOne(f.detach)+asOne(f.failFast)+asOne(n.body != none))
	if f.over.given() {
		args = value.AppendString(args, "child")
		if args, fail = t.appendFields(args, f.common); fail != nil {
			return nil, fail
		}
	}
	args = appendFlag(args, "detach", f.detach)
	args = value.AppendString(args, "children")
	args = value.AppendListHeader(args, count)
	if args, fail = t.appendChildren(args, f, items, count); fail != nil {
		return nil, fail
	}
	args = appendFlag(args, "fail_fast", f.failFast)
	args = appendFlag(args, "on_escalation", n.body != none)
	t.charge(len(args))
	if len(args) > int(t.maxValue) {
		return nil, tooLarge("what the call is given", t.maxValue)
	}
	return args, checkDepth(args)
}

// items evaluates over.
func (t *tick) items(f *family) (items value.Reader, count uint64, fail *failure.Failure) {
	over, fail := t.evaluate(&f.over)
	if fail != nil {
		return items, 0, fail
	}
	items = value.NewReader(over.raw)
	count, ok := items.ReadListHeader()
	switch {
	case !ok:
		return items, 0, wrongType("over must be a list, not " + describe(over.raw))
	case count > MaxChildren:
		return items, 0, &failure.Failure{
			Code:    failure.ValueTooLarge,
			Message: "over has more than " + strconv.Itoa(MaxChildren) + " items",
		}
	}
	return items, count, nil
}

// appendChildren appends one child after the other. Where they are made from
// items, the variable is the item while its child is evaluated.
func (t *tick) appendChildren(dst []byte, f *family, items value.Reader, count uint64) ([]byte, *failure.Failure) {
	var fail *failure.Failure
	if !f.over.given() {
		for _, fields := range f.children {
			if dst, fail = t.appendFields(dst, fields); fail != nil {
				return nil, fail
			}
		}
		return dst, nil
	}
	outside := t.vars[f.as]
	for ; count > 0 && fail == nil; count-- {
		t.vars[f.as] = cell{raw: items.Skip()}
		dst, fail = t.appendFields(dst, f.each)
	}
	t.vars[f.as] = outside
	return dst, fail
}

func asOne(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func appendFlag(dst []byte, key string, set bool) []byte {
	if !set {
		return dst
	}
	return value.AppendBool(value.AppendString(dst, key), true)
}

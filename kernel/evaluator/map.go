package evaluator

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// mapOver compiles MAP {over, as, index?, do}.
func (c *compiler) mapOver(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "over", "as", "index", "do")
	if refusal != nil {
		return n, refusal
	}
	if n.data, refusal = o.required("over", value.ListKind); refusal != nil {
		return n, refusal
	}
	if n.name, refusal = c.variable(o, "as"); refusal != nil {
		return n, refusal
	}
	if _, given := o.get("index"); given {
		if n.index, refusal = c.variable(o, "index"); refusal != nil {
			return n, refusal
		}
		if n.index == n.name {
			return n, invalid(o.path+".index", "must differ from as", "")
		}
	}
	n.body, refusal = c.framed(o, "do", s, mapHeads)
	return n, refusal
}

func (t *tick) stepMap(n *node) Result {
	over, fail := t.evaluate(&n.data)
	if fail != nil {
		return t.failed(fail)
	}
	rest := value.NewReader(over.raw)
	count, ok := rest.ReadListHeader()
	switch {
	case !ok:
		return t.failed(wrongType("over must be a list, not " + describe(over.raw)))
	case count == 0:
		return t.deliver(cell{raw: value.EmptyList})
	case count > MaxMapItems:
		return t.failed(&failure.Failure{
			Code:    failure.ValueTooLarge,
			Message: "over has more than " + strconv.Itoa(MaxMapItems) + " items",
		})
	}
	t.store += int64(len(rest.Rest()))
	m := t.push(n)
	m.rest, m.left = rest, count
	if fail := t.nextItem(n); fail != nil {
		return t.failed(fail)
	}
	return t.goTo(n.body)
}

// nextItem binds the variables of the next item of the innermost MAP.
func (t *tick) nextItem(n *node) *failure.Failure {
	m := t.top()
	item := m.rest.Skip()
	m.left--
	t.store -= int64(len(item))
	if n.index != none {
		if fail := t.bind(n.index, cell{raw: value.AppendInt(nil, int64(m.done))}); fail != nil {
			return fail
		}
	}
	return t.bind(n.name, cell{raw: item})
}

// collect takes the result of one item. It begins the next one, or ends the
// MAP and gives the list of results.
func (t *tick) collect(n *node, v cell) (list cell, more bool, fail *failure.Failure) {
	m := t.top()
	m.results = append(m.results, v.raw...)
	m.done++
	t.charge(len(v.raw))
	t.store += int64(len(v.raw))
	if len(m.results) > int(t.maxValue) {
		return cell{}, false, tooLarge("the list of results", t.maxValue)
	}
	if m.left > 0 { // binding the next item checks the store
		return cell{}, true, t.nextItem(n)
	}
	return t.endMap()
}

// endMap restores the variables and makes the list.
func (t *tick) endMap() (list cell, more bool, fail *failure.Failure) {
	m := t.top()
	raw := value.Raw(value.AppendListHeader(make([]byte, 0, len(m.results)+9), m.done))
	raw = append(raw, m.results...)
	t.charge(len(raw))
	t.pop()
	if fail := t.checkSize(raw); fail != nil {
		return cell{}, false, fail
	}
	return cell{raw: raw}, false, checkDepth(raw)
}

// checkDepth refuses a value that wrapping has nested too deep (EX-10).
func checkDepth(raw value.Raw) *failure.Failure {
	if raw.Depth() <= value.MaxDepth {
		return nil
	}
	return &failure.Failure{
		Code:    failure.ValueTooLarge,
		Message: "lists and maps are nested deeper than " + strconv.Itoa(value.MaxDepth),
	}
}

package expr

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// evalAll evaluates nodes into a new array, which is charged first.
func (m *Meter) evalAll(nodes []node) ([]starlark.Value, *failure.Failure) {
	if f := m.alloc(uint64(len(nodes)) * slotBytes); f != nil {
		return nil, f
	}
	values := make([]starlark.Value, len(nodes))
	for i, n := range nodes {
		v, f := m.eval(n)
		if f != nil {
			return nil, f
		}
		values[i] = v
	}
	return values, nil
}

// listNode is [a, b] or (a, b).
type listNode struct {
	place
	items []node
}

func (n *listNode) eval(m *Meter) (starlark.Value, *failure.Failure) {
	if f := m.alloc(listBytes); f != nil {
		return nil, f
	}
	items, f := m.evalAll(n.items)
	if f != nil {
		return nil, f
	}
	return asValue(newList(items))
}

// mapNode is {a: b, c: d}. A repeated key is a failure.
type mapNode struct {
	place
	keys, values []node
}

func (n *mapNode) eval(m *Meter) (starlark.Value, *failure.Failure) {
	if f := m.allocMap(uint64(len(n.keys))); f != nil {
		return nil, f
	}
	var s sum
	members := make([]member, len(n.keys))
	for i := range n.keys {
		key, f := m.evalKey(n.keys[i])
		if f != nil {
			return nil, f
		}
		v, f := m.eval(n.values[i])
		if f != nil {
			return nil, f
		}
		members[i] = member{key, v}
		s.size += uint64(textSize(uint64(len(key))))
		if f := s.check(0, MaxValueBytes); f != nil { // before keys are compared with each other
			return nil, f
		}
	}
	members, repeated := arrange(members)
	if len(repeated) > 0 {
		return nil, wrong("the key ", quoted(repeated[0]), " is repeated")
	}
	return asValue(newMap(members))
}

func (m *Meter) evalKey(n node) (string, *failure.Failure) {
	v, f := m.eval(n)
	if f != nil {
		return "", f
	}
	key, ok := v.(starlark.String)
	if !ok {
		return "", locate(wrong("a map's key must be text, not ", kindName(v)), n)
	}
	return string(key), nil
}

// comprehension is [body for … if …] or {key: body for … if …}. In a map, the
// last value of a repeated key stays.
type comprehension struct {
	place
	key     node // nil in a list
	body    node
	clauses []clause
}

// clause is for target in x, or if condition.
type clause struct {
	target    *target
	x         node
	condition node // nil in a for clause
}

// target is a loop variable, or several in parentheses.
type target struct {
	slot  int
	parts []*target
}

// yield collects what a comprehension gives, and its size so far: it stops as
// soon as the result would be too large.
type yield struct {
	items   []starlark.Value
	members []member
	sum     sum
}

func (n *comprehension) eval(m *Meter) (starlark.Value, *failure.Failure) {
	if f := m.alloc(mapBytes); f != nil {
		return nil, f
	}
	var out yield
	if f := n.run(m, n.clauses, &out); f != nil {
		return nil, f
	}
	if n.key == nil {
		return asValue(newList(out.items))
	}
	if f := m.sort(uint64(len(out.members))); f != nil {
		return nil, f
	}
	members, _ := arrange(out.members)
	return asValue(newMap(members))
}

func (n *comprehension) run(m *Meter, clauses []clause, out *yield) *failure.Failure {
	if len(clauses) == 0 {
		return n.produce(m, out)
	}
	c := &clauses[0]
	if c.condition != nil {
		v, f := m.eval(c.condition)
		if f != nil || !truth(v) {
			return f
		}
		return n.run(m, clauses[1:], out)
	}
	x, f := m.eval(c.x)
	if f != nil {
		return f
	}
	switch x := x.(type) {
	case *List:
		for _, item := range x.items {
			if f := n.once(m, clauses, item, out); f != nil {
				return f
			}
		}
		return nil
	case *Map:
		for _, member := range x.members {
			if f := m.alloc(boxBytes); f != nil {
				return f
			}
			if f := n.once(m, clauses, starlark.String(member.key), out); f != nil {
				return f
			}
		}
		return nil
	}
	return locate(notIterable(x), c.x)
}

// once runs the clauses after the first with one item: one step.
func (n *comprehension) once(m *Meter, clauses []clause, item starlark.Value, out *yield) *failure.Failure {
	if f := m.work(1); f != nil {
		return f
	}
	if f := clauses[0].target.assign(m, item); f != nil {
		return locate(f, clauses[0].x)
	}
	return n.run(m, clauses[1:], out)
}

func (n *comprehension) produce(m *Meter, out *yield) *failure.Failure {
	if n.key == nil {
		v, f := m.eval(n.body)
		if f != nil {
			return f
		}
		if f := m.alloc(slotBytes * growFactor); f != nil {
			return f
		}
		out.items = append(out.items, v)
		return out.grow(shapeOf(v))
	}
	key, f := m.evalKey(n.key)
	if f != nil {
		return f
	}
	v, f := m.eval(n.body)
	if f != nil {
		return f
	}
	if f := m.alloc(memberBytes * growFactor); f != nil {
		return f
	}
	out.members = append(out.members, member{key, v})
	out.sum.size += uint64(textSize(uint64(len(key))))
	return out.grow(shapeOf(v))
}

func (y *yield) grow(part shape) *failure.Failure {
	y.sum.add(part)
	return y.sum.check(0, MaxValueBytes)
}

// assign binds the target to an item, taking a list apart where several names
// are given.
func (t *target) assign(m *Meter, item starlark.Value) *failure.Failure {
	if t.parts == nil {
		m.vars[t.slot] = item
		return nil
	}
	list, ok := item.(*List)
	if !ok {
		return wrong("for with ", counted(len(t.parts), "name"), " needs lists to take apart, not ", kindName(item))
	}
	if len(list.items) != len(t.parts) {
		return wrong("for with ", counted(len(t.parts), "name"), " got a list of ", counted(len(list.items), "item"))
	}
	for i, part := range t.parts {
		if f := part.assign(m, list.items[i]); f != nil {
			return f
		}
	}
	return nil
}

func notIterable(x starlark.Value) *failure.Failure {
	hint := ""
	switch x.(type) {
	case starlark.String:
		hint = "; split it first"
	case starlark.Int:
		hint = "; range(n) counts"
	}
	return wrong("a list or a map is needed to go over, not ", kindName(x), hint)
}

package expr

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// node is one node of a compiled expression. The parser's syntax tree is
// rewritten into nodes, and only nodes run: every operator and every call
// among them goes through a function that charges the meter first.
type node interface {
	eval(m *Meter) (starlark.Value, *failure.Failure)
	at() place
}

// place is a position inside an expression, 1-based, the column in code
// points. The zero place is unknown.
type place struct{ line, column uint16 }

func (p place) at() place { return p }

// eval evaluates one node: one step. A failure without a place has happened in
// this very node.
func (m *Meter) eval(n node) (starlark.Value, *failure.Failure) {
	if m.steps >= m.maxSteps {
		return nil, locate(m.work(1), n)
	}
	m.steps++
	v, f := n.eval(m)
	if f != nil {
		return nil, locate(f, n)
	}
	return v, nil
}

func locate(f *failure.Failure, n node) *failure.Failure {
	if f.Line == 0 {
		p := n.at()
		f.Line, f.Column = uint32(p.line), uint32(p.column)
	}
	return f
}

// constant is a literal, or a part of a template without expressions.
type constant struct {
	place
	value starlark.Value
}

func (n *constant) eval(*Meter) (starlark.Value, *failure.Failure) { return n.value, nil }

// variable is a name that the environment may know.
type variable struct {
	place
	name string
}

func (n *variable) eval(m *Meter) (starlark.Value, *failure.Failure) {
	if m.env != nil {
		if v, ok := m.env.Lookup(n.name); ok {
			return n.known(v)
		}
	}
	if _, ok := functions[n.name]; ok {
		return nil, wrong(n.name, " is a function: write ", n.name, "(…)")
	}
	return nil, wrong("unknown name ", quoted(n.name))
}

// known checks a value of the environment in constant time: Env promises
// values of this package.
func (n *variable) known(v starlark.Value) (starlark.Value, *failure.Failure) {
	if x, ok := v.(starlark.Float); ok {
		return number(float64(x))
	}
	if kindOf(v) == value.Invalid {
		return nil, wrong("the value of ", quoted(n.name), " is no data")
	}
	return v, nil
}

// local is a loop variable.
type local struct {
	place
	slot int
}

func (n *local) eval(m *Meter) (starlark.Value, *failure.Failure) { return m.vars[n.slot], nil }

// access is x.name: the member of a map.
type access struct {
	place
	x    node
	name string
}

func (n *access) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	d, ok := x.(*Map)
	if !ok {
		if methods[n.name] != nil {
			return nil, wrong(n.name, " is a method: write .", n.name, "(…)")
		}
		return nil, wrong(kindName(x), " has no members, so no ", quoted(n.name))
	}
	return memberOf(d, n.name)
}

func memberOf(d *Map, key string) (starlark.Value, *failure.Failure) {
	if v, ok := d.Member(key); ok {
		return v, nil
	}
	words := []string{"the map has no member ", quoted(key)}
	if len(d.members) == 0 {
		words = append(words, "; it is empty")
	} else {
		words = append(words, "; it has ")
		for i, m := range d.members {
			if i == maxNamedMembers {
				words = append(words, " …")
				break
			}
			if i > 0 {
				words = append(words, ", ")
			}
			words = append(words, quoted(m.key))
		}
	}
	return nil, wrong(words...)
}

// maxNamedMembers bounds how many members a message lists.
const maxNamedMembers = 5

// both is x and y, or x or y: y is evaluated only when it decides.
type both struct {
	place
	or   bool
	x, y node
}

func (n *both) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil || truth(x) == n.or {
		return x, f
	}
	return m.eval(n.y)
}

// negation is not x.
type negation struct {
	place
	x node
}

func (n *negation) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	return starlark.Bool(!truth(x)), nil
}

// choice is x if condition else y.
type choice struct {
	place
	condition, x, y node
}

func (n *choice) eval(m *Meter) (starlark.Value, *failure.Failure) {
	c, f := m.eval(n.condition)
	if f != nil {
		return nil, f
	}
	if truth(c) {
		return m.eval(n.x)
	}
	return m.eval(n.y)
}

// sign is -x, +x or ~x.
type sign struct {
	place
	op syntax.Token
	x  node
}

func (n *sign) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	return unary(m, n.op, x)
}

// operation is a strict binary operator.
type operation struct {
	place
	op   syntax.Token
	x, y node
}

func (n *operation) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	y, f := m.eval(n.y)
	if f != nil {
		return nil, f
	}
	if s, ok := x.(starlark.String); ok && n.op == syntax.PERCENT {
		return interpolate(m, string(s), []starlark.Value{y}, y)
	}
	return binary(m, n.op, x, y)
}

// spread is format % (a, b): a written-out tuple on the right gives several
// arguments to a format, and is a list to any other left side.
type spread struct {
	place
	x     node
	items []node
}

func (n *spread) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	items, f := m.evalAll(n.items)
	if f != nil {
		return nil, f
	}
	if s, ok := x.(starlark.String); ok {
		return interpolate(m, string(s), items, nil)
	}
	return nil, wrong("% cannot be applied to ", kindName(x), " and list")
}

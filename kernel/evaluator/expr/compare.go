package expr

import (
	"math/big"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// equal is structural equality. Values of different kinds differ, except that
// there is only one way to hold a number. Its cost is bounded by the smaller
// of the two values and is charged first.
func equal(m *Meter, x, y starlark.Value) (bool, *failure.Failure) {
	if f := m.scan(uint64(min(shapeOf(x).size, shapeOf(y).size))); f != nil {
		return false, f
	}
	return same(x, y), nil
}

func same(x, y starlark.Value) bool {
	switch x := x.(type) {
	case starlark.NoneType:
		return y == starlark.None
	case starlark.Bool:
		y, ok := y.(starlark.Bool)
		return ok && x == y
	case starlark.Int, starlark.Float:
		return isNumber(y) && compareNumbers(x, y) == 0
	case starlark.String:
		y, ok := y.(starlark.String)
		return ok && x == y
	case *List:
		y, ok := y.(*List)
		return ok && sameLists(x, y)
	case *Map:
		y, ok := y.(*Map)
		return ok && sameMaps(x, y)
	}
	return false
}

func sameLists(x, y *List) bool {
	if x == y {
		return true
	}
	if len(x.items) != len(y.items) {
		return false
	}
	for i := range x.items {
		if !same(x.items[i], y.items[i]) {
			return false
		}
	}
	return true
}

func sameMaps(x, y *Map) bool {
	if x == y {
		return true
	}
	if len(x.members) != len(y.members) {
		return false
	}
	for i := range x.members {
		if x.members[i].key != y.members[i].key || !same(x.members[i].value, y.members[i].value) {
			return false
		}
	}
	return true
}

// ordered is < <= > >= between two numbers, texts, booleans or lists.
func ordered(m *Meter, op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	if f := m.scan(uint64(min(shapeOf(x).size, shapeOf(y).size))); f != nil {
		return nil, f
	}
	c, f := compare(x, y)
	if f != nil {
		return nil, f
	}
	switch op {
	case syntax.LT:
		return starlark.Bool(c < 0), nil
	case syntax.LE:
		return starlark.Bool(c <= 0), nil
	case syntax.GT:
		return starlark.Bool(c > 0), nil
	}
	return starlark.Bool(c >= 0), nil
}

// compare orders two values of one kind: text by code points, lists by their
// first difference. The caller has charged for it.
func compare(x, y starlark.Value) (int, *failure.Failure) {
	switch x := x.(type) {
	case starlark.Int, starlark.Float:
		if isNumber(y) {
			return compareNumbers(x, y), nil
		}
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			return strings.Compare(string(x), string(y)), nil
		}
	case starlark.Bool:
		if y, ok := y.(starlark.Bool); ok {
			return order(x == y, bool(!x)), nil
		}
	case *List:
		if y, ok := y.(*List); ok {
			return compareLists(x, y)
		}
	}
	return 0, wrong(kindName(x), " and ", kindName(y), " have no order")
}

func compareLists(x, y *List) (int, *failure.Failure) {
	for i := range min(len(x.items), len(y.items)) {
		c, f := compareItems(x.items[i], y.items[i])
		if f != nil || c != 0 {
			return c, f
		}
	}
	return order(len(x.items) == len(y.items), len(x.items) < len(y.items)), nil
}

// compareItems also lets items pass that are the same and have no order. It
// looks at everything once, at any depth.
func compareItems(x, y starlark.Value) (int, *failure.Failure) {
	switch kindOf(x) {
	case value.NullKind, value.MapKind:
		if same(x, y) {
			return 0, nil
		}
	}
	return compare(x, y)
}

// compareNumbers compares exactly, an integer with a float too.
func compareNumbers(x, y starlark.Value) int {
	a, okA := x.(starlark.Int)
	b, okB := y.(starlark.Int)
	switch {
	case okA && okB:
		if a, b, ok := both64(a, b); ok {
			return order(a == b, a < b)
		}
		return a.BigInt().Cmp(b.BigInt())
	case okA:
		return exact(a).Cmp(big.NewFloat(float64(y.(starlark.Float))))
	case okB:
		return big.NewFloat(float64(x.(starlark.Float))).Cmp(exact(b))
	}
	p, q := x.(starlark.Float), y.(starlark.Float)
	return order(p == q, p < q)
}

func exact(n starlark.Int) *big.Float { return new(big.Float).SetInt(n.BigInt()) }

func order(same, less bool) int {
	switch {
	case same:
		return 0
	case less:
		return -1
	}
	return 1
}

// contains is x in set: a key of a map, an item of a list, a part of a text.
func contains(m *Meter, set, x starlark.Value) (bool, *failure.Failure) {
	switch set := set.(type) {
	case *Map:
		key, ok := x.(starlark.String)
		if !ok {
			return false, nil
		}
		_, found := set.Member(string(key))
		return found, nil
	case *List:
		i, f := position(m, set, x)
		return i >= 0, f
	case starlark.String:
		part, ok := x.(starlark.String)
		if !ok {
			return false, wrong("only text can be in text, not ", kindName(x))
		}
		if f := m.scan(uint64(len(set)) + uint64(len(part))); f != nil {
			return false, f
		}
		return strings.Contains(string(set), string(part)), nil
	}
	return false, wrong("in needs a list, a map or text on its right, not ", kindName(set))
}

// position is the index of the first item equal to x, -1 when there is none.
func position(m *Meter, list *List, x starlark.Value) (int, *failure.Failure) {
	if f := m.search(list); f != nil {
		return 0, f
	}
	for i, item := range list.items {
		if same(item, x) {
			return i, nil
		}
	}
	return -1, nil
}

// search charges for comparing all items of a list with something.
func (m *Meter) search(list *List) *failure.Failure {
	if f := m.scan(uint64(list.shape.size)); f != nil {
		return f
	}
	return m.visit(uint64(len(list.items)))
}

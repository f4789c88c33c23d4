package script

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

func comparisons(all starlark.StringDict) {
	for _, token := range []syntax.Token{syntax.EQL, syntax.NEQ} {
		define(all, token.String(), 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			same, f := r.equal(args[0], args[1], 0)
			return starlark.Bool(same == (token == syntax.EQL)), f
		})
	}
	for _, token := range []syntax.Token{syntax.LT, syntax.LE, syntax.GT, syntax.GE} {
		define(all, token.String(), 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			c, f := r.compare(args[0], args[1], 0)
			if f != nil {
				return nil, f
			}
			return starlark.Bool(ordered(token, c)), nil
		})
	}
	for _, token := range []syntax.Token{syntax.IN, syntax.NOT_IN} {
		define(all, token.String(), 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			in, f := r.contains(args[1], args[0])
			return starlark.Bool(in == (token == syntax.IN)), f
		})
	}
}

func ordered(op syntax.Token, c int) bool {
	switch op {
	case syntax.LT:
		return c < 0
	case syntax.LE:
		return c <= 0
	case syntax.GT:
		return c > 0
	}
	return c >= 0
}

const deepRule = "lists and dicts are nested deeper than 64"

// equal is structural equality. Each value that is looked at is charged for, so
// that no sharing makes it dearer than it looks.
func (r *run) equal(x, y starlark.Value, depth int) (bool, *failure.Failure) {
	if depth > MaxDepth {
		return false, tooMuch(deepRule)
	}
	if f := r.meter.Visit(8); f != nil {
		return false, f
	}
	if simple(x) || simple(y) {
		if !simple(x) || !simple(y) {
			return false, nil
		}
		v, f := expr.Binary(r.meter, syntax.EQL, x, y)
		return v == starlark.True, f
	}
	switch x := x.(type) {
	case *starlark.List:
		y, ok := y.(*starlark.List)
		if !ok {
			return false, nil
		}
		return r.equalItems(x, y, depth)
	case starlark.Tuple:
		y, ok := y.(starlark.Tuple)
		if !ok {
			return false, nil
		}
		return r.equalItems(x, y, depth)
	case *span:
		y, ok := y.(*span)
		return ok && x.count == y.count && (x.count == 0 || x.start == y.start && (x.count == 1 || x.step == y.step)), nil
	case *dict:
		y, ok := y.(*dict)
		if !ok {
			return false, nil
		}
		return r.equalDicts(x, y, depth)
	case *result:
		y, ok := y.(*result)
		if !ok {
			return false, nil
		}
		return r.equalDicts(x.asDict(), y.asDict(), depth)
	case *starlark.Function:
		return x == y, nil
	case *starlark.Builtin:
		return x == y, nil
	}
	return false, nil
}

func (r *run) equalItems(x, y listed, depth int) (bool, *failure.Failure) {
	if x.Len() != y.Len() {
		return false, nil
	}
	for i := range x.Len() {
		if same, f := r.equal(x.Index(i), y.Index(i), depth+1); f != nil || !same {
			return false, f
		}
	}
	return true, nil
}

func (r *run) equalDicts(x, y *dict, depth int) (bool, *failure.Failure) {
	if x.Len() != y.Len() {
		return false, nil
	}
	for _, e := range x.entries {
		if e.key == nil {
			continue
		}
		k, _ := keyOf(e.key)
		other, found := y.get(k)
		if !found {
			return false, nil
		}
		if same, f := r.equal(e.value, other, depth+1); f != nil || !same {
			return false, f
		}
	}
	return true, nil
}

// compare orders two values of one kind: numbers, texts, booleans, and lists or
// tuples by their first difference.
func (r *run) compare(x, y starlark.Value, depth int) (int, *failure.Failure) {
	if depth > MaxDepth {
		return 0, tooMuch(deepRule)
	}
	if f := r.meter.Visit(8); f != nil {
		return 0, f
	}
	if simple(x) && simple(y) {
		return expr.Compare(r.meter, x, y)
	}
	switch x := x.(type) {
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok {
			return r.compareItems(x, y, depth)
		}
	case starlark.Tuple:
		if y, ok := y.(starlark.Tuple); ok {
			return r.compareItems(x, y, depth)
		}
	}
	return 0, fault(kind(x) + " and " + kind(y) + " have no order")
}

func (r *run) compareItems(x, y listed, depth int) (int, *failure.Failure) {
	for i := range min(x.Len(), y.Len()) {
		same, f := r.equal(x.Index(i), y.Index(i), depth+1)
		if f != nil {
			return 0, f
		}
		if !same {
			return r.compare(x.Index(i), y.Index(i), depth+1)
		}
	}
	switch {
	case x.Len() < y.Len():
		return -1, nil
	case x.Len() > y.Len():
		return 1, nil
	}
	return 0, nil
}

// contains is x in set: a key of a dict, an item of a list, a part of a text.
func (r *run) contains(set, x starlark.Value) (bool, *failure.Failure) {
	switch set := set.(type) {
	case starlark.String:
		if !isText(x) {
			return false, fault("only text can be in text, not " + kind(x))
		}
		v, f := expr.Binary(r.meter, syntax.IN, x, set)
		return v == starlark.True, f
	case *dict:
		k, ok := keyOf(x)
		if !ok {
			return false, nil
		}
		_, found := set.get(k)
		return found, r.meter.Scan(uint64(len(k.text)))
	case *span:
		return r.inSpan(set, x), nil
	case listed:
		at, f := r.position(set, x)
		return at >= 0, f
	}
	return false, fault("in needs a list, a dict or text on its right, not " + kind(set))
}

func (r *run) inSpan(s *span, x starlark.Value) bool {
	i, ok := x.(starlark.Int)
	if !ok {
		return false
	}
	n, ok := i.Int64()
	if !ok || s.count == 0 || n < -1<<54 || n > 1<<54 {
		return false
	}
	steps := (n - s.start) / s.step
	return (n-s.start)%s.step == 0 && steps >= 0 && steps < int64(s.count)
}

// position is the index of the first item equal to x, -1 when there is none.
func (r *run) position(list listed, x starlark.Value) (int, *failure.Failure) {
	for i := range list.Len() {
		same, f := r.equal(list.Index(i), x, 1)
		if f != nil {
			return 0, f
		}
		if same {
			return i, nil
		}
	}
	return -1, nil
}

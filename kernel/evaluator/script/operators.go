package script

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// binaryOperators are those that become calls, with what they are to package
// expr, which computes with numbers and text.
var binaryOperators = map[string]syntax.Token{
	"+": syntax.PLUS, "-": syntax.MINUS, "*": syntax.STAR, "/": syntax.SLASH, "//": syntax.SLASHSLASH, "%": syntax.PERCENT,
	"&": syntax.AMP, "|": syntax.PIPE, "^": syntax.CIRCUMFLEX, "<<": syntax.LTLT, ">>": syntax.GTGT,
	"==": syntax.EQL, "!=": syntax.NEQ, "<": syntax.LT, "<=": syntax.LE, ">": syntax.GT, ">=": syntax.GE,
	"in": syntax.IN, "not in": syntax.NOT_IN,
}

// operators are the binary ones, x op= y for a name and for an item, and the
// unary ones.
func operators(all starlark.StringDict) {
	for _, token := range []syntax.Token{
		syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT,
		syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT,
	} {
		name := token.String()
		define(all, name, 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			return r.binary(token, args[0], args[1])
		})
		define(all, name+"=", 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			return r.augment(token, args[0], args[1])
		})
		define(all, opItem+name+"=", 3, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			return r.augmentItem(token, args[0], args[1], args[2])
		})
	}
	define(all, opItem+"=", 3, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return starlark.None, r.setItem(args[0], args[1], args[2])
	})
	for _, token := range []syntax.Token{syntax.MINUS, syntax.PLUS, syntax.TILDE} {
		define(all, opUnary+token.String(), 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
			if !isNumber(args[0]) {
				return nil, fault(token.String() + " cannot be applied to " + kind(args[0]))
			}
			return expr.Unary(r.meter, token, args[0])
		})
	}
	comparisons(all)
}

// fault is the failure of an operation that does not fit its operands.
func fault(words string) *failure.Failure {
	return &failure.Failure{Code: failure.EvalFailure, Message: failure.Clip(words)}
}

func tooMuch(words string) *failure.Failure {
	return &failure.Failure{Code: failure.ValueTooLarge, Message: failure.Clip(words)}
}

// kind names the kind of a value in messages.
func kind(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String:
		return expr.Describe(v)
	case *starlark.Builtin:
		return "function"
	}
	return v.Type()
}

func isNumber(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}

func isText(v starlark.Value) bool {
	_, ok := v.(starlark.String)
	return ok
}

// simple are the values that package expr has too.
func simple(v starlark.Value) bool {
	switch v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String:
		return true
	}
	return false
}

func (r *run) binary(op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	switch {
	case op == syntax.PERCENT && isText(x):
		return r.interpolate(string(x.(starlark.String)), y)
	case simple(x) && simple(y):
		return expr.Binary(r.meter, op, x, y)
	}
	switch op {
	case syntax.PLUS:
		return r.concatenate(x, y)
	case syntax.STAR:
		if n, ok := x.(starlark.Int); ok {
			return r.repeat(y, n)
		}
		if n, ok := y.(starlark.Int); ok {
			return r.repeat(x, n)
		}
	case syntax.PIPE:
		a, okA := x.(*dict)
		b, okB := y.(*dict)
		if okA && okB {
			return r.union(a, b)
		}
	}
	return nil, unfit(op, x, y)
}

func unfit(op syntax.Token, x, y starlark.Value) *failure.Failure {
	words := op.String() + " cannot be applied to " + kind(x) + " and " + kind(y)
	if op == syntax.PLUS && (isText(x) || isText(y)) {
		words += "; str(x) makes text of any value"
	}
	return fault(words)
}

// concatenate is the items of two lists, or of two tuples, in a new one.
func (r *run) concatenate(x, y starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := x.(type) {
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok {
			items, f := r.both(x, y)
			return starlark.NewList(items), f
		}
	case starlark.Tuple:
		if y, ok := y.(starlark.Tuple); ok {
			items, f := r.both(x, y)
			return starlark.Tuple(items), f
		}
	}
	return nil, unfit(syntax.PLUS, x, y)
}

func (r *run) both(x, y listed) ([]starlark.Value, *failure.Failure) {
	if f := r.allocList(uint64(x.Len()) + uint64(y.Len())); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, 0, x.Len()+y.Len())
	for i := range x.Len() {
		items = append(items, x.Index(i))
	}
	for i := range y.Len() {
		items = append(items, y.Index(i))
	}
	return items, nil
}

func (r *run) repeat(x starlark.Value, n starlark.Int) (starlark.Value, *failure.Failure) {
	from, ok := x.(listed)
	if !ok {
		return nil, unfit(syntax.STAR, x, n)
	}
	times := uint64(0)
	if n.Sign() > 0 && from.Len() > 0 {
		times = MaxItems + 1
		if small, ok := n.Int64(); ok && small <= MaxItems {
			times = uint64(small)
		}
	}
	if f := r.allocList(times * uint64(from.Len())); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, 0, int(times)*from.Len())
	for range times {
		for i := range from.Len() {
			items = append(items, from.Index(i))
		}
	}
	if _, ok := x.(starlark.Tuple); ok {
		return starlark.Tuple(items), nil
	}
	return starlark.NewList(items), nil
}

// union is a new dict: x's entries, and y's, which win.
func (r *run) union(x, y *dict) (starlark.Value, *failure.Failure) {
	if f := r.allocDict(uint64(x.Len()) + uint64(y.Len())); f != nil {
		return nil, f
	}
	d := newDict(x.Len() + y.Len())
	for _, from := range [...]*dict{x, y} {
		for _, e := range from.entries {
			if e.key != nil {
				d.put(e.key, e.value)
			}
		}
	}
	return d, nil
}

// augment is x op= y: a list takes the items, and a dict the entries, itself.
func (r *run) augment(op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := x.(type) {
	case *starlark.List:
		if op == syntax.PLUS {
			return x, r.extend(x, y)
		}
	case *dict:
		if y, ok := y.(*dict); ok && op == syntax.PIPE {
			return x, r.update(x, y)
		}
	}
	return r.binary(op, x, y)
}

func (r *run) augmentItem(op syntax.Token, x, i, y starlark.Value) (starlark.Value, *failure.Failure) {
	old, f := r.index(x, i)
	if f != nil {
		return nil, f
	}
	v, f := r.augment(op, old, y)
	if f != nil {
		return nil, f
	}
	return starlark.None, r.setItem(x, i, v)
}

// interpolate is text % x.
func (r *run) interpolate(format string, x starlark.Value) (starlark.Value, *failure.Failure) {
	parts := starlark.Tuple{x}
	if tuple, ok := x.(starlark.Tuple); ok {
		parts = tuple
	}
	items, f := r.owned(parts)
	if f != nil {
		return nil, f
	}
	var named starlark.Value
	if _, ok := x.(*dict); ok {
		named = items[0]
	}
	return expr.Interpolate(r.meter, format, items, named)
}

// owned makes values for package expr.
func (r *run) owned(values []starlark.Value) ([]starlark.Value, *failure.Failure) {
	if f := r.allocList(uint64(len(values))); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, len(values))
	for i, v := range values {
		var f *failure.Failure
		if items[i], f = r.own(v); f != nil {
			return nil, f
		}
	}
	return items, nil
}

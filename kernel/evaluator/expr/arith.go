package expr

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// binary applies a strict operator. Whatever can make a value bigger is
// charged before it is made (EX-11).
func binary(m *Meter, op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	switch op {
	case syntax.EQL, syntax.NEQ:
		same, f := equal(m, x, y)
		return starlark.Bool(same == (op == syntax.EQL)), f
	case syntax.LT, syntax.GT, syntax.LE, syntax.GE:
		return ordered(m, op, x, y)
	case syntax.IN, syntax.NOT_IN:
		in, f := contains(m, y, x)
		return starlark.Bool(in == (op == syntax.IN)), f
	case syntax.PLUS:
		return add(m, x, y)
	case syntax.MINUS:
		return arithmetic(m, "-", x, y, subInts, func(a, b float64) float64 { return a - b })
	case syntax.STAR:
		return multiply(m, x, y)
	case syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT:
		return divide(m, op, x, y)
	}
	return bitwise(m, op, x, y)
}

func add(m *Meter, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := x.(type) {
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			if f := m.allocText(uint64(len(x)) + uint64(len(y))); f != nil {
				return nil, f
			}
			return x + y, nil
		}
	case *List:
		if y, ok := y.(*List); ok {
			if f := m.allocList(uint64(len(x.items)) + uint64(len(y.items))); f != nil {
				return nil, f
			}
			items := make([]starlark.Value, 0, len(x.items)+len(y.items))
			return asValue(newList(append(append(items, x.items...), y.items...)))
		}
	}
	return arithmetic(m, "+", x, y, addInts, func(a, b float64) float64 { return a + b })
}

type (
	intOp   = func(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure)
	floatOp = func(a, b float64) float64
)

// arithmetic applies op to two numbers, exactly when both are integers.
func arithmetic(m *Meter, op string, x, y starlark.Value, ints intOp, floats floatOp) (starlark.Value, *failure.Failure) {
	if a, ok := x.(starlark.Int); ok {
		if b, ok := y.(starlark.Int); ok {
			return ints(m, a, b)
		}
	}
	a, okA, fA := float(x)
	b, okB, fB := float(y)
	switch {
	case !okA || !okB:
		return nil, mismatch(op, x, y)
	case fA != nil:
		return nil, fA
	case fB != nil:
		return nil, fB
	}
	return number(floats(a, b))
}

func multiply(m *Meter, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	if n, ok := x.(starlark.Int); ok && !isNumber(y) {
		x, y = y, n
	}
	if n, ok := y.(starlark.Int); ok {
		switch x := x.(type) {
		case starlark.String:
			return repeatText(m, string(x), n)
		case *List:
			return repeatList(m, x, n)
		}
	}
	return arithmetic(m, "*", x, y, mulInts, func(a, b float64) float64 { return a * b })
}

// divide is /, // and %. The quotient of / is a float before it enters the
// model, where an integral one is an integer again.
func divide(m *Meter, op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	if !isNumber(x) || !isNumber(y) {
		return nil, mismatch(op.String(), x, y)
	}
	b, _, f := float(y)
	if f == nil && b == 0 {
		return nil, wrong("division by zero")
	}
	switch op {
	case syntax.SLASHSLASH:
		return arithmetic(m, "//", x, y, divInts, func(a, b float64) float64 { return math.Floor(a / b) })
	case syntax.PERCENT:
		return arithmetic(m, "%", x, y, modInts, modFloats)
	}
	a, _, fA := float(x)
	switch {
	case fA != nil:
		return nil, fA
	case f != nil:
		return nil, f
	}
	return number(a / b)
}

// modFloats has the sign of the divisor. math.Mod is exact, so it is the same
// everywhere.
func modFloats(a, b float64) float64 {
	r := math.Mod(a, b)
	if r != 0 && (a < 0) != (b < 0) {
		r += b
	}
	return r
}

func bitwise(m *Meter, op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	if a, ok := x.(*Map); ok && op == syntax.PIPE {
		if b, ok := y.(*Map); ok {
			return union(m, a, b)
		}
	}
	a, okA := x.(starlark.Int)
	b, okB := y.(starlark.Int)
	if !okA || !okB {
		return nil, mismatch(op.String(), x, y)
	}
	if p, q, ok := both64(a, b); ok {
		if v, ok := bitwise64(op, p, q); ok {
			return starlark.MakeInt64(v), nil
		}
	}
	bits := max(bitLen(a), bitLen(b))
	switch op {
	case syntax.PIPE:
		return bigInts(m, a, b, bits, (*big.Int).Or)
	case syntax.AMP:
		return bigInts(m, a, b, bits, (*big.Int).And)
	case syntax.CIRCUMFLEX:
		return bigInts(m, a, b, bits, (*big.Int).Xor)
	case syntax.LTLT:
		return shiftLeft(m, a, b)
	case syntax.GTGT:
		return shiftRight(m, a, b)
	}
	panic("expr: an operator that the compiler lets through")
}

// bitwise64 is the common case; ok is false when it is not.
func bitwise64(op syntax.Token, a, b int64) (v int64, ok bool) {
	switch op {
	case syntax.PIPE:
		return a | b, true
	case syntax.AMP:
		return a & b, true
	case syntax.CIRCUMFLEX:
		return a ^ b, true
	case syntax.GTGT:
		return a >> min(uint64(b), 63), b >= 0 && b <= MaxIntBits
	}
	return 0, false
}

// union is x | y: the members of both, y's where a key is in both.
func union(m *Meter, x, y *Map) (starlark.Value, *failure.Failure) {
	n := uint64(len(x.members)) + uint64(len(y.members))
	if f := m.allocMap(n); f != nil {
		return nil, f
	}
	if f := m.scan(uint64(x.shape.size) + uint64(y.shape.size)); f != nil {
		return nil, f
	}
	members := make([]member, 0, n)
	members, _ = arrange(append(append(members, x.members...), y.members...))
	return asValue(newMap(members))
}

// unary applies - + ~ to a number.
func unary(m *Meter, op syntax.Token, x starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := x.(type) {
	case starlark.Int:
		switch op {
		case syntax.MINUS:
			return subInts(m, starlark.MakeInt(0), x)
		case syntax.TILDE:
			return subInts(m, starlark.MakeInt(-1), x)
		}
		return x, nil
	case starlark.Float:
		switch op {
		case syntax.MINUS:
			return -x, nil
		case syntax.PLUS:
			return x, nil
		}
	}
	return nil, wrong(op.String(), " cannot be applied to ", kindName(x))
}

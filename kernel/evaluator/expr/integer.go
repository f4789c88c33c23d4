package expr

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Integer arithmetic: exact in 64 bits where it fits, otherwise with math/big
// on at most MaxIntBits bits, whose result is charged before it is made.

func addInts(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	if a, b, ok := both64(x, y); ok {
		if c := a + b; (c > a) == (b > 0) {
			return starlark.MakeInt64(c), nil
		}
	}
	return bigInts(m, x, y, max(bitLen(x), bitLen(y)), (*big.Int).Add)
}

func subInts(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	if a, b, ok := both64(x, y); ok {
		if c := a - b; (c < a) == (b > 0) {
			return starlark.MakeInt64(c), nil
		}
	}
	return bigInts(m, x, y, max(bitLen(x), bitLen(y)), (*big.Int).Sub)
}

func mulInts(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	bits := bitLen(x) + bitLen(y)
	if bits < 63 {
		a, b, _ := both64(x, y)
		return starlark.MakeInt64(a * b), nil
	}
	return bigInts(m, x, y, bits, (*big.Int).Mul)
}

// divInts is floored division, as in Starlark: -7 // 2 is -4.
func divInts(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	if y.Sign() == 0 {
		return nil, wrong("division by zero")
	}
	if a, b, ok := both64(x, y); ok && a != math.MinInt64 {
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return starlark.MakeInt64(q), nil
	}
	return bigInts(m, x, y, bitLen(x), func(_, a, b *big.Int) *big.Int {
		_, q := floored(a, b)
		return q
	})
}

// modInts has the sign of the divisor, as in Starlark: -7 % 2 is 1.
func modInts(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	if y.Sign() == 0 {
		return nil, wrong("division by zero")
	}
	if a, b, ok := both64(x, y); ok && a != math.MinInt64 {
		r := a % b
		if r != 0 && (a < 0) != (b < 0) {
			r += b
		}
		return starlark.MakeInt64(r), nil
	}
	return bigInts(m, x, y, bitLen(y), func(_, a, b *big.Int) *big.Int {
		r, _ := floored(a, b)
		return r
	})
}

// floored gives remainder and quotient rounded towards minus infinity.
func floored(a, b *big.Int) (r, q *big.Int) {
	q, r = new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 && (r.Sign() < 0) != (b.Sign() < 0) {
		r.Add(r, b)
		q.Sub(q, big.NewInt(1))
	}
	return r, q
}

func shiftLeft(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	n, f := shiftCount(y)
	if f != nil || x.Sign() == 0 {
		return x, f
	}
	return bigInts(m, x, y, bitLen(x)+uint64(n), func(z, a, _ *big.Int) *big.Int {
		return z.Lsh(a, uint(n))
	})
}

func shiftRight(m *Meter, x, y starlark.Int) (starlark.Value, *failure.Failure) {
	n, f := shiftCount(y)
	if f != nil {
		return nil, f
	}
	return bigInts(m, x, y, bitLen(x), func(z, a, _ *big.Int) *big.Int {
		return z.Rsh(a, uint(n))
	})
}

func shiftCount(y starlark.Int) (uint32, *failure.Failure) {
	n, ok := y.Int64()
	switch {
	case y.Sign() < 0:
		return 0, wrong("a shift count must not be negative")
	case !ok || n > MaxIntBits:
		return 0, tooLarge("a shift count is at most ", decimal(MaxIntBits))
	}
	return uint32(n), nil
}

// bigInts computes with arbitrary precision. bits is what the result has, or
// one more: it is checked and charged first.
func bigInts(m *Meter, x, y starlark.Int, bits uint64, op func(z, a, b *big.Int) *big.Int) (starlark.Value, *failure.Failure) {
	if bits > MaxIntBits+1 {
		return nil, wideInt()
	}
	if f := m.alloc(64 + 4*(bits+bitLen(x)+bitLen(y))/8); f != nil {
		return nil, f
	}
	if f := m.work(bits * bits >> 18); f != nil { // a step for 64 products of words
		return nil, f
	}
	z := op(new(big.Int), x.BigInt(), y.BigInt())
	if z.BitLen() > MaxIntBits {
		return nil, wideInt()
	}
	return starlark.MakeBigInt(z), nil
}

func wideInt() *failure.Failure {
	return tooLarge("the integer has more than ", decimal(MaxIntBits), " bits")
}

func both64(x, y starlark.Int) (a, b int64, ok bool) {
	a, ok = x.Int64()
	if !ok {
		return 0, 0, false
	}
	b, ok = y.Int64()
	return a, b, ok
}

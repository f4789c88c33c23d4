package expr

import (
	"math/bits"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// shape is what a value's bounds are checked with. Containers carry theirs, so
// a value built from shared parts is as expensive as its written-out form: no
// chain of doublings can outrun the bounds, and comparing, printing and
// encoding are bounded by what was allowed to be built.
type shape struct {
	size  uint32 // bytes of the canonical encoding
	depth uint8  // containers open at once; 0 for a scalar
	wide  bool   // holds an integer beyond 2^53, which may not leave
}

// shapeOf returns v's shape without walking into containers.
func shapeOf(v starlark.Value) shape {
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool:
		return shape{size: 1}
	case starlark.Int:
		return intShape(v)
	case starlark.Float:
		var scratch [9]byte
		return shape{size: uint32(len(value.AppendFloat(scratch[:0], float64(v))))}
	case starlark.String:
		return shape{size: textSize(uint64(len(v)))}
	case *List:
		return v.shape
	case *Map:
		return v.shape
	}
	panic("expr: a value that was not adopted")
}

func intShape(v starlark.Int) shape {
	n, ok := v.Int64()
	if !ok {
		return shape{size: 9 + uint32(bitLen(v)/8), wide: true}
	}
	argument := uint64(n)
	if n < 0 {
		argument = uint64(-(n + 1))
	}
	return shape{size: headSize(argument), wide: n > value.MaxInt || n < -value.MaxInt}
}

// headSize is the length of a CBOR head with this argument.
func headSize(argument uint64) uint32 {
	switch {
	case argument < 24:
		return 1
	case argument <= 0xff:
		return 2
	case argument <= 0xffff:
		return 3
	case argument <= 0xffff_ffff:
		return 5
	}
	return 9
}

func textSize(n uint64) uint32 { return headSize(n) + uint32(n) }

// checkTextSize refuses text whose encoding is larger than one value may be.
func (m *Meter) checkTextSize(n uint64) *failure.Failure {
	if n > uint64(m.maxValue) || textSize(n) > m.maxValue {
		return tooLarge("the text is larger than ", decimal(int64(m.maxValue)), " bytes")
	}
	return nil
}

// sum adds up the shape of a container while it is being filled.
type sum struct {
	size  uint64
	depth uint8
	wide  bool
}

func (s *sum) add(part shape) {
	s.size += uint64(part.size)
	s.depth = max(s.depth, part.depth)
	s.wide = s.wide || part.wide
}

// container is the shape of a container with n members whose parts were added.
func (s *sum) container(n int) shape {
	return shape{size: headSize(uint64(n)) + uint32(s.size), depth: s.depth + 1, wide: s.wide}
}

// check refuses a container beyond the bounds.
func (s *sum) check(n int, maxBytes uint32) *failure.Failure {
	if s.size+uint64(headSize(uint64(n))) > uint64(maxBytes) {
		return tooLarge("the value is larger than ", decimal(int64(maxBytes)), " bytes")
	}
	if s.depth >= value.MaxDepth {
		return tooLarge("lists and maps are nested deeper than ", decimal(value.MaxDepth))
	}
	return nil
}

// bitLen is the number of bits of |v|.
func bitLen(v starlark.Int) uint64 {
	if n, ok := v.Int64(); ok {
		if n < 0 {
			n = -n // the smallest one stays, and its 64 bits are right
		}
		return uint64(bits.Len64(uint64(n)))
	}
	return uint64(v.BigInt().BitLen())
}

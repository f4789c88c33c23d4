package expr

import (
	"math"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// number brings a computed float into the model: it must be finite, and an
// integral one up to 2^53 is the integer (EX-10). So there is one way to hold
// a number, and 4/2 is the same as 2 everywhere.
func number(f float64) (starlark.Value, *failure.Failure) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, wrong("the result is no finite number")
	}
	if f == math.Trunc(f) && math.Abs(f) <= float64(value.MaxInt) {
		return starlark.MakeInt64(int64(f)), nil
	}
	return starlark.Float(f), nil
}

// float is v as a float64; ok is false when v is no number.
func float(v starlark.Value) (f float64, ok bool, problem *failure.Failure) {
	switch v := v.(type) {
	case starlark.Int:
		f = float64(v.Float())
		if math.IsInf(f, 0) {
			return 0, true, tooLarge("the integer is too large for a division or a float")
		}
		return f, true, nil
	case starlark.Float:
		return float64(v), true, nil
	}
	return 0, false, nil
}

// isNumber tells whether v is an integer or a float.
func isNumber(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}

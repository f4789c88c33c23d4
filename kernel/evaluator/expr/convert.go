package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Conversions: str, int, float, bool, list, dict, type, and JSON.

func toText(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return textOf(m, args[0])
}

func toBool(_ *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return starlark.Bool(truth(args[0])), nil
}

func typeOf(_ *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return starlark.String(typeNames[kindOf(args[0])]), nil
}

// toInt is int(x): a float is cut towards zero, text is read in base 2 to 36.
func toInt(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	base := int64(10)
	if given := optional(args, 1); given != nil {
		if !isText(args[0]) {
			return nil, wrong("int with a base needs text, not ", kindName(args[0]))
		}
		var f *failure.Failure
		if base, f = intArg("base", given); f != nil {
			return nil, f
		}
		if base < 2 || base > 36 {
			return nil, wrong("base must be 2 to 36")
		}
	}
	switch x := args[0].(type) {
	case starlark.Bool:
		if x {
			return starlark.MakeInt(1), nil
		}
		return starlark.MakeInt(0), nil
	case starlark.Int:
		return x, nil
	case starlark.Float:
		if whole := math.Trunc(float64(x)); math.Abs(whole) < 1<<62 {
			return starlark.MakeInt64(int64(whole)), nil
		}
		if f := m.alloc(2 * MaxIntBits / 8); f != nil {
			return nil, f
		}
		whole, _ := big.NewFloat(math.Trunc(float64(x))).Int(nil)
		return starlark.MakeBigInt(whole), nil
	case starlark.String:
		return readInt(m, string(x), int(base))
	}
	return nil, wrong("int cannot be made from ", kindName(args[0]))
}

// readInt reads an integer: a sign, then digits and nothing else.
func readInt(m *Meter, s string, base int) (starlark.Value, *failure.Failure) {
	if len(s) > MaxIntBits+1 {
		return nil, wideInt()
	}
	digits := strings.TrimPrefix(s, "-")
	if len(digits) == len(s) {
		digits = strings.TrimPrefix(s, "+")
	}
	ok := digits != ""
	for i := range len(digits) {
		ok = ok && digitValue(digits[i]) < base
	}
	if !ok {
		return nil, wrong("int cannot be made from the text ", quoted(s))
	}
	if n, err := strconv.ParseInt(s, base, 64); err == nil {
		return starlark.MakeInt64(n), nil
	}
	if f := m.alloc(3 * uint64(len(s))); f != nil {
		return nil, f
	}
	if f := m.scan(uint64(len(s)) * uint64(len(s)) / bytesPerStep); f != nil {
		return nil, f
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.BitLen() > MaxIntBits {
		return nil, wideInt()
	}
	if s[0] == '-' {
		n.Neg(n)
	}
	return starlark.MakeBigInt(n), nil
}

// digitValue is the value of a digit in bases up to 36; 36 for any other byte.
func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 36
}

// toFloat is float(x). The model has no float that is integral, so float("2")
// is 2.
func toFloat(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := args[0].(type) {
	case starlark.Bool:
		return toInt(m, args)
	case starlark.Int, starlark.Float:
		return x, nil
	case starlark.String:
		s := string(x)
		if f := m.scan(uint64(len(s)) * 8); f != nil {
			return nil, f
		}
		if !isDecimal(s) {
			return nil, wrong("float cannot be made from the text ", quoted(s))
		}
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, wrong("the number in the text is not finite")
		}
		return number(n)
	}
	return nil, wrong("float cannot be made from ", kindName(args[0]))
}

// isDecimal tells whether s is a number as people write it: sign, digits,
// fraction, exponent, with a digit on at least one side of the point.
func isDecimal(s string) bool {
	s = strings.TrimLeft(s[:min(1, len(s))], "+-") + s[min(1, len(s)):]
	whole, s := cutDigits(s)
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction, s = cutDigits(s[1:])
	}
	if whole+fraction == 0 {
		return false
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		var exponent int
		if exponent, s = cutDigits(s); exponent == 0 {
			return false
		}
	}
	return s == ""
}

func cutDigits(s string) (n int, rest string) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n, s[n:]
}

func toList(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	if len(args) == 0 {
		return asValue(newList(nil))
	}
	if list, ok := args[0].(*List); ok {
		return list, nil
	}
	items, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	return asValue(newList(items))
}

// toDict is dict(pairs): a list of lists of two. The last of a repeated key
// stays.
func toDict(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	if len(args) == 0 {
		return asValue(newMap(nil))
	}
	if d, ok := args[0].(*Map); ok {
		return d, nil
	}
	pairs, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	if f := m.allocMap(uint64(len(pairs))); f != nil {
		return nil, f
	}
	if f := m.scan(uint64(shapeOf(args[0]).size)); f != nil {
		return nil, f
	}
	members := make([]member, len(pairs))
	for i, item := range pairs {
		pair, ok := item.(*List)
		if !ok || len(pair.items) != 2 {
			return nil, wrong("dict needs a list of [key, value] lists; item ", decimal(int64(i)), " is none")
		}
		key, f := textArg("a map's key", pair.items[0])
		if f != nil {
			return nil, f
		}
		members[i] = member{key, pair.items[1]}
	}
	members, _ = arrange(members)
	return asValue(newMap(members))
}

func jsonEncode(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	w := writer{m: m}
	w.json(args[0])
	return w.finish()
}

// jsonDecode reads strict JSON under the rules of the model (EX-10).
func jsonDecode(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	text, f := textArg("json_decode: text", args[0])
	if f != nil {
		return nil, f
	}
	n := uint64(len(text))
	if f := m.scan(n * 8); f != nil { // parsing is dearer than scanning
		return nil, f
	}
	if f := m.alloc(n * 4); f != nil { // the source, the bytes, the offsets of members
		return nil, f
	}
	raw, problem := value.FromJSON([]byte(text), int(m.maxValue))
	if problem != nil {
		return nil, wrong("json_decode: ", problem.String())
	}
	d := decoder{r: value.NewReader(raw), m: m}
	return d.value(0)
}

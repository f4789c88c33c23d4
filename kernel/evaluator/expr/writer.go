package expr

import (
	"math"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// writer builds one text. It charges its buffer before growing it and stops at
// the first failure, which the methods that follow then keep.
type writer struct {
	m       *Meter
	buf     []byte
	problem *failure.Failure
}

// reserve makes room for n more bytes and tells whether there is any.
func (w *writer) reserve(n uint64) bool {
	if w.problem != nil {
		return false
	}
	need := uint64(len(w.buf)) + n
	if need <= uint64(cap(w.buf)) {
		return true
	}
	if w.problem = w.m.checkTextSize(need); w.problem != nil {
		return false
	}
	grown := min(max(need, 2*uint64(cap(w.buf)), 64), uint64(w.m.maxValue))
	if w.problem = w.m.alloc(grown); w.problem != nil {
		return false
	}
	w.buf = append(make([]byte, 0, grown), w.buf...)
	return true
}

func (w *writer) text(s string) {
	if w.reserve(uint64(len(s))) {
		w.buf = append(w.buf, s...)
	}
}

func (w *writer) bytes(b []byte) {
	if w.reserve(uint64(len(b))) {
		w.buf = append(w.buf, b...)
	}
}

func (w *writer) byte(c byte) {
	if w.reserve(1) {
		w.buf = append(w.buf, c)
	}
}

func (w *writer) rune(r rune) {
	if w.reserve(uint64(utf8.RuneLen(r))) {
		w.buf = utf8.AppendRune(w.buf, r)
	}
}

// finish returns the text, or the failure that stopped it.
func (w *writer) finish() (starlark.Value, *failure.Failure) {
	if w.problem == nil {
		w.problem = w.m.allocText(uint64(len(w.buf)))
	}
	if w.problem != nil {
		return nil, w.problem
	}
	return starlark.String(w.buf), nil
}

// value writes v as str(v) does: text as it is, everything else as JSON.
func (w *writer) value(v starlark.Value) {
	if s, ok := v.(starlark.String); ok {
		w.text(string(s))
		return
	}
	w.json(v)
}

// json writes v as compact JSON, the same that value.Raw gives for it.
func (w *writer) json(v starlark.Value) {
	if w.problem != nil {
		return
	}
	switch v := v.(type) {
	case starlark.NoneType:
		w.text("null")
	case starlark.Bool:
		w.text(strconv.FormatBool(bool(v)))
	case starlark.Int:
		w.integer(v)
	case starlark.Float:
		w.float(v)
	case starlark.String:
		w.quoted(string(v))
	case *List:
		w.byte('[')
		for i, item := range v.items {
			w.separate(i)
			w.json(item)
		}
		w.byte(']')
	case *Map:
		w.byte('{')
		for i, m := range v.members {
			w.separate(i)
			w.quoted(m.key)
			w.byte(':')
			w.json(m.value)
		}
		w.byte('}')
	default:
		panic("expr: a value that was not adopted")
	}
}

func (w *writer) separate(i int) {
	if i > 0 {
		w.byte(',')
	}
}

func (w *writer) quoted(s string) {
	if w.reserve(quotedSize(s)) {
		w.buf = appendQuoted(w.buf, s)
	}
}

func (w *writer) integer(n starlark.Int) {
	if small, ok := n.Int64(); ok {
		var digits [20]byte
		w.bytes(strconv.AppendInt(digits[:0], small, 10))
		return
	}
	if w.problem = w.m.alloc(2 + bitLen(n)); w.problem == nil {
		w.bytes(n.BigInt().Append(nil, 10))
	}
}

// float writes the shortest digits that give f back, in the one layout that
// values have as JSON.
func (w *writer) float(f starlark.Float) {
	var encoded [9]byte
	var text [32]byte
	raw := value.Raw(value.AppendFloat(encoded[:0], float64(f)))
	w.bytes(raw.AppendJSON(text[:0]))
}

// textOf is str(v).
func textOf(m *Meter, v starlark.Value) (starlark.Value, *failure.Failure) {
	if isText(v) {
		return v, nil
	}
	w := writer{m: m}
	w.value(v)
	return w.finish()
}

// debugJSON is a value as JSON for Go's own printing, outside of any budget.
func debugJSON(v starlark.Value) string {
	w := writer{m: NewMeter(math.MaxUint32, math.MaxUint32)}
	w.json(v)
	if w.problem != nil {
		return "(" + w.problem.Message + ")"
	}
	return string(w.buf)
}

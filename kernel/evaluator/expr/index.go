package expr

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// indexing is x[i].
type indexing struct {
	place
	x, i node
}

func (n *indexing) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	i, f := m.eval(n.i)
	if f != nil {
		return nil, f
	}
	switch x := x.(type) {
	case *Map:
		key, ok := i.(starlark.String)
		if !ok {
			return nil, wrong("a map's key must be text, not ", kindName(i))
		}
		return memberOf(x, string(key))
	case *List:
		at, f := indexIn(i, len(x.items), "list", "item")
		if f != nil {
			return nil, f
		}
		return x.items[at], nil
	case starlark.String:
		return letter(m, string(x), i)
	}
	return nil, wrong(kindName(x), " cannot be indexed")
}

// indexIn turns an index, negative ones counted from the end, into one from 0.
func indexIn(i starlark.Value, n int, what, part string) (int, *failure.Failure) {
	number, ok := i.(starlark.Int)
	if !ok {
		return 0, wrong("an index must be an integer, not ", kindName(i))
	}
	at, small := number.Int64()
	if small && at < 0 {
		at += int64(n)
	}
	if !small || at < 0 || at >= int64(n) {
		return 0, wrong("the index is out of range: the ", what, " has ", counted(n, part))
	}
	return int(at), nil
}

// letter is text[i]: one code point.
func letter(m *Meter, s string, i starlark.Value) (starlark.Value, *failure.Failure) {
	if f := m.scan(uint64(len(s))); f != nil {
		return nil, f
	}
	at, f := indexIn(i, utf8.RuneCountInString(s), "text", "code point")
	if f != nil {
		return nil, f
	}
	if f := m.alloc(boxBytes + utf8.UTFMax); f != nil {
		return nil, f
	}
	from := byteOffset(s, at)
	_, size := utf8.DecodeRuneInString(s[from:])
	return starlark.String(strings.Clone(s[from : from+size])), nil
}

// byteOffset is where code point n of s begins.
func byteOffset(s string, n int) int {
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// slicing is x[lo:hi:step]; the parts may be absent.
type slicing struct {
	place
	x, lo, hi, step node
}

func (n *slicing) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	var bounds [3]*int64
	for i, part := range []node{n.lo, n.hi, n.step} {
		if part == nil {
			continue
		}
		if bounds[i], f = m.evalBound(part); f != nil {
			return nil, f
		}
	}
	switch x := x.(type) {
	case *List:
		cut, f := cutOf(bounds, len(x.items))
		if f != nil {
			return nil, f
		}
		return cutList(m, x, cut)
	case starlark.String:
		return cutText(m, string(x), bounds)
	}
	return nil, wrong(kindName(x), " cannot be sliced")
}

// evalBound evaluates one bound of a slice; null is the same as absent. A
// bound beyond any length is the same as the nearest that is not.
func (m *Meter) evalBound(n node) (*int64, *failure.Failure) {
	v, f := m.eval(n)
	if f != nil || v == starlark.None {
		return nil, f
	}
	number, ok := v.(starlark.Int)
	if !ok {
		return nil, locate(wrong("a slice's bound must be an integer, not ", kindName(v)), n)
	}
	const beyond = 1 << 31
	bound, ok := number.Int64()
	if !ok {
		bound = int64(number.Sign()) * beyond
	}
	bound = max(-beyond, min(bound, beyond))
	return &bound, nil
}

// cut is a slice with its bounds brought into range: count items from start,
// step apart.
type cut struct{ start, step, count int }

func cutOf(bounds [3]*int64, length int) (cut, *failure.Failure) {
	n, step := int64(length), int64(1)
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 {
		return cut{}, wrong("a slice's step must not be zero")
	}
	// Going backwards, the range of a bound lies one lower: -1 is before the
	// first item.
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	bound := func(p *int64, absent int64) int64 {
		if p == nil {
			return absent
		}
		at := *p
		if at < 0 {
			at += n
		}
		return max(low, min(at, high))
	}
	start, end := bound(bounds[0], low), bound(bounds[1], high)
	if step < 0 {
		start, end = bound(bounds[0], high), bound(bounds[1], low)
	}
	count := int64(0)
	switch {
	case step > 0 && end > start:
		count = (end - start + step - 1) / step
	case step < 0 && end < start:
		count = (start - end - step - 1) / -step
	}
	if count <= 1 {
		step = 1 // keeps it in the range of an int everywhere
	}
	return cut{int(start), int(step), int(count)}, nil
}

func cutList(m *Meter, list *List, c cut) (starlark.Value, *failure.Failure) {
	if f := m.allocList(uint64(c.count)); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, c.count)
	for i := range items {
		items[i] = list.items[c.start+i*c.step]
	}
	return asValue(newList(items))
}

func cutText(m *Meter, s string, bounds [3]*int64) (starlark.Value, *failure.Failure) {
	if f := m.scan(uint64(len(s))); f != nil {
		return nil, f
	}
	c, f := cutOf(bounds, utf8.RuneCountInString(s))
	if f != nil {
		return nil, f
	}
	if c.count == 0 {
		return starlark.String(""), nil
	}
	if c.step == 1 {
		from := byteOffset(s, c.start)
		to := from + byteOffset(s[from:], c.count)
		return copyText(m, s[from:to])
	}
	if f := m.alloc(uint64(len(s)) * 4); f != nil {
		return nil, f
	}
	runes := []rune(s)
	w := writer{m: m}
	for i := range c.count {
		w.rune(runes[c.start+i*c.step])
	}
	return w.finish()
}

// copyText makes a text of its own out of a part of another, so that no value
// holds more memory than its size says.
func copyText(m *Meter, part string) (starlark.Value, *failure.Failure) {
	if f := m.allocText(uint64(len(part))); f != nil {
		return nil, f
	}
	return starlark.String(strings.Clone(part)), nil
}

package script

import (
	"go.starlark.net/starlark"
)

// result is what a call came to. It is true when the call succeeded.
type result struct {
	ok      bool
	value   starlark.Value // None unless ok
	code    string
	message string
	version starlark.Value // of what was stored; None elsewhere
}

// member is r.name.
func (r *result) member(name string) (starlark.Value, bool) {
	switch name {
	case "ok":
		return starlark.Bool(r.ok), true
	case "value":
		return r.value, true
	case "code":
		return starlark.String(r.code), true
	case "message":
		return starlark.String(r.message), true
	case "version":
		return r.version, true
	}
	return nil, false
}

// String names the type.
func (r *result) String() string { return "result" }

// Type names the type.
func (r *result) Type() string { return "result" }

// Freeze does nothing: a result never changes.
func (r *result) Freeze() {}

// Truth is whether the call succeeded.
func (r *result) Truth() starlark.Bool { return starlark.Bool(r.ok) }

// Hash fails: a result is no key.
func (r *result) Hash() (uint32, error) { return 0, errUnhashable }

// span is range(start, stop, step), made as it is gone over.
type span struct {
	start, step int64
	count       int
}

func (s *span) at(i int) starlark.Value { return starlark.MakeInt64(s.start + int64(i)*s.step) }

// Len is the number of integers.
func (s *span) Len() int { return s.count }

// Iterate goes over them.
func (s *span) Iterate() starlark.Iterator { return &spanIterator{s: s} }

type spanIterator struct {
	s    *span
	next int
}

func (it *spanIterator) Next(p *starlark.Value) bool {
	if it.next >= it.s.count {
		return false
	}
	*p = it.s.at(it.next)
	it.next++
	return true
}

func (it *spanIterator) Done() {}

// String names the type.
func (s *span) String() string { return "range" }

// Type is Starlark's name of the type.
func (s *span) Type() string { return "range" }

// Freeze does nothing: a range never changes.
func (s *span) Freeze() {}

// Truth is whether there is any integer.
func (s *span) Truth() starlark.Bool { return s.count > 0 }

// Hash fails: a range is no key.
func (s *span) Hash() (uint32, error) { return 0, errUnhashable }

var (
	_ starlark.IterableMapping = (*dict)(nil)
	_ starlark.Sequence        = (*span)(nil)
)

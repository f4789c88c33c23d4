package expr

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// List is a list of the data model. It is immutable from the moment it exists,
// so lists share their items freely.
type List struct {
	items []starlark.Value
	shape shape
}

var (
	_ starlark.Sequence  = (*List)(nil)
	_ starlark.Indexable = (*List)(nil)
)

var errUnhashable = errors.New("lists and maps are no keys")

// NewList makes a list of items, which the caller gives away. It fails with
// VALUE_TOO_LARGE beyond MaxValueBytes and beyond 64 levels, and with
// EVAL_FAILURE on an item that is no data (see Own).
func NewList(items []starlark.Value) (*List, *failure.Failure) {
	for i, item := range items {
		owned, f := Own(item)
		if f != nil {
			return nil, f
		}
		items[i] = owned
	}
	return newList(items)
}

// newList makes a list of items that are ours and were charged for.
func newList(items []starlark.Value) (*List, *failure.Failure) {
	return newListWithin(MaxValueBytes, items)
}

func newListWithin(maxBytes uint32, items []starlark.Value) (*List, *failure.Failure) {
	var s sum
	for _, item := range items {
		s.add(shapeOf(item))
	}
	if f := s.check(len(items), maxBytes); f != nil {
		return nil, f
	}
	return &List{items, s.container(len(items))}, nil
}

// Len is the number of items.
func (l *List) Len() int { return len(l.items) }

// Index returns item i, counted from 0.
func (l *List) Index(i int) starlark.Value { return l.items[i] }

// Iterate goes over the items in order.
func (l *List) Iterate() starlark.Iterator { return &iterator{items: l.items} }

// String is the list as JSON.
func (l *List) String() string { return debugJSON(l) }

// Type is Starlark's name of the type.
func (l *List) Type() string { return "list" }

// Freeze does nothing: a List never changes.
func (l *List) Freeze() {}

// Truth is whether there is any item.
func (l *List) Truth() starlark.Bool { return len(l.items) > 0 }

// Hash fails: only text is a key.
func (l *List) Hash() (uint32, error) { return 0, errUnhashable }

type iterator struct{ items []starlark.Value }

func (it *iterator) Next(p *starlark.Value) bool {
	if len(it.items) == 0 {
		return false
	}
	*p, it.items = it.items[0], it.items[1:]
	return true
}

func (it *iterator) Done() {}

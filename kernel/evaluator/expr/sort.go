package expr

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// sorted is sorted(x, key=None, reverse=False). key is the name of a member
// that the items, maps then, are ordered by. Equal items keep their order.
func sorted(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	from, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	n := uint64(len(from))
	if f := m.allocList(n); f != nil {
		return nil, f
	}
	if f := m.alloc(n * 4 * slotBytes); f != nil { // keys and items, twice
		return nil, f
	}
	if f := m.sort(n); f != nil {
		return nil, f
	}
	s := sorter{m: m, items: make([]sortable, n), scratch: make([]sortable, n)}
	if given := optional(args, 2); given != nil {
		s.reverse = truth(given)
	}
	if f := s.keys(from, optional(args, 1)); f != nil {
		return nil, f
	}
	if f := s.sort(); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, n)
	for i := range s.items {
		items[i] = s.items[i].item
	}
	return asValue(newList(items))
}

// sorter is a bottom-up merge sort. It is written out here because which pairs
// are compared is part of the language: it decides steps, and whether items
// without an order are noticed.
type sorter struct {
	m              *Meter
	items, scratch []sortable
	reverse        bool
}

type sortable struct{ key, item starlark.Value }

func (s *sorter) keys(from []starlark.Value, key starlark.Value) *failure.Failure {
	if key == nil || key == starlark.None {
		for i, item := range from {
			s.items[i] = sortable{item, item}
		}
		return nil
	}
	name, f := textArg("sorted: key", key)
	if f != nil {
		return f
	}
	for i, item := range from {
		d, ok := item.(*Map)
		if !ok {
			return wrong("sorted with a key needs maps; item ", decimal(int64(i)), " is ", kindName(item))
		}
		v, f := memberOf(d, name)
		if f != nil {
			return f
		}
		s.items[i] = sortable{v, item}
	}
	return nil
}

func (s *sorter) sort() *failure.Failure {
	n := len(s.items)
	for width := 1; width < n; width *= 2 {
		for lo := 0; lo < n; lo += 2 * width {
			if f := s.merge(lo, min(lo+width, n), min(lo+2*width, n)); f != nil {
				return f
			}
		}
		s.items, s.scratch = s.scratch, s.items
	}
	return nil
}

// merge brings items[lo:mid] and items[mid:hi] in order into scratch.
func (s *sorter) merge(lo, mid, hi int) *failure.Failure {
	left, right := s.items[lo:mid], s.items[mid:hi]
	out := s.scratch[lo:lo]
	for len(left) > 0 && len(right) > 0 {
		x, y := left[0].key, right[0].key
		if f := s.m.scan(uint64(min(shapeOf(x).size, shapeOf(y).size))); f != nil {
			return f
		}
		c, f := compare(x, y)
		if f != nil {
			return f
		}
		if s.reverse {
			c = -c
		}
		if c <= 0 {
			out, left = append(out, left[0]), left[1:]
		} else {
			out, right = append(out, right[0]), right[1:]
		}
	}
	out = append(out, left...)
	copy(s.scratch[lo+len(out):hi], right)
	return nil
}

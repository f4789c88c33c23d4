package script

import (
	"go.starlark.net/starlark"
)

// sorted is sorted(x, key=None, reverse=False): a new list; equal items keep
// their order. key is a function, or the name of a member of dicts.
func sorted(r *run, args []starlark.Value) (starlark.Value, error) {
	items, f := r.items(args[0])
	if f != nil {
		return nil, problem{f}
	}
	keys, err := r.keys(items, args[1])
	if err != nil {
		return nil, err
	}
	if f := r.meter.Alloc(uint64(len(items)) * 4 * slotBytes); f != nil { // both, twice
		return nil, problem{f}
	}
	s := sorter{r: r, from: make([]sortable, len(items)), to: make([]sortable, len(items))}
	s.reverse = args[2] != nil && bool(args[2].Truth())
	for i := range items {
		s.from[i] = sortable{keys[i], items[i]}
	}
	if err := s.sort(); err != nil {
		return nil, err
	}
	for i := range s.from {
		items[i] = s.from[i].item
	}
	return starlark.NewList(items), nil
}

// keys are what items are compared by.
func (r *run) keys(items []starlark.Value, by starlark.Value) ([]starlark.Value, error) {
	if by == nil || by == starlark.None {
		return items, nil
	}
	if f := r.allocList(uint64(len(items))); f != nil {
		return nil, problem{f}
	}
	name, member := by.(starlark.String)
	function, callable := by.(starlark.Callable)
	if !member && !callable {
		return nil, wrong("key must be a function or the name of a member, not " + kind(by))
	}
	keys := make([]starlark.Value, len(items))
	for i, item := range items {
		if member {
			v, f := r.member(item, name)
			if f != nil {
				return nil, problem{f}
			}
			keys[i] = v
			continue
		}
		v, err := r.callBack(function, item)
		if err != nil {
			return nil, err
		}
		keys[i] = v
	}
	return keys, nil
}

// callBack calls a function of the script from a builtin.
func (r *run) callBack(function starlark.Callable, arg starlark.Value) (starlark.Value, error) {
	r.settle()
	v, err := starlark.Call(&r.thread, function, starlark.Tuple{arg}, nil)
	runOf(&r.thread)
	return v, err
}

// sorter is a bottom-up merge sort. It is written out here because which pairs
// are compared is part of the language: it decides steps, and whether items
// without an order are noticed.
type sorter struct {
	r        *run
	from, to []sortable
	reverse  bool
}

type sortable struct{ key, item starlark.Value }

func (s *sorter) sort() error {
	n := len(s.from)
	for width := 1; width < n; width *= 2 {
		for lo := 0; lo < n; lo += 2 * width {
			if err := s.merge(lo, min(lo+width, n), min(lo+2*width, n)); err != nil {
				return err
			}
		}
		s.from, s.to = s.to, s.from
	}
	return nil
}

// merge brings from[lo:mid] and from[mid:hi] in order.
func (s *sorter) merge(lo, mid, hi int) error {
	left, right := s.from[lo:mid], s.from[mid:hi]
	out := s.to[lo:lo]
	for len(left) > 0 && len(right) > 0 {
		c, f := s.r.compare(left[0].key, right[0].key, 0)
		if f != nil {
			return problem{f}
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
	copy(s.to[lo+len(out):hi], right)
	return nil
}

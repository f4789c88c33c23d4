package expr

import (
	"cmp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Map is a map of the data model. It is immutable and always in canonical key
// order (shorter keys first, then bytewise), however it was made: a value
// behaves the same before and after it was stored and read again.
type Map struct {
	members []member
	shape   shape
}

type member struct {
	key   string
	value starlark.Value
}

var (
	_ starlark.Mapping  = (*Map)(nil)
	_ starlark.Sequence = (*Map)(nil)
)

func compareKeys(a, b string) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// NewMap makes a map. keys and values are parallel; of a repeated key the last
// value stays. It fails as NewList does.
func NewMap(keys []string, values []starlark.Value) (*Map, *failure.Failure) {
	members := make([]member, len(keys))
	for i, key := range keys {
		if _, f := Own(starlark.String(key)); f != nil {
			return nil, f
		}
		owned, f := Own(values[i])
		if f != nil {
			return nil, f
		}
		members[i] = member{key, owned}
	}
	members, _ = arrange(members)
	return newMap(members)
}

// arrange puts members in canonical order, keeps the last of those with the
// same key, and returns a key that was repeated if there is one. It works in
// place.
func arrange(members []member) (arranged []member, repeated []string) {
	inOrder := true
	for i := 1; i < len(members) && inOrder; i++ {
		inOrder = compareKeys(members[i-1].key, members[i].key) < 0
	}
	if inOrder {
		return members, nil
	}
	slices.SortStableFunc(members, func(a, b member) int { return compareKeys(a.key, b.key) })
	arranged = members[:0]
	for i, m := range members {
		if i+1 < len(members) && members[i+1].key == m.key {
			repeated = append(repeated[:0], m.key)
			continue
		}
		arranged = append(arranged, m)
	}
	clear(members[len(arranged):])
	return arranged, repeated
}

// newMap makes a map of arranged members that are ours and were charged for.
func newMap(members []member) (*Map, *failure.Failure) {
	return newMapWithin(MaxValueBytes, members)
}

func newMapWithin(maxBytes uint32, members []member) (*Map, *failure.Failure) {
	var s sum
	for _, m := range members {
		s.size += uint64(textSize(uint64(len(m.key))))
		s.add(shapeOf(m.value))
	}
	if f := s.check(len(members), maxBytes); f != nil {
		return nil, f
	}
	return &Map{members, s.container(len(members))}, nil
}

// Len is the number of members.
func (d *Map) Len() int { return len(d.members) }

// Member returns the value under key.
func (d *Map) Member(key string) (starlark.Value, bool) {
	lo, hi := 0, len(d.members)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := compareKeys(d.members[mid].key, key); {
		case c == 0:
			return d.members[mid].value, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil, false
}

// Get returns the value under a key that is text.
func (d *Map) Get(key starlark.Value) (starlark.Value, bool, error) {
	text, ok := key.(starlark.String)
	if !ok {
		return nil, false, nil
	}
	v, found := d.Member(string(text))
	return v, found, nil
}

// Iterate goes over the keys in canonical order.
func (d *Map) Iterate() starlark.Iterator { return &iterator{items: d.keys()} }

func (d *Map) keys() []starlark.Value {
	keys := make([]starlark.Value, len(d.members))
	for i, m := range d.members {
		keys[i] = starlark.String(m.key)
	}
	return keys
}

// String is the map as JSON.
func (d *Map) String() string { return debugJSON(d) }

// Type is Starlark's name of the type.
func (d *Map) Type() string { return "dict" }

// Freeze does nothing: a Map never changes.
func (d *Map) Freeze() {}

// Truth is whether there is any member.
func (d *Map) Truth() starlark.Bool { return len(d.members) > 0 }

// Hash fails: only text is a key.
func (d *Map) Hash() (uint32, error) { return 0, errUnhashable }

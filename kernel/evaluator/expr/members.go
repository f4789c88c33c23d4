package expr

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Methods of lists and maps.

func countItems(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	list := args[0].(*List)
	if f := m.search(list); f != nil {
		return nil, f
	}
	n := 0
	for _, item := range list.items {
		if same(item, args[1]) {
			n++
		}
	}
	return starlark.MakeInt(n), nil
}

func indexItem(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	i, f := position(m, args[0].(*List), args[1])
	if f != nil {
		return nil, f
	}
	if i < 0 {
		return nil, wrong("index: the list has no such item")
	}
	return starlark.MakeInt(i), nil
}

// getMember is x.get(key, default=None).
func getMember(_ *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	key, f := textArg("get: key", args[1])
	if f != nil {
		return nil, f
	}
	if v, ok := args[0].(*Map).Member(key); ok {
		return v, nil
	}
	if fallback := optional(args, 2); fallback != nil {
		return fallback, nil
	}
	return starlark.None, nil
}

func mapKeys(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	keys, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	return asValue(newList(keys))
}

func mapValues(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	d := args[0].(*Map)
	if f := m.allocList(uint64(len(d.members))); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, len(d.members))
	for i, member := range d.members {
		items[i] = member.value
	}
	return asValue(newList(items))
}

// mapItems gives [[key, value], …] in canonical key order.
func mapItems(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	d := args[0].(*Map)
	n := uint64(len(d.members))
	if f := m.allocRows(n, 2); f != nil {
		return nil, f
	}
	if f := m.alloc(n * boxBytes); f != nil {
		return nil, f
	}
	rows := make([]starlark.Value, n)
	for i, member := range d.members {
		row, f := newList([]starlark.Value{starlark.String(member.key), member.value})
		if f != nil {
			return nil, f
		}
		rows[i] = row
	}
	return asValue(newList(rows))
}

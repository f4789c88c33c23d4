package script

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// accesses are x.name, x[i], x[a:b:c], what makes dicts, and what for, *x and
// a, b = x look at.
func accesses(all starlark.StringDict) {
	define(all, opMember, 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.member(args[0], args[1].(starlark.String))
	})
	define(all, opIndex, 2, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.index(args[0], args[1])
	})
	define(all, opSlice, 4, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.slice(args[0], args[1:])
	})
	define(all, opDict, 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.display(args[0].(*starlark.List))
	})
	define(all, opPairs, 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.fromPairs(args[0].(*starlark.List))
	})
	define(all, opList, 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return args[0], r.allocList(uint64(args[0].(*starlark.List).Len()))
	})
	define(all, opIterate, 1, func(_ *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return args[0], iterable(args[0])
	})
	define(all, opRoom, 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		n, _ := args[0].(starlark.Int).Int64()
		return starlark.None, r.meter.Charge(uint64(n) / 8)
	})
	define(all, opUnpack, 2, func(_ *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return args[0], unpackable(args[0], args[1].(starlark.Int))
	})
	define(all, opSpread+"*", 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		items, f := r.items(args[0])
		switch {
		case f != nil:
			return nil, f
		case len(items) > MaxArgs:
			return nil, fault("a call has at most 250 arguments")
		}
		return starlark.Tuple(items), r.meter.Alloc(2 * slotBytes * uint64(len(items))) // the call copies them
	})
	define(all, opSpread+"**", 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		d, ok := args[0].(*dict)
		switch {
		case !ok:
			return nil, fault("** needs a dict, not " + kind(args[0]))
		case d.Len() > MaxArgs:
			return nil, fault("a call has at most 250 arguments")
		}
		for _, e := range d.entries {
			if e.key != nil && !isText(e.key) {
				return nil, fault("** needs a dict whose keys are text")
			}
		}
		return d, r.meter.Charge(uint64(d.Len()))
	})
}

func iterable(v starlark.Value) *failure.Failure {
	switch v.(type) {
	case *starlark.List, starlark.Tuple, *dict, *span:
		return nil
	case starlark.String:
		return fault("text is not gone over: split it, or go over range(len(x))")
	}
	return fault(kind(v) + " cannot be gone over")
}

func unpackable(v starlark.Value, names starlark.Int) *failure.Failure {
	if f := iterable(v); f != nil {
		return f
	}
	want, _ := names.Int64()
	if have := starlark.Len(v); int64(have) != want {
		return fault(counted(have, "item") + " cannot be assigned to " + counted(int(want), "name"))
	}
	return nil
}

// member is x.name of a dict or a result.
func (r *run) member(x starlark.Value, name starlark.String) (starlark.Value, *failure.Failure) {
	switch x := x.(type) {
	case *dict:
		if v, found := x.get(key{kind: textKey, text: string(name)}); found {
			return v, nil
		}
		return nil, fault("the dict has no " + expr.Quote(string(name)) + `; x.get("name", default) asks first`)
	case *result:
		if v, found := x.member(string(name)); found {
			return v, nil
		}
		return nil, fault("a result has ok, value, code, message and version, not " + expr.Quote(string(name)))
	}
	return nil, fault(kind(x) + " has no member " + expr.Quote(string(name)))
}

// index is x[i].
func (r *run) index(x, i starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := x.(type) {
	case *dict:
		k, ok := keyOf(i)
		if !ok {
			return nil, fault(keyRule + ", not " + kind(i))
		}
		if f := r.meter.Scan(uint64(len(k.text))); f != nil {
			return nil, f
		}
		if v, found := x.get(k); found {
			return v, nil
		}
		if name, ok := i.(starlark.String); ok {
			return nil, fault("the dict has no " + expr.Quote(string(name)) + `; x.get("name", default) asks first`)
		}
		return nil, fault("the dict has no such key; x.get(key, default) asks first")
	case *result:
		if name, ok := i.(starlark.String); ok {
			return r.member(x, name)
		}
	case starlark.String:
		if !simple(i) {
			return nil, fault("an index must be an integer, not " + kind(i))
		}
		return expr.Letter(r.meter, string(x), i)
	case *span:
		at, f := indexIn(i, x.count)
		if f != nil {
			return nil, f
		}
		return x.at(at), nil
	case listed:
		at, f := indexIn(i, x.Len())
		if f != nil {
			return nil, f
		}
		return x.Index(at), nil
	}
	return nil, fault(kind(x) + " cannot be indexed")
}

// indexIn turns an index, negative ones counted from the end, into one from 0.
func indexIn(i starlark.Value, n int) (int, *failure.Failure) {
	if !simple(i) {
		return 0, fault("an index must be an integer, not " + kind(i))
	}
	return expr.IndexIn(i, n, "list", "item")
}

// slice is x[a:b:c].
func (r *run) slice(x starlark.Value, parts []starlark.Value) (starlark.Value, *failure.Failure) {
	var bounds [3]*int64
	for i, part := range parts {
		n, ok := part.(starlark.Int)
		if part == starlark.None {
			continue
		}
		if !ok {
			return nil, fault("a slice's bound must be an integer, not " + kind(part))
		}
		const beyond = 1 << 31
		bound, small := n.Int64()
		if !small {
			bound = int64(n.Sign()) * beyond
		}
		bound = max(-beyond, min(bound, beyond))
		bounds[i] = &bound
	}
	if s, ok := x.(starlark.String); ok {
		return expr.CutText(r.meter, string(s), bounds)
	}
	from, ok := x.(listed)
	if s, isSpan := x.(*span); isSpan {
		from, ok = spanList{s}, true
	}
	if !ok {
		return nil, fault(kind(x) + " cannot be sliced")
	}
	start, step, count, f := expr.CutOf(bounds, from.Len())
	if f != nil {
		return nil, f
	}
	if f := r.allocList(uint64(count)); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, count)
	for i := range items {
		items[i] = from.Index(start + i*step)
	}
	if _, ok := x.(starlark.Tuple); ok {
		return starlark.Tuple(items), nil
	}
	return starlark.NewList(items), nil
}

// setItem is x[i] = v.
func (r *run) setItem(x, i, v starlark.Value) *failure.Failure {
	switch x := x.(type) {
	case *dict:
		return r.put(x, i, v)
	case *starlark.List:
		at, f := indexIn(i, x.Len())
		if f != nil {
			return f
		}
		if x.SetIndex(at, v) != nil {
			return unchangeable()
		}
		return nil
	}
	return fault("the items of " + kind(x) + " cannot be assigned to")
}

// unchangeable is why a list refuses to change: the library tells in its own
// words only which of the two it is.
func unchangeable() *failure.Failure {
	return fault("the list came from outside, or is being gone over: make a copy with list(x)")
}

// put is d[name] = v, charged for.
func (r *run) put(d *dict, name, v starlark.Value) *failure.Failure {
	k, ok := keyOf(name)
	if !ok {
		return fault(keyRule + ", not " + kind(name))
	}
	if d.frozen {
		return fault(frozenRule)
	}
	if _, found := d.find(k); !found {
		if d.walks > 0 {
			return fault(walkedRule)
		}
		if d.Len() >= MaxItems {
			return tooMuch(dictFullRule)
		}
		if f := r.meter.Alloc(entryBytes*growFactor + uint64(len(k.text))); f != nil {
			return f
		}
	}
	if f := r.meter.Charge(1 + uint64(len(k.text))/64); f != nil {
		return f
	}
	d.set(k, name, v)
	return nil
}

// display is {k: v, …}, whose keys and values stand in a list.
func (r *run) display(list *starlark.List) (starlark.Value, *failure.Failure) {
	d := newDict(list.Len() / 2)
	for i := 0; i+1 < list.Len(); i += 2 {
		name := list.Index(i)
		if k, ok := keyOf(name); ok {
			if _, twice := d.find(k); twice {
				return nil, fault("the dict has a key twice")
			}
		}
		if f := r.put(d, name, list.Index(i+1)); f != nil {
			return nil, f
		}
	}
	return d, nil
}

// fromPairs makes a dict of a list of pairs; the last of a repeated key stays.
func (r *run) fromPairs(list *starlark.List) (starlark.Value, *failure.Failure) {
	d := newDict(0)
	for i := range list.Len() {
		pair := list.Index(i).(starlark.Tuple)
		if f := r.put(d, pair[0], pair[1]); f != nil {
			return nil, f
		}
	}
	return d, nil
}

package script

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// collections are the functions of many values, and the methods.
func collections(all starlark.StringDict) {
	params(all, "list", []string{"x"}, 0, func(r *run, args []starlark.Value) (starlark.Value, error) {
		items, f := r.itemsOr(args[0])
		return starlark.NewList(items), raised(f)
	})
	params(all, "tuple", []string{"x"}, 0, func(r *run, args []starlark.Value) (starlark.Value, error) {
		items, f := r.itemsOr(args[0])
		return starlark.Tuple(items), raised(f)
	})
	params(all, "dict", []string{"x"}, 0, func(r *run, args []starlark.Value) (starlark.Value, error) {
		d := newDict(0)
		if args[0] == nil {
			return d, raised(r.allocDict(0))
		}
		return d, raised(r.update(d, args[0]))
	})
	params(all, "reversed", []string{"x"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
		items, f := r.items(args[0])
		for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
			items[i], items[j] = items[j], items[i]
		}
		return starlark.NewList(items), raised(f)
	})
	params(all, "enumerate", []string{"x", "start"}, 1, enumerate)
	variadic(all, "zip", 0, zip)
	params(all, "any", []string{"x"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
		return r.quantified(args[0], true)
	})
	params(all, "all", []string{"x"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
		return r.quantified(args[0], false)
	})
	params(all, "sum", []string{"x", "start"}, 1, sum)
	params(all, "sorted", []string{"x", "key", "reverse"}, 1, sorted)
	extremes(all)
	all[opMethod] = starlark.NewBuiltin(opMethod, callMethod)
}

// itemsOr is the items of x; none if it is not given.
func (r *run) itemsOr(x starlark.Value) ([]starlark.Value, *failure.Failure) {
	if x == nil {
		return nil, r.allocList(0)
	}
	return r.items(x)
}

// items copies what a value gives when it is gone over.
func (r *run) items(x starlark.Value) ([]starlark.Value, *failure.Failure) {
	if f := iterable(x); f != nil {
		return nil, f
	}
	n := starlark.Len(x)
	if f := r.allocList(uint64(n)); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, 0, n)
	it := starlark.Iterate(x)
	defer it.Done()
	var item starlark.Value
	for it.Next(&item) {
		items = append(items, item)
	}
	return items, nil
}

// rows charges for n tuples of width items.
func (r *run) rows(n, width int) *failure.Failure {
	if f := r.allocList(uint64(n)); f != nil {
		return f
	}
	if f := r.meter.Alloc(uint64(n) * (listBytes + slotBytes*uint64(width))); f != nil {
		return f
	}
	return r.meter.Visit(uint64(n) * uint64(width))
}

func enumerate(r *run, args []starlark.Value) (starlark.Value, error) {
	start := int64(0)
	if args[1] != nil {
		n, ok := args[1].(starlark.Int)
		if start, ok = small(n, ok); !ok {
			return nil, wrong("enumerate: start must be an integer within 2^53")
		}
	}
	items, f := r.items(args[0])
	if f == nil {
		f = r.rows(len(items), 2)
	}
	if f != nil {
		return nil, problem{f}
	}
	for i, item := range items {
		items[i] = starlark.Tuple{starlark.MakeInt64(start + int64(i)), item}
	}
	return starlark.NewList(items), nil
}

func small(n starlark.Int, ok bool) (int64, bool) {
	if !ok {
		return 0, false
	}
	i, ok := n.Int64()
	return i, ok && i >= -1<<53 && i <= 1<<53
}

func zip(r *run, args []starlark.Value) (starlark.Value, error) {
	columns := make([][]starlark.Value, len(args))
	shortest := 0
	for i, arg := range args {
		items, f := r.items(arg)
		if f != nil {
			return nil, problem{f}
		}
		if columns[i] = items; i == 0 || len(items) < shortest {
			shortest = len(items)
		}
	}
	if f := r.rows(shortest, len(columns)); f != nil {
		return nil, problem{f}
	}
	rows := make([]starlark.Value, shortest)
	for i := range rows {
		row := make(starlark.Tuple, len(columns))
		for j := range columns {
			row[j] = columns[j][i]
		}
		rows[i] = row
	}
	return starlark.NewList(rows), nil
}

// quantified looks for an item whose truth is stop.
func (r *run) quantified(x starlark.Value, stop bool) (starlark.Value, error) {
	items, f := r.items(x)
	if f != nil {
		return nil, problem{f}
	}
	for _, item := range items {
		if bool(item.Truth()) == stop {
			return starlark.Bool(stop), nil
		}
	}
	return starlark.Bool(!stop), nil
}

func sum(r *run, args []starlark.Value) (starlark.Value, error) {
	items, f := r.items(args[0])
	if f != nil {
		return nil, problem{f}
	}
	total := args[1]
	if total == nil {
		total = starlark.MakeInt(0)
	}
	for _, item := range items {
		if !isNumber(total) || !isNumber(item) {
			return nil, wrong("sum adds numbers, not " + kind(item))
		}
		if f := r.meter.Alloc(textBytes); f != nil {
			return nil, problem{f}
		}
		if total, f = expr.Binary(r.meter, binaryOperators["+"], total, item); f != nil {
			return nil, problem{f}
		}
	}
	return total, nil
}

// extremes are min and max: of one list, or of several arguments, by a key.
func extremes(all starlark.StringDict) {
	for _, name := range []string{"min", "max"} {
		all[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var by starlark.Value
			for _, named := range kwargs {
				if named[0] != starlark.String("key") {
					return nil, wrong(name + " has no parameter " + clipTo(string(named[0].(starlark.String)), 64))
				}
				by = named[1]
			}
			r := runOf(thread)
			v, err := r.extreme(name, args, by)
			r.settle()
			return v, err
		})
	}
}

func (r *run) extreme(name string, args starlark.Tuple, by starlark.Value) (starlark.Value, error) {
	items := []starlark.Value(args)
	if len(args) == 1 {
		var f *failure.Failure
		if items, f = r.items(args[0]); f != nil {
			return nil, problem{f}
		}
	}
	if len(items) == 0 {
		return nil, wrong(name + " of nothing has no answer")
	}
	keys, err := r.keys(items, by)
	if err != nil {
		return nil, err
	}
	best := 0
	for i := range items {
		c, f := r.compare(keys[i], keys[best], 0)
		if f != nil {
			return nil, problem{f}
		}
		if name == "min" && c < 0 || name == "max" && c > 0 {
			best = i
		}
	}
	return items[best], nil
}

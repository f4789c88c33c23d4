package expr

import (
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Functions over lists and maps.

// length is len(x): code points of a text, items of a list, members of a map.
func length(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := args[0].(type) {
	case starlark.String:
		if f := m.scan(uint64(len(x))); f != nil {
			return nil, f
		}
		return starlark.MakeInt(utf8.RuneCountInString(string(x))), nil
	case *List:
		return starlark.MakeInt(len(x.items)), nil
	case *Map:
		return starlark.MakeInt(len(x.members)), nil
	}
	return nil, wrong(kindName(args[0]), " has no length")
}

// rangeOf is range(stop), range(start, stop) and range(start, stop, step), as
// a list.
func rangeOf(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	start, stop, step := int64(0), int64(0), int64(1)
	into := []*int64{&stop}
	names := []string{"stop"}
	if len(args) > 1 {
		if args[1] == nil {
			return nil, wrong("range: a step needs start and stop")
		}
		into, names = []*int64{&start, &stop, &step}, []string{"start", "stop", "step"}
	}
	for i, p := range into {
		if arg := optional(args, i); arg != nil {
			n, f := intArg("range: "+names[i], arg)
			if f != nil {
				return nil, f
			}
			*p = n
		}
	}
	if step == 0 {
		return nil, wrong("range: step must not be zero")
	}
	count := int64(0)
	switch {
	case step > 0 && stop > start:
		count = (stop-start-1)/step + 1
	case step < 0 && stop < start:
		count = (start-stop-1)/-step + 1
	}
	if f := m.allocList(uint64(count)); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, count)
	for i := range items {
		items[i] = starlark.MakeInt64(start + int64(i)*step)
	}
	return asValue(newList(items))
}

func reversed(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	from, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	if f := m.allocList(uint64(len(from))); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, len(from))
	for i, item := range from {
		items[len(from)-1-i] = item
	}
	return asValue(newList(items))
}

// enumerate gives [[start, x0], [start+1, x1], …].
func enumerate(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	from, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	start := int64(0)
	if given := optional(args, 1); given != nil {
		if start, f = intArg("start", given); f != nil {
			return nil, f
		}
	}
	if f := m.allocRows(uint64(len(from)), 2); f != nil {
		return nil, f
	}
	rows := make([]starlark.Value, len(from))
	for i, item := range from {
		row, f := newList([]starlark.Value{starlark.MakeInt64(start + int64(i)), item})
		if f != nil {
			return nil, f
		}
		rows[i] = row
	}
	return asValue(newList(rows))
}

// allocRows charges for a list of rows lists of width items.
func (m *Meter) allocRows(rows, width uint64) *failure.Failure {
	if f := m.allocList(rows); f != nil {
		return f
	}
	if f := m.alloc(rows * (listBytes + width*slotBytes)); f != nil {
		return f
	}
	return m.visit(rows * width)
}

// zip gives [[a0, b0], [a1, b1], …], as long as the shortest.
func zip(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	columns := make([][]starlark.Value, len(args))
	shortest := 0
	for i, arg := range args {
		items, f := itemsArg(m, arg)
		if f != nil {
			return nil, f
		}
		if i == 0 || len(items) < shortest {
			shortest = len(items)
		}
		columns[i] = items
	}
	if f := m.allocRows(uint64(shortest), uint64(len(columns))); f != nil {
		return nil, f
	}
	rows := make([]starlark.Value, shortest)
	for i := range rows {
		row := make([]starlark.Value, len(columns))
		for j, column := range columns {
			row[j] = column[i]
		}
		list, f := newList(row)
		if f != nil {
			return nil, f
		}
		rows[i] = list
	}
	return asValue(newList(rows))
}

func all(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return quantified(m, args[0], false)
}

func anyOf(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return quantified(m, args[0], true)
}

// quantified looks for an item whose truth is stop.
func quantified(m *Meter, x starlark.Value, stop bool) (starlark.Value, *failure.Failure) {
	items, f := itemsArg(m, x)
	if f != nil {
		return nil, f
	}
	for _, item := range items {
		if truth(item) == stop {
			return starlark.Bool(stop), nil
		}
	}
	return starlark.Bool(!stop), nil
}

// sumOf is sum(x, start=0) over numbers.
func sumOf(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	items, f := itemsArg(m, args[0])
	if f != nil {
		return nil, f
	}
	total := optional(args, 1)
	if total == nil {
		total = starlark.MakeInt(0)
	}
	for i, item := range items {
		if !isNumber(total) || !isNumber(item) {
			return nil, wrong("sum adds numbers; item ", decimal(int64(i)), " is ", kindName(item))
		}
		if f := m.alloc(boxBytes); f != nil {
			return nil, f
		}
		if total, f = add(m, total, item); f != nil {
			return nil, f
		}
	}
	return total, nil
}

func abs(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	switch x := args[0].(type) {
	case starlark.Int:
		if x.Sign() < 0 {
			return subInts(m, starlark.MakeInt(0), x)
		}
		return x, nil
	case starlark.Float:
		return max(x, -x), nil
	}
	return nil, wrong("abs needs a number, not ", kindName(args[0]))
}

func minimum(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return extreme(m, "min", args, -1)
}

func maximum(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return extreme(m, "max", args, 1)
}

// extreme is the first item that is furthest in the direction: of one list, or
// of several arguments.
func extreme(m *Meter, name string, args []starlark.Value, direction int) (starlark.Value, *failure.Failure) {
	items := args
	if len(args) == 1 {
		var f *failure.Failure
		if items, f = itemsArg(m, args[0]); f != nil {
			return nil, f
		}
	}
	if len(items) == 0 {
		return nil, wrong(name, " of nothing has no answer")
	}
	best := items[0]
	for _, item := range items[1:] {
		if f := m.scan(uint64(min(shapeOf(best).size, shapeOf(item).size))); f != nil {
			return nil, f
		}
		c, f := compare(item, best)
		if f != nil {
			return nil, f
		}
		if c == direction {
			best = item
		}
	}
	return best, nil
}

package expr

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// What follows lets a larger language, package script, use the operators,
// methods and formats of this one on the values that both have: numbers, text,
// and for what is only read *List and *Map.

// NewMeterFor returns a meter for something that messages call what, whose
// values, texts and lists alike, have at most maxValue bytes each.
func NewMeterFor(what string, maxSteps, maxBytes, maxValue uint32) *Meter {
	return &Meter{maxSteps: maxSteps, maxBytes: maxBytes, maxValue: maxValue, what: what}
}

// SetMaxSteps changes how many steps may be used in all; those that were used
// stay.
func (m *Meter) SetMaxSteps(n uint32) { m.maxSteps = max(n, m.steps) }

// Charge counts steps: WORK_EXCEEDED beyond the limit.
func (m *Meter) Charge(steps uint64) *failure.Failure { return m.work(steps) }

// Scan charges for looking at n bytes, a step for each 64.
func (m *Meter) Scan(n uint64) *failure.Failure { return m.scan(n) }

// Visit charges for looking at n items, a step for each 8.
func (m *Meter) Visit(n uint64) *failure.Failure { return m.visit(n) }

// Alloc charges n bytes of memory that are about to be allocated:
// VALUE_TOO_LARGE beyond the limit.
func (m *Meter) Alloc(n uint64) *failure.Failure { return m.alloc(n) }

// AllocText charges for a new text of n bytes and for writing it.
func (m *Meter) AllocText(n uint64) *failure.Failure { return m.allocText(n) }

// Binary applies an operator to two values of this package.
func Binary(m *Meter, op syntax.Token, x, y starlark.Value) (starlark.Value, *failure.Failure) {
	return binary(m, op, x, y)
}

// Unary applies - + or ~ to a number.
func Unary(m *Meter, op syntax.Token, x starlark.Value) (starlark.Value, *failure.Failure) {
	return unary(m, op, x)
}

// Compare orders two numbers, texts or booleans: negative, 0 or positive.
func Compare(m *Meter, x, y starlark.Value) (int, *failure.Failure) {
	if f := m.scan(uint64(min(shapeOf(x).size, shapeOf(y).size))); f != nil {
		return 0, f
	}
	return compare(x, y)
}

// Letter is s[i], one code point.
func Letter(m *Meter, s string, i starlark.Value) (starlark.Value, *failure.Failure) {
	return letter(m, s, i)
}

// CutText is s[a:b:c] by code points; nil stands for a bound that is absent.
func CutText(m *Meter, s string, bounds [3]*int64) (starlark.Value, *failure.Failure) {
	return cutText(m, s, bounds)
}

// CutOf tells which items of n a slice takes: count items from start, step
// apart.
func CutOf(bounds [3]*int64, n int) (start, step, count int, f *failure.Failure) {
	c, f := cutOf(bounds, n)
	return c.start, c.step, c.count, f
}

// IndexIn turns an index, negative ones counted from the end, into one from 0;
// what and part name the container and what is in it.
func IndexIn(i starlark.Value, n int, what, part string) (int, *failure.Failure) {
	return indexIn(i, n, what, part)
}

// TextMethod is s.name(args). Arguments that were given by name are last, and
// names are theirs. known is false when text has no such method.
func TextMethod(m *Meter, name string, s starlark.String, args []starlark.Value, names []string) (v starlark.Value, known bool, f *failure.Failure) {
	if name == "format" {
		cut := len(args) - len(names)
		all := fields{args: args[:cut], named: args[cut:], names: names}
		v, f = all.format(m, string(s))
		return v, true, f
	}
	found := methods[name]
	if found == nil || found.text == nil {
		return nil, false, nil
	}
	placed, f := found.text.place(name, args, names)
	if f != nil {
		return nil, true, f
	}
	v, f = found.text.run(m, append([]starlark.Value{s}, placed...))
	return v, true, f
}

// Convert is one of the functions abs, bool, float, int and json_encode, on a
// value of this package.
func Convert(m *Meter, name string, args []starlark.Value, names []string) (starlark.Value, *failure.Failure) {
	function := functions[name]
	placed, f := function.place(name, args, names)
	if f != nil {
		return nil, f
	}
	return function.run(m, placed)
}

// place puts the arguments in the order of the parameters, nil where an
// optional one is left out.
func (t *function) place(name string, args []starlark.Value, names []string) ([]starlark.Value, *failure.Failure) {
	placed := slices.Clone(args[:len(args)-len(names)])
	if rule := t.arity(name, max(len(placed), t.required)); rule != "" {
		return nil, wrong(rule)
	}
	for i, key := range names {
		at := slices.Index(t.params, key)
		if at < 0 {
			return nil, wrong(name, " has no parameter ", quoted(key))
		}
		for len(placed) <= at {
			placed = append(placed, nil)
		}
		if placed[at] != nil {
			return nil, wrong(name, " got ", key, " twice")
		}
		placed[at] = args[len(args)-len(names)+i]
	}
	given := len(placed)
	for i := range min(t.required, given) {
		if placed[i] == nil {
			given = i
		}
	}
	if rule := t.arity(name, given); rule != "" {
		return nil, wrong(rule)
	}
	return placed, nil
}

// Interpolate is format % x: items are what %s takes in turn, named is what
// %(name)s looks in, or nil.
func Interpolate(m *Meter, format string, items []starlark.Value, named starlark.Value) (starlark.Value, *failure.Failure) {
	return interpolate(m, format, items, named)
}

// Text is str(v): text as it is, everything else as JSON.
func Text(m *Meter, v starlark.Value) (starlark.Value, *failure.Failure) { return textOf(m, v) }

// Number brings a float into the model: an integral one is an integer.
func Number(f float64) (starlark.Value, *failure.Failure) { return number(f) }

// Describe names v's kind in messages.
func Describe(v starlark.Value) string { return kindName(v) }

// Quote writes a program's or an input's own name into a message, at most 64
// bytes of it.
func Quote(s string) string { return quoted(s) }

// List makes a list of values of this package, which the caller gives away and
// has charged for.
func (m *Meter) List(items []starlark.Value) (*List, *failure.Failure) {
	return newListWithin(m.maxValue, items)
}

// Map makes a map of values of this package; of a repeated key the last value
// stays. The caller has charged for it.
func (m *Meter) Map(keys []string, values []starlark.Value) (*Map, *failure.Failure) {
	members := make([]member, len(keys))
	for i, key := range keys {
		members[i] = member{key, values[i]}
	}
	members, _ = arrange(members)
	return newMapWithin(m.maxValue, members)
}

// MaxDepth bounds lists and maps inside each other.
const MaxDepth = value.MaxDepth

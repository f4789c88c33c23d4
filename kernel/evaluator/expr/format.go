package expr

import (
	"math"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Formatting: format % x and format.format(…). Both write through a writer,
// which charges the text before it grows.

// maxPrecision bounds the decimals of %.Nf.
const maxPrecision = 20

// interpolate is format % x. items are what %s takes in turn; named is what
// %(name)s looks in, nil for a written-out tuple.
func interpolate(m *Meter, format string, items []starlark.Value, named starlark.Value) (starlark.Value, *failure.Failure) {
	if f := m.scan(uint64(len(format))); f != nil {
		return nil, f
	}
	w := writer{m: m}
	used, byName := 0, false
	for {
		plain, rest, found := strings.Cut(format, "%")
		w.text(plain)
		if !found || w.problem != nil {
			break
		}
		if strings.HasPrefix(rest, "%") {
			w.byte('%')
			format = rest[1:]
			continue
		}
		var arg starlark.Value
		if strings.HasPrefix(rest, "(") {
			name, after, closed := strings.Cut(rest[1:], ")")
			d, ok := named.(*Map)
			if !closed || !ok {
				return nil, wrong("%(name) in a format needs a closing ) and a map on the right of %")
			}
			v, f := memberOf(d, name)
			if f != nil {
				return nil, f
			}
			arg, rest, byName = v, after, true
		} else {
			if used == len(items) {
				return nil, wrong("the format has places for more than the ", counted(len(items), "value"), " that it gets")
			}
			arg = items[used]
			used++
		}
		after, f := w.verb(rest, arg)
		if f != nil {
			return nil, f
		}
		format = after
	}
	if w.problem == nil && !byName && used < len(items) {
		return nil, wrong("the format has places for ", counted(used, "value"), " and gets ", decimal(int64(len(items))))
	}
	return w.finish()
}

const verbs = "a format knows %s %r %d %x %X %o %f %.Nf and %%"

// verb writes arg under the verb that format begins with, and returns what
// follows it.
func (w *writer) verb(format string, arg starlark.Value) (rest string, f *failure.Failure) {
	if f := w.m.work(1); f != nil {
		return "", f
	}
	precision := int64(6)
	if strings.HasPrefix(format, ".") {
		n, after := cutDigits(format[1:])
		if n == 0 || n > 2 || !strings.HasPrefix(after, "f") {
			return "", wrong(verbs)
		}
		precision, _ = strconv.ParseInt(format[1:1+n], 10, 64)
		format = after
	}
	if format == "" {
		return "", wrong(verbs)
	}
	switch format[0] {
	case 's':
		w.value(arg)
	case 'r':
		w.json(arg)
	case 'd', 'i':
		f = w.inBase(arg, 10, false)
	case 'o':
		f = w.inBase(arg, 8, false)
	case 'x':
		f = w.inBase(arg, 16, false)
	case 'X':
		f = w.inBase(arg, 16, true)
	case 'f':
		f = w.fixed(arg, precision)
	default:
		f = wrong(verbs)
	}
	return format[1:], f
}

// inBase writes an integer, or a float cut towards zero, in a base.
func (w *writer) inBase(arg starlark.Value, base int, upper bool) *failure.Failure {
	if !isNumber(arg) {
		return wrong("%d, %x and %o need a number, not ", kindName(arg))
	}
	whole, f := toInt(w.m, []starlark.Value{arg})
	if f != nil {
		return f
	}
	n := whole.(starlark.Int)
	if f := w.m.alloc(2 + bitLen(n)); f != nil {
		return f
	}
	digits := n.BigInt().Append(nil, base)
	if upper {
		for i, c := range digits {
			digits[i] = toUpperCase(c)
		}
	}
	w.text(string(digits))
	return nil
}

// fixed writes a number with so many decimals, correctly rounded from its
// exact value.
func (w *writer) fixed(arg starlark.Value, decimals int64) *failure.Failure {
	n, ok, f := float(arg)
	switch {
	case !ok:
		return wrong("%f needs a number, not ", kindName(arg))
	case f != nil:
		return f
	case decimals > maxPrecision:
		return wrong("%.Nf has at most ", decimal(maxPrecision), " decimals")
	}
	room := uint64(4 + maxPrecision)
	if size := math.Abs(n); size >= 1 {
		room += uint64(math.Ilogb(size)) // more than its digits
	}
	if f := w.m.alloc(room); f != nil {
		return f
	}
	w.text(strconv.FormatFloat(n, 'f', int(decimals), 64))
	return nil
}

// formatCall is x.format(a, b, name=c).
type formatCall struct {
	place
	x     node
	args  []node
	names []string // of the last arguments
}

func (n *formatCall) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	s, ok := x.(starlark.String)
	if !ok {
		return nil, wrong(kindName(x), " has no method format")
	}
	args, f := m.evalAll(n.args)
	if f != nil {
		return nil, f
	}
	fields := fields{args: args[:len(args)-len(n.names)], named: args[len(args)-len(n.names):], names: n.names}
	return fields.format(m, string(s))
}

// fields are the values that replacement fields name: {} takes the next, {0}
// one by position, {name} one by name.
type fields struct {
	args, named   []starlark.Value
	names         []string
	next          int
	auto, numbers bool
}

func (a *fields) format(m *Meter, format string) (starlark.Value, *failure.Failure) {
	if f := m.scan(uint64(len(format))); f != nil {
		return nil, f
	}
	w := writer{m: m}
	for w.problem == nil {
		at := strings.IndexAny(format, "{}")
		if at < 0 {
			w.text(format)
			break
		}
		w.text(format[:at])
		brace, rest := format[at], format[at+1:]
		if rest != "" && rest[0] == brace {
			w.byte(brace)
			format = rest[1:]
			continue
		}
		if brace == '}' {
			return nil, wrong("format: a single } must be written }}")
		}
		field, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, wrong("format: a single { must be written {{")
		}
		if f := a.field(&w, field); f != nil {
			return nil, f
		}
		format = after
	}
	return w.finish()
}

const fieldForms = "format: a field is {}, {0} or {name}, then !r or :.Nf if wanted"

func (a *fields) field(w *writer, field string) *failure.Failure {
	if f := w.m.work(1); f != nil {
		return f
	}
	name, spec, _ := strings.Cut(field, ":")
	name, conversion, converts := strings.Cut(name, "!")
	arg, f := a.lookup(name)
	if f != nil {
		return f
	}
	hasSpec := spec != ""
	switch {
	case converts && conversion == "r" && !hasSpec:
		w.json(arg)
	case converts && (conversion != "s" || hasSpec):
		return wrong(fieldForms)
	case !hasSpec:
		w.value(arg)
	default:
		rest, f := "", wrong(fieldForms)
		if spec == "d" || spec == "x" || spec == "f" || strings.HasPrefix(spec, ".") {
			rest, f = w.verb(spec, arg)
		}
		if f == nil && rest != "" {
			f = wrong(fieldForms)
		}
		return f
	}
	return nil
}

func (a *fields) lookup(name string) (starlark.Value, *failure.Failure) {
	n, rest := cutDigits(name)
	if name != "" && (n == 0 || rest != "") {
		for i, known := range a.names {
			if known == name {
				return a.named[i], nil
			}
		}
		return nil, wrong("format: no value is named ", quoted(name))
	}
	at := int64(a.next)
	if name == "" {
		a.next++
		a.auto = true
	} else {
		a.numbers = true
		var err error
		if at, err = strconv.ParseInt(name, 10, 32); err != nil {
			at = math.MaxInt32
		}
	}
	if a.auto && a.numbers {
		return nil, wrong("format: {} and {0} cannot be mixed")
	}
	if at >= int64(len(a.args)) {
		return nil, wrong("format: there is no value for {", name, "}")
	}
	return a.args[at], nil
}

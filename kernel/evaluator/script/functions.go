package script

import (
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// counted writes so many of something into a message.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// functions are those of one value: conversions, and what asks about it.
func functions(all starlark.StringDict) {
	for _, name := range []string{"abs", "float", "int"} {
		most := 1
		if name == "int" {
			most = 2
		}
		params(all, name, []string{"x", "base"}[:most], 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
			if !simple(args[0]) || most == 2 && args[1] != nil && !simple(args[1]) {
				return nil, wrong(name + " cannot take " + kind(args[0]))
			}
			if most == 2 && args[1] == nil {
				args = args[:1]
			}
			v, f := expr.Convert(r.meter, name, args, nil)
			return v, raised(f)
		})
	}
	define(all, "bool", 1, func(_ *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return args[0].Truth(), nil
	})
	define(all, "type", 1, func(_ *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		if _, ok := args[0].(*starlark.Builtin); ok {
			return starlark.String("function"), nil
		}
		return starlark.String(args[0].Type()), nil
	})
	define(all, "str", 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) { return r.text(args[0]) })
	define(all, "len", 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) { return r.length(args[0]) })
	define(all, "json_encode", 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		raw, f := r.leave(args[0], MaxValueBytes, "the value")
		if f != nil {
			return nil, f
		}
		return r.json(raw)
	})
	define(all, "json_decode", 1, func(r *run, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.jsonDecode(args[0])
	})
	params(all, "range", []string{"start", "stop", "step"}, 1, func(_ *run, args []starlark.Value) (starlark.Value, error) {
		return rangeOf(args)
	})
}

// text is str(v): text as it is, everything else as JSON.
func (r *run) text(v starlark.Value) (starlark.Value, *failure.Failure) {
	if simple(v) {
		return expr.Text(r.meter, v)
	}
	raw, f := r.leave(v, MaxValueBytes, "the value")
	if f != nil {
		return nil, f
	}
	return r.json(raw)
}

// jsonFactor is how much larger than its bytes a value can be as JSON: a
// control character takes six.
const jsonFactor = 6

func (r *run) json(raw value.Raw) (starlark.Value, *failure.Failure) {
	if f := r.meter.Alloc(jsonFactor * uint64(len(raw))); f != nil {
		return nil, f
	}
	written := raw.AppendJSON(nil)
	if f := r.meter.AllocText(uint64(len(written))); f != nil {
		return nil, f
	}
	return starlark.String(written), nil
}

// jsonDecode reads strict JSON under the rules of the model (EX-10).
func (r *run) jsonDecode(v starlark.Value) (starlark.Value, *failure.Failure) {
	s, ok := v.(starlark.String)
	if !ok {
		return nil, fault("json_decode needs text, not " + kind(v))
	}
	n := uint64(len(s))
	if f := r.meter.Scan(8 * n); f != nil { // parsing is dearer than scanning
		return nil, f
	}
	if f := r.meter.Alloc(4 * n); f != nil {
		return nil, f
	}
	raw, problem := value.FromJSON([]byte(s), MaxValueBytes)
	if problem != nil {
		return nil, fault("json_decode: " + problem.String())
	}
	return r.enter(raw)
}

// length is len(x): code points of a text, items of anything else.
func (r *run) length(v starlark.Value) (starlark.Value, *failure.Failure) {
	switch v := v.(type) {
	case starlark.String:
		if f := r.meter.Scan(uint64(len(v))); f != nil {
			return nil, f
		}
		return starlark.MakeInt(utf8.RuneCountInString(string(v))), nil
	case *starlark.List, starlark.Tuple, *dict, *span:
		return starlark.MakeInt(starlark.Len(v)), nil
	}
	return nil, fault(kind(v) + " has no length")
}

func rangeOf(args []starlark.Value) (starlark.Value, error) {
	var n [3]int64
	for i, arg := range args {
		if arg == nil {
			continue
		}
		whole, ok := arg.(starlark.Int)
		if !ok {
			return nil, wrong("range needs integers, not " + kind(arg))
		}
		if n[i], ok = whole.Int64(); !ok || n[i] > value.MaxInt || n[i] < -value.MaxInt {
			return nil, large("range needs integers within 2^53")
		}
	}
	start, stop, step := n[0], n[1], n[2]
	if args[1] == nil {
		start, stop = 0, n[0]
	}
	if args[2] == nil {
		step = 1
	}
	count := int64(0)
	switch {
	case step == 0:
		return nil, wrong("range: step must not be zero")
	case step > 0 && stop > start:
		count = (stop-start-1)/step + 1
	case step < 0 && stop < start:
		count = (start-stop-1)/-step + 1
	}
	// No loop gets as far as this; and it fits an int everywhere.
	return &span{start: start, step: step, count: int(min(count, 1<<30))}, nil
}

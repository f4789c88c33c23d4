package expr

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// function is a builtin or a method. It charges the meter before it allocates
// and before it does anything longer than a few instructions. Nothing else can
// be called.
type function struct {
	params   []string // names; a method's receiver is not among them
	required int      // how many of them must be given
	variadic bool     // more may follow
	run      run
}

type run = func(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure)

// takes makes a function whose parameters are named in params, the first
// required ones not optional.
func takes(params string, required int, run run) *function {
	return &function{params: strings.Fields(params), required: required, run: run}
}

// takesMore makes a function of any number of arguments from required on.
func takesMore(required int, run run) *function {
	return &function{required: required, variadic: true, run: run}
}

// functions is the allow-list of builtins. Functions and variables have
// separate names: a variable called len does not hide the function.
var functions = map[string]*function{
	"abs":         takes("x", 1, abs),
	"all":         takes("x", 1, all),
	"any":         takes("x", 1, anyOf),
	"bool":        takes("x", 1, toBool),
	"dict":        takes("pairs", 0, toDict),
	"enumerate":   takes("x start", 1, enumerate),
	"float":       takes("x", 1, toFloat),
	"int":         takes("x base", 1, toInt),
	"json_decode": takes("text", 1, jsonDecode),
	"json_encode": takes("x", 1, jsonEncode),
	"len":         takes("x", 1, length),
	"list":        takes("x", 0, toList),
	"max":         takesMore(1, maximum),
	"min":         takesMore(1, minimum),
	"range":       takes("start stop step", 1, rangeOf),
	"reversed":    takes("x", 1, reversed),
	"sorted":      takes("x key reverse", 1, sorted),
	"str":         takes("x", 1, toText),
	"sum":         takes("x start", 1, sumOf),
	"type":        takes("x", 1, typeOf),
	"zip":         takesMore(0, zip),
}

// absent are functions that people look for, and what to do instead.
var absent = map[string]string{
	"dir":     "a map's keys() lists its members",
	"fail":    "use the FAIL instruction",
	"filter":  "write [x for x in xs if …]",
	"format":  "write \"… {}\".format(x)",
	"getattr": "write x.get(\"name\", default)",
	"hasattr": "write \"name\" in x",
	"map":     "write [f(x) for x in xs]",
	"print":   "an expression has no output",
	"repr":    "use json_encode(x)",
	"round":   "write \"%.2f\" % x for text, or (x + 0.5) // 1",
	"set":     "there are lists and maps only",
	"tuple":   "use list(x)",
}

// method is a method by kind of its receiver; nil where a kind has none of
// that name.
type method struct{ text, list, mapping *function }

// methods is the allow-list of methods. None changes its receiver. args[0] is
// the receiver.
var methods = map[string]*method{
	"capitalize":   {text: takes("", 0, capitalize)},
	"count":        {text: takes("part", 1, countText), list: takes("x", 1, countItems)},
	"endswith":     {text: takes("suffix", 1, endsWith)},
	"find":         {text: takes("part", 1, findText)},
	"format":       {text: takesMore(0, nil)}, // compiled to its own node
	"get":          {mapping: takes("key default", 1, getMember)},
	"index":        {text: takes("part", 1, indexText), list: takes("x", 1, indexItem)},
	"isalnum":      {text: takes("", 0, isAlnum)},
	"isalpha":      {text: takes("", 0, isAlpha)},
	"isdigit":      {text: takes("", 0, isDigit)},
	"islower":      {text: takes("", 0, isLower)},
	"isspace":      {text: takes("", 0, isSpace)},
	"isupper":      {text: takes("", 0, isUpper)},
	"items":        {mapping: takes("", 0, mapItems)},
	"join":         {text: takes("list", 1, join)},
	"keys":         {mapping: takes("", 0, mapKeys)},
	"lower":        {text: takes("", 0, lower)},
	"lstrip":       {text: takes("letters", 0, lstrip)},
	"partition":    {text: takes("separator", 1, partition)},
	"removeprefix": {text: takes("prefix", 1, removePrefix)},
	"removesuffix": {text: takes("suffix", 1, removeSuffix)},
	"replace":      {text: takes("old new count", 2, replace)},
	"rfind":        {text: takes("part", 1, rfindText)},
	"rpartition":   {text: takes("separator", 1, rpartition)},
	"rstrip":       {text: takes("letters", 0, rstrip)},
	"split":        {text: takes("separator maxsplit", 0, split)},
	"splitlines":   {text: takes("", 0, splitLines)},
	"startswith":   {text: takes("prefix", 1, startsWith)},
	"strip":        {text: takes("letters", 0, strip)},
	"title":        {text: takes("", 0, title)},
	"upper":        {text: takes("", 0, upper)},
	"values":       {mapping: takes("", 0, mapValues)},
}

// changing are methods that people know from elsewhere and that would change
// their receiver, with what to write instead.
var changing = map[string]string{
	"append":     "xs + [x]",
	"extend":     "xs + ys",
	"insert":     "xs[:i] + [x] + xs[i:]",
	"remove":     "[y for y in xs if y != x]",
	"pop":        "xs[:-1], and xs[-1] for the item",
	"clear":      "[] or {}",
	"update":     "x | y",
	"setdefault": "{\"key\": value} | x",
	"popitem":    "x.items()",
	"sort":       "sorted(xs)",
	"reverse":    "reversed(xs)",
}

// any is one of the method's functions: those of one name take the same
// arguments.
func (t *method) any() *function {
	switch {
	case t.text != nil:
		return t.text
	case t.list != nil:
		return t.list
	}
	return t.mapping
}

// of is the method's function for a receiver; nil when its kind has none.
func (t *method) of(receiver starlark.Value) *function {
	switch receiver.(type) {
	case starlark.String:
		return t.text
	case *List:
		return t.list
	case *Map:
		return t.mapping
	}
	return nil
}

// call is name(args). Arguments that were given by name stand in their places;
// one that was not given is nil.
type call struct {
	place
	function *function
	name     string
	args     []node
}

func (n *call) eval(m *Meter) (starlark.Value, *failure.Failure) {
	args, f := m.evalArgs(make([]starlark.Value, 0, len(n.args)), n.args)
	if f != nil {
		return nil, f
	}
	return n.function.run(m, args)
}

// evalArgs appends the arguments' values; the caller has made room.
func (m *Meter) evalArgs(dst []starlark.Value, args []node) ([]starlark.Value, *failure.Failure) {
	if f := m.alloc(uint64(cap(dst)) * slotBytes); f != nil {
		return nil, f
	}
	for _, arg := range args {
		if arg == nil {
			dst = append(dst, nil)
			continue
		}
		v, f := m.eval(arg)
		if f != nil {
			return nil, f
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// methodCall is x.name(args).
type methodCall struct {
	place
	x      node
	method *method
	name   string
	args   []node
}

func (n *methodCall) eval(m *Meter) (starlark.Value, *failure.Failure) {
	x, f := m.eval(n.x)
	if f != nil {
		return nil, f
	}
	function := n.method.of(x)
	if function == nil {
		return nil, wrong(kindName(x), " has no method ", n.name)
	}
	args, f := m.evalArgs(append(make([]starlark.Value, 0, 1+len(n.args)), x), n.args)
	if f != nil {
		return nil, f
	}
	return function.run(m, args)
}

// optional is args[i], nil when it was not given.
func optional(args []starlark.Value, i int) starlark.Value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// textArg checks that an argument is text.
func textArg(name string, v starlark.Value) (string, *failure.Failure) {
	s, ok := v.(starlark.String)
	if !ok {
		return "", wrong(name, " must be text, not ", kindName(v))
	}
	return string(s), nil
}

// intArg checks that an argument is an integer within the model.
func intArg(name string, v starlark.Value) (int64, *failure.Failure) {
	i, ok := v.(starlark.Int)
	if !ok {
		return 0, wrong(name, " must be an integer, not ", kindName(v))
	}
	n, ok := i.Int64()
	if !ok || n > value.MaxInt || n < -value.MaxInt {
		return 0, tooLarge(name, " must be an integer within 2^53")
	}
	return n, nil
}

// itemsArg is what a function goes over: a list's items, or a map's keys.
func itemsArg(m *Meter, v starlark.Value) ([]starlark.Value, *failure.Failure) {
	switch v := v.(type) {
	case *List:
		return v.items, m.visit(uint64(len(v.items)))
	case *Map:
		if f := m.allocList(uint64(len(v.members)) * 2); f != nil { // slots and boxes
			return nil, f
		}
		return v.keys(), nil
	}
	return nil, notIterable(v)
}

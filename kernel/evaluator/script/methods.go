package script

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// method is a method of lists or of dicts: those of this table, and no other.
type method struct {
	most, least int // arguments
	do          func(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure)
}

var listMethods = map[string]method{
	"append": {1, 1, func(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return starlark.None, r.extend(x.(*starlark.List), starlark.Tuple(args))
	}},
	"extend": {1, 1, func(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return starlark.None, r.extend(x.(*starlark.List), args[0])
	}},
	"clear":  {0, 0, listClear},
	"insert": {2, 2, listInsert},
	"pop":    {1, 0, listPop},
	"remove": {1, 1, listRemove},
	"index": {1, 1, func(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
		at, f := r.position(x.(listed), args[0])
		if f == nil && at < 0 {
			f = fault("index: the list has no such item")
		}
		return starlark.MakeInt(at), f
	}},
	"count": {1, 1, func(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
		n := 0
		list := x.(listed)
		for i := range list.Len() {
			same, f := r.equal(list.Index(i), args[0], 1)
			if f != nil {
				return nil, f
			}
			if same {
				n++
			}
		}
		return starlark.MakeInt(n), nil
	}},
}

var dictMethods = map[string]method{
	"get": {2, 1, dictGet},
	"keys": {0, 0, func(r *run, x starlark.Value, _ []starlark.Value) (starlark.Value, *failure.Failure) {
		return r.listOf(x)
	}},
	"values":     {0, 0, dictValues},
	"items":      {0, 0, dictItems},
	"pop":        {2, 1, dictPop},
	"setdefault": {2, 1, dictSetDefault},
	"clear":      {0, 0, dictClear},
	"update": {1, 1, func(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
		return starlark.None, r.update(x.(*dict), args[0])
	}},
}

// callMethod is x.name(…): its first two arguments are x and the name.
func callMethod(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := runOf(thread)
	v, err := r.method(args[0], string(args[1].(starlark.String)), args[2:], kwargs)
	r.settle()
	return v, err
}

func (r *run) method(x starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var table map[string]method
	switch x := x.(type) {
	case starlark.String:
		return r.textMethod(x, name, args, kwargs)
	case *starlark.List:
		table = listMethods
	case starlark.Tuple:
		if name == "index" || name == "count" {
			table = listMethods
		}
	case *dict:
		table = dictMethods
	}
	m, known := table[name]
	switch {
	case !known:
		return r.callMember(x, name, args, kwargs)
	case len(kwargs) > 0:
		return nil, wrong(name + " takes its arguments by place")
	case len(args) < m.least || len(args) > m.most:
		return nil, wrong(name + " does not take " + counted(len(args), "argument"))
	}
	v, f := m.do(r, x, args)
	return v, raised(f)
}

// callMember calls a function that a dict holds: x.name(…).
func (r *run) callMember(x starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if d, ok := x.(*dict); ok {
		if v, found := d.get(key{kind: textKey, text: name}); found {
			if function, ok := v.(*starlark.Function); ok {
				r.settle()
				result, err := starlark.Call(&r.thread, function, args, kwargs)
				runOf(&r.thread)
				return result, err
			}
		}
	}
	return nil, wrong(kind(x) + " has no method " + expr.Quote(name))
}

// textMethod is a method of text. What it is given, and what it gives, is as
// package expr has it: lists are copied.
func (r *run) textMethod(s starlark.String, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	all := make([]starlark.Value, 0, len(args)+len(kwargs))
	names := make([]string, len(kwargs))
	all = append(all, args...)
	for i, named := range kwargs {
		names[i] = string(named[0].(starlark.String))
		all = append(all, named[1])
	}
	owned, f := r.owned(all)
	if f != nil {
		return nil, problem{f}
	}
	v, known, f := expr.TextMethod(r.meter, name, s, owned, names)
	switch {
	case !known && f == nil:
		return nil, wrong("text has no method " + expr.Quote(name))
	case f != nil:
		return nil, problem{f}
	}
	list, ok := v.(*expr.List)
	if !ok {
		return v, nil
	}
	if f := r.allocList(uint64(list.Len())); f != nil {
		return nil, problem{f}
	}
	items := make([]starlark.Value, list.Len())
	for i := range items {
		items[i] = list.Index(i)
	}
	return starlark.NewList(items), nil
}

func (r *run) listOf(x starlark.Value) (starlark.Value, *failure.Failure) {
	items, f := r.items(x)
	return starlark.NewList(items), f
}

// extend puts the items of y behind those of a list.
func (r *run) extend(list *starlark.List, y starlark.Value) *failure.Failure {
	items, f := r.items(y)
	switch {
	case f != nil:
		return f
	case list.Len()+len(items) > MaxItems:
		return tooMuch("a list has at most 65536 items")
	}
	if f := r.meter.Alloc(uint64(len(items)) * growFactor * slotBytes); f != nil {
		return f
	}
	for _, item := range items {
		if list.Append(item) != nil {
			return unchangeable()
		}
	}
	return nil
}

// change lets the library change a list by one of its own methods. The caller
// has checked the arguments and charged for it.
func (r *run) change(list *starlark.List, name string, args ...starlark.Value) (starlark.Value, *failure.Failure) {
	bound, err := list.Attr(name)
	if err != nil || bound == nil {
		panic("script: a method that lists do not have")
	}
	v, err := starlark.Call(&r.thread, bound, args, nil)
	if err != nil {
		return nil, unchangeable()
	}
	return v, nil
}

func listClear(_ *run, x starlark.Value, _ []starlark.Value) (starlark.Value, *failure.Failure) {
	if x.(*starlark.List).Clear() != nil {
		return nil, unchangeable()
	}
	return starlark.None, nil
}

func listInsert(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
	list := x.(*starlark.List)
	i, ok := args[0].(starlark.Int)
	at, ok := small(i, ok)
	if !ok {
		return nil, fault("insert: the index must be an integer")
	}
	n := int64(list.Len())
	if at < 0 {
		at += n
	}
	at = max(0, min(at, n))
	if n >= MaxItems {
		return nil, tooMuch("a list has at most 65536 items")
	}
	if f := r.meter.Alloc(growFactor * slotBytes); f != nil {
		return nil, f
	}
	if f := r.meter.Visit(uint64(n - at)); f != nil {
		return nil, f
	}
	return r.change(list, "insert", starlark.MakeInt64(at), args[1])
}

func listPop(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
	list := x.(*starlark.List)
	var i starlark.Value = starlark.MakeInt(-1)
	if len(args) == 1 {
		i = args[0]
	}
	at, f := indexIn(i, list.Len())
	if f != nil {
		return nil, f
	}
	return r.removeAt(list, at)
}

func listRemove(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
	list := x.(*starlark.List)
	at, f := r.position(list, args[0])
	if f == nil && at < 0 {
		f = fault("remove: the list has no such item")
	}
	if f != nil {
		return nil, f
	}
	_, f = r.removeAt(list, at)
	return starlark.None, f
}

func (r *run) removeAt(list *starlark.List, at int) (starlark.Value, *failure.Failure) {
	if f := r.meter.Visit(uint64(list.Len() - at)); f != nil {
		return nil, f
	}
	return r.change(list, "pop", starlark.MakeInt(at))
}

func dictGet(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
	if k, ok := keyOf(args[0]); ok {
		if v, found := x.(*dict).get(k); found {
			return v, nil
		}
	}
	if len(args) == 2 {
		return args[1], nil
	}
	return starlark.None, r.meter.Charge(1)
}

func dictValues(r *run, x starlark.Value, _ []starlark.Value) (starlark.Value, *failure.Failure) {
	d := x.(*dict)
	if f := r.allocList(uint64(d.Len())); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, 0, d.Len())
	for _, e := range d.entries {
		if e.key != nil {
			items = append(items, e.value)
		}
	}
	return starlark.NewList(items), nil
}

func dictItems(r *run, x starlark.Value, _ []starlark.Value) (starlark.Value, *failure.Failure) {
	d := x.(*dict)
	if f := r.rows(d.Len(), 2); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, 0, d.Len())
	for _, e := range d.entries {
		if e.key != nil {
			items = append(items, starlark.Tuple{e.key, e.value})
		}
	}
	return starlark.NewList(items), nil
}

func dictPop(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
	d := x.(*dict)
	if f := d.changeable(); f != nil {
		return nil, f
	}
	if f := r.meter.Charge(4); f != nil { // closing gaps, by and by
		return nil, f
	}
	if k, ok := keyOf(args[0]); ok {
		if v, found := d.remove(k); found {
			return v, nil
		}
	}
	if len(args) == 2 {
		return args[1], nil
	}
	return nil, fault("pop: the dict has no such key; a second argument is the default")
}

func dictSetDefault(r *run, x starlark.Value, args []starlark.Value) (starlark.Value, *failure.Failure) {
	d := x.(*dict)
	if k, ok := keyOf(args[0]); ok {
		if v, found := d.get(k); found {
			return v, nil
		}
	}
	var v starlark.Value = starlark.None
	if len(args) == 2 {
		v = args[1]
	}
	return v, r.put(d, args[0], v)
}

func dictClear(r *run, x starlark.Value, _ []starlark.Value) (starlark.Value, *failure.Failure) {
	d := x.(*dict)
	if f := d.changeable(); f != nil {
		return nil, f
	}
	d.clear()
	return starlark.None, r.meter.Charge(1)
}

// update puts the entries of a dict, or of a list of pairs, into another.
func (r *run) update(d *dict, from starlark.Value) *failure.Failure {
	if from, ok := from.(*dict); ok {
		if f := r.meter.Charge(uint64(len(from.entries))); f != nil {
			return f
		}
		for _, e := range from.entries[:len(from.entries):len(from.entries)] {
			if e.key == nil {
				continue
			}
			if f := r.put(d, e.key, e.value); f != nil {
				return f
			}
		}
		return nil
	}
	pairs, f := r.items(from)
	if f != nil {
		return f
	}
	for _, item := range pairs {
		pair, ok := item.(listed)
		if !ok || pair.Len() != 2 {
			return fault("a dict is made from another, or from a list of pairs")
		}
		if f := r.put(d, pair.Index(0), pair.Index(1)); f != nil {
			return f
		}
	}
	return nil
}

package expr

import (
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Own turns a Starlark value into one of this package's: null, booleans,
// integers, floats, text, *List and *Map. Those are returned as they are;
// Starlark's own lists, tuples and dicts are copied, integral floats become
// integers. It fails with EVAL_FAILURE on what is no data (functions, dicts
// with other keys than text, text that is not UTF-8, NaN) and with
// VALUE_TOO_LARGE beyond MaxValueBytes and 64 levels. A cyclic value is
// bounded by the same limits.
func Own(v starlark.Value) (starlark.Value, *failure.Failure) {
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, *List, *Map:
		return v, nil
	case starlark.Float:
		return number(float64(v))
	case starlark.String:
		if !utf8.ValidString(string(v)) {
			return nil, wrong("the text is not valid UTF-8")
		}
		return v, nil
	}
	o := owner{left: MaxValueBytes}
	return o.value(v, 0)
}

// owner copies a foreign container. left bounds how many values it visits:
// each takes at least one byte of the encoding.
type owner struct{ left int }

func (o *owner) value(v starlark.Value, depth int) (starlark.Value, *failure.Failure) {
	if depth > value.MaxDepth {
		return nil, tooLarge("lists and maps are nested deeper than ", decimal(value.MaxDepth))
	}
	if o.left == 0 {
		return nil, tooLarge("the value is larger than ", decimal(MaxValueBytes), " bytes")
	}
	o.left--
	switch v := v.(type) {
	case *starlark.List:
		return o.list(v, depth)
	case starlark.Tuple:
		return o.list(v, depth)
	case *starlark.Dict:
		return o.dict(v, depth)
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, *List, *Map:
		return Own(v)
	}
	return nil, wrong("the value is no data")
}

func (o *owner) list(v starlark.Indexable, depth int) (starlark.Value, *failure.Failure) {
	if v.Len() > o.left {
		return nil, tooLarge("the value is larger than ", decimal(MaxValueBytes), " bytes")
	}
	items := make([]starlark.Value, v.Len())
	for i := range items {
		item, f := o.value(v.Index(i), depth+1)
		if f != nil {
			return nil, f
		}
		items[i] = item
	}
	return asValue(newList(items))
}

func (o *owner) dict(v *starlark.Dict, depth int) (starlark.Value, *failure.Failure) {
	if v.Len() > o.left {
		return nil, tooLarge("the value is larger than ", decimal(MaxValueBytes), " bytes")
	}
	members := make([]member, 0, v.Len())
	for key, item := range v.Entries() {
		text, ok := key.(starlark.String)
		if !ok || !utf8.ValidString(string(text)) {
			return nil, wrong("a map's key must be text")
		}
		owned, f := o.value(item, depth+1)
		if f != nil {
			return nil, f
		}
		members = append(members, member{string(text), owned})
	}
	members, _ = arrange(members)
	return asValue(newMap(members))
}

// asValue turns a typed result into a Value without making a nil pointer a
// non-nil interface.
func asValue[T starlark.Value](v T, f *failure.Failure) (starlark.Value, *failure.Failure) {
	if f != nil {
		return nil, f
	}
	return v, nil
}

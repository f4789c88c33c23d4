package expr

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// FromRaw reads a stored value, of any size, into one that expressions work
// with. raw must be canonical (value.Check at the border); bytes that are no
// value are a broken invariant, and it panics.
func FromRaw(raw value.Raw) starlark.Value {
	d := decoder{r: value.NewReader(raw)}
	v, _ := d.value(0)
	if !d.r.Empty() {
		panic("expr: bytes follow a stored value")
	}
	return v
}

// decoder reads values. With a meter, it charges what it allocates.
type decoder struct {
	r value.Reader
	m *Meter
}

func (d *decoder) alloc(n uint64) *failure.Failure {
	if d.m == nil {
		return nil
	}
	return d.m.alloc(n)
}

func (d *decoder) value(depth int) (starlark.Value, *failure.Failure) {
	if depth > value.MaxDepth {
		panic("expr: a stored value is nested too deeply")
	}
	switch d.r.Kind() {
	case value.NullKind:
		d.r.ReadNull()
		return starlark.None, nil
	case value.BoolKind:
		b, _ := d.r.ReadBool()
		return starlark.Bool(b), nil
	case value.IntKind:
		if n, ok := d.r.ReadInt(); ok {
			return starlark.MakeInt64(n), nil
		}
	case value.FloatKind:
		n, _ := d.r.ReadFloat()
		return starlark.Float(n), nil
	case value.StringKind:
		if text, ok := d.r.ReadText(); ok {
			if f := d.alloc(boxBytes + uint64(len(text))); f != nil {
				return nil, f
			}
			return starlark.String(text), nil
		}
	case value.ListKind:
		if n, ok := d.r.ReadListHeader(); ok {
			return asValue(d.list(n, depth))
		}
	case value.MapKind:
		if n, ok := d.r.ReadMapHeader(); ok {
			return asValue(d.mapping(n, depth))
		}
	}
	panic("expr: a stored value cannot be read")
}

func (d *decoder) list(n uint64, depth int) (*List, *failure.Failure) {
	if f := d.alloc(listBytes + n*slotBytes); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, n)
	var s sum
	for i := range items {
		item, f := d.value(depth + 1)
		if f != nil {
			return nil, f
		}
		items[i] = item
		s.add(shapeOf(item))
	}
	return &List{items, s.container(len(items))}, nil
}

func (d *decoder) mapping(n uint64, depth int) (*Map, *failure.Failure) {
	if f := d.alloc(mapBytes + n*memberBytes); f != nil {
		return nil, f
	}
	members := make([]member, n)
	var s sum
	for i := range members {
		key, ok := d.r.ReadText()
		if !ok {
			panic("expr: a stored map's key cannot be read")
		}
		if f := d.alloc(uint64(len(key))); f != nil {
			return nil, f
		}
		item, f := d.value(depth + 1)
		if f != nil {
			return nil, f
		}
		members[i] = member{string(key), item}
		s.size += uint64(textSize(uint64(len(key))))
		s.add(shapeOf(item))
	}
	return &Map{members, s.container(len(members))}, nil
}

// AppendRaw appends v in canonical CBOR, at most maxBytes bytes (EX-10). It
// takes what Own takes. It fails with VALUE_TOO_LARGE beyond maxBytes, 64
// levels, or an integer beyond 2^53, with EVAL_FAILURE on what is no data, and
// then returns dst as it was.
func AppendRaw(dst []byte, v starlark.Value, maxBytes uint32) ([]byte, *failure.Failure) {
	v, f := Own(v)
	if f != nil {
		return dst, f
	}
	s := shapeOf(v)
	if s.wide {
		return dst, leavesWide(v)
	}
	if s.size > maxBytes {
		return dst, tooLarge("the value is larger than ", decimal(int64(maxBytes)), " bytes")
	}
	return appendRaw(dst, v), nil
}

// appendRaw appends a value of ours whose shape was checked. It recurses as
// deep as the value, which is at most 64.
func appendRaw(dst []byte, v starlark.Value) []byte {
	switch v := v.(type) {
	case starlark.NoneType:
		return value.AppendNull(dst)
	case starlark.Bool:
		return value.AppendBool(dst, bool(v))
	case starlark.Int:
		n, _ := v.Int64()
		return value.AppendInt(dst, n)
	case starlark.Float:
		return value.AppendFloat(dst, float64(v))
	case starlark.String:
		return value.AppendString(dst, string(v))
	case *List:
		dst = value.AppendListHeader(dst, uint64(len(v.items)))
		for _, item := range v.items {
			dst = appendRaw(dst, item)
		}
		return dst
	case *Map:
		dst = value.AppendMapHeader(dst, uint64(len(v.members)))
		for _, m := range v.members {
			dst = appendRaw(value.AppendString(dst, m.key), m.value)
		}
		return dst
	}
	panic("expr: a value that was not adopted")
}

// leaving checks a value where it leaves an expression (EX-10). Its size and
// depth were checked when it was built.
func leaving(v starlark.Value) *failure.Failure {
	if shapeOf(v).wide {
		return leavesWide(v)
	}
	return nil
}

func leavesWide(v starlark.Value) *failure.Failure {
	what := "the result is"
	if _, ok := v.(starlark.Int); !ok {
		what = "the result holds"
	}
	return tooLarge(what, " an integer beyond 2^53; str(x) keeps all its digits as text")
}

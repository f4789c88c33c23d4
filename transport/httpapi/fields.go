package httpapi

import (
	"math"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// field is one member of a map that a client sent, which parent leads to.
type field struct {
	parent string
	key    string
	raw    value.Raw
}

// path leads to the field. It is put together only when somebody must be told.
func (f *field) path() string { return below(f.parent, f.key) }

// eachField visits the members of a map that are not null: null is the same as
// leaving the field out.
func eachField(raw value.Raw, path string, visit func(f field) *api.Error) *api.Error {
	r := value.NewReader(raw)
	n, ok := r.ReadMapHeader()
	if !ok {
		return invalid(orBody(path), "must be an object, not "+article(raw), "")
	}
	for range n {
		key, _ := r.ReadString()
		f := field{parent: path, key: key, raw: r.Skip()}
		if f.raw.Kind() == value.NullKind {
			f.raw = nil
		}
		if e := visit(f); e != nil {
			return e
		}
	}
	return nil
}

// below places a key under a path.
func below(path, key string) string {
	key = value.JoinKey(key, "")
	if path == "" || strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}

func orBody(path string) string {
	if path == "" {
		return "body"
	}
	return path
}

func article(raw value.Raw) string {
	switch kind := raw.Kind(); kind {
	case value.NullKind, value.StringKind:
		return kind.String()
	case value.IntKind:
		return "an integer"
	default:
		return "a " + kind.String()
	}
}

func (f *field) unknown(known string) *api.Error {
	return invalid(f.path(), "unknown field", "known fields: "+known)
}

func (f *field) wrong(wanted string) *api.Error {
	return invalid(f.path(), "must be "+wanted+", not "+article(f.raw), "")
}

func (f field) text(into *string) *api.Error {
	if f.raw == nil {
		return nil
	}
	s, ok := f.raw.Text()
	if !ok {
		return f.wrong("text")
	}
	*into = s
	return nil
}

func (f field) integer(into *int64) *api.Error {
	if f.raw == nil {
		return nil
	}
	n, ok := f.raw.Int()
	if !ok {
		return f.wrong("an integer")
	}
	*into = n
	return nil
}

// whole takes a number from 0 to most.
func (f field) whole(into *uint64, most uint64) *api.Error {
	if f.raw == nil {
		return nil
	}
	n, ok := f.raw.Int()
	if !ok {
		return f.wrong("an integer")
	}
	if n < 0 || uint64(n) > most {
		return invalid(f.path(), "must be from 0 to "+strconv.FormatUint(most, 10), "")
	}
	*into = uint64(n)
	return nil
}

// whole32 is whole for fields of 32 bits.
func (f field) whole32(into *uint32) *api.Error {
	n := uint64(*into)
	e := f.whole(&n, math.MaxUint32)
	*into = uint32(n)
	return e
}

// maxExact is the largest integer that a value may be (EX-10).
const maxExact = 1 << 53

// version takes the version of a compare-and-set; 0 is one too, and none is
// nil.
func (f field) version(into **uint64) *api.Error {
	if f.raw == nil {
		return nil
	}
	*into = new(uint64)
	return f.whole(*into, maxExact)
}

func (f field) flag(into *bool) *api.Error {
	if f.raw == nil {
		return nil
	}
	b, ok := f.raw.Bool()
	if !ok {
		return f.wrong("true or false")
	}
	*into = b
	return nil
}

// any takes a value as it is.
func (f field) any(into *value.Raw) *api.Error {
	*into = f.raw
	return nil
}

func (f field) texts(into *map[string]string) *api.Error {
	if f.raw == nil {
		return nil
	}
	texts := make(map[string]string, min(f.raw.Len(), 64))
	e := eachField(f.raw, f.path(), func(entry field) *api.Error {
		var s string
		if entry.raw == nil {
			return entry.wrong("text")
		}
		if e := entry.text(&s); e != nil {
			return e
		}
		texts[entry.key] = s
		return nil
	})
	*into = texts
	return e
}

// eachItem visits the items of a list.
func (f field) eachItem(visit func(i int, raw value.Raw, path string) *api.Error) *api.Error {
	if f.raw == nil {
		return nil
	}
	r := value.NewReader(f.raw)
	n, ok := r.ReadListHeader()
	if !ok {
		return f.wrong("a list")
	}
	path := f.path()
	for i := range n {
		if e := visit(int(i), r.Skip(), path+"["+strconv.FormatUint(i, 10)+"]"); e != nil {
			return e
		}
	}
	return nil
}

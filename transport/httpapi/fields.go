package httpapi

import (
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// field is one member of a map that a client sent. path leads to it.
type field struct {
	key  string
	path string
	raw  value.Raw
}

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
		f := field{key: key, raw: r.Skip()}
		if f.raw.Kind() == value.NullKind {
			f.raw = nil
		}
		f.path = below(path, key)
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

func (f field) unknown(known string) *api.Error {
	return invalid(f.path, "unknown field", "known fields: "+known)
}

func (f field) wrong(wanted string) *api.Error {
	return invalid(f.path, "must be "+wanted+", not "+article(f.raw), "")
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
	e := eachField(f.raw, f.path, func(entry field) *api.Error {
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
	for i := range n {
		if e := visit(int(i), r.Skip(), f.path+"["+strconv.FormatUint(i, 10)+"]"); e != nil {
			return e
		}
	}
	return nil
}

package value

import (
	"math"
	"slices"
	"unicode/utf8"
)

// FromGo turns nil, bool, integers of any width, float32, float64, string,
// []any and map[string]any into a value; anything else is a Problem. It is for
// configuration, adapters and tests, not for hot paths.
func FromGo(v any) (Raw, *Problem) {
	dst, p := appendGo(nil, v, 0)
	if p != nil {
		return nil, p.clip()
	}
	return Raw(slices.Clip(dst)), nil
}

func appendGo(dst []byte, v any, depth int) ([]byte, *Problem) {
	switch v := v.(type) {
	case nil:
		return AppendNull(dst), nil
	case bool:
		return AppendBool(dst, v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, broken(ruleUTF8)
		}
		return AppendString(dst, v), nil
	case float64:
		return appendGoFloat(dst, v)
	case float32:
		return appendGoFloat(dst, float64(v))
	case []any:
		return appendGoList(dst, v, depth)
	case map[string]any:
		return appendGoMap(dst, v, depth)
	}
	return appendGoInt(dst, v)
}

func appendGoInt(dst []byte, v any) ([]byte, *Problem) {
	switch v := v.(type) {
	case int:
		return appendSigned(dst, int64(v))
	case int8:
		return appendSigned(dst, int64(v))
	case int16:
		return appendSigned(dst, int64(v))
	case int32:
		return appendSigned(dst, int64(v))
	case int64:
		return appendSigned(dst, v)
	case uint:
		return appendUnsigned(dst, uint64(v))
	case uint8:
		return appendUnsigned(dst, uint64(v))
	case uint16:
		return appendUnsigned(dst, uint64(v))
	case uint32:
		return appendUnsigned(dst, uint64(v))
	case uint64:
		return appendUnsigned(dst, v)
	}
	return nil, broken("a value is null, a boolean, a number, text, a list, or a map with text keys")
}

func appendSigned(dst []byte, n int64) ([]byte, *Problem) {
	if n > MaxInt || n < -MaxInt {
		return nil, broken(ruleInteger)
	}
	return AppendInt(dst, n), nil
}

func appendUnsigned(dst []byte, n uint64) ([]byte, *Problem) {
	if n > uint64(MaxInt) {
		return nil, broken(ruleInteger)
	}
	return AppendInt(dst, int64(n)), nil
}

func appendGoFloat(dst []byte, f float64) ([]byte, *Problem) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, broken(ruleFinite)
	}
	return AppendFloat(dst, f), nil
}

func appendGoList(dst []byte, items []any, depth int) ([]byte, *Problem) {
	if depth == MaxDepth {
		return nil, broken(ruleDepth)
	}
	dst = AppendListHeader(dst, uint64(len(items)))
	var p *Problem
	for i, item := range items {
		if dst, p = appendGo(dst, item, depth+1); p != nil {
			return nil, p.inItem(uint64(i))
		}
	}
	return dst, nil
}

func appendGoMap(dst []byte, members map[string]any, depth int) ([]byte, *Problem) {
	if depth == MaxDepth {
		return nil, broken(ruleDepth)
	}
	keys := make([]string, 0, len(members))
	//lint:ordered the keys are sorted below
	for key := range members {
		keys = append(keys, key)
	}
	SortKeys(keys)
	dst = AppendMapHeader(dst, uint64(len(keys)))
	var p *Problem
	for _, key := range keys {
		if !utf8.ValidString(key) {
			return nil, broken(ruleUTF8)
		}
		dst = AppendString(dst, key)
		if dst, p = appendGo(dst, members[key], depth+1); p != nil {
			return nil, p.inKey(key)
		}
	}
	return dst, nil
}

// ToGo returns r as nil, bool, int64, float64, string, []any or
// map[string]any. Bytes that are no value give nil.
func (r Raw) ToGo() any {
	rd := Reader{r}
	return rd.toGo(0)
}

func (r *Reader) toGo(depth int) any {
	switch r.Kind() {
	case NullKind:
		r.ReadNull()
		return nil
	case BoolKind:
		b, _ := r.ReadBool()
		return b
	case IntKind:
		if n, ok := r.ReadInt(); ok {
			return n
		}
	case FloatKind:
		f, _ := r.ReadFloat()
		return f
	case StringKind:
		if s, ok := r.ReadString(); ok {
			return s
		}
	case ListKind:
		if depth < MaxDepth {
			return r.toGoList(depth + 1)
		}
	case MapKind:
		if depth < MaxDepth {
			return r.toGoMap(depth + 1)
		}
	}
	r.abandon()
	return nil
}

func (r *Reader) toGoList(depth int) []any {
	n, _ := r.ReadListHeader()
	items := make([]any, 0, min(n, 1024))
	for range n {
		items = append(items, r.toGo(depth))
	}
	return items
}

func (r *Reader) toGoMap(depth int) map[string]any {
	n, _ := r.ReadMapHeader()
	members := make(map[string]any, min(n, 1024))
	for range n {
		key, ok := r.ReadString()
		if !ok {
			r.abandon()
		}
		members[key] = r.toGo(depth)
	}
	return members
}

package value

import (
	"math"
	"strconv"
)

// AppendJSON appends r as compact JSON, map members in canonical order. What
// FromJSON reads back from it is r again.
func (r Raw) AppendJSON(dst []byte) []byte {
	rd := Reader{r}
	return rd.appendJSON(dst, 0)
}

// appendJSON appends the next value. Bytes that are no value, or nested beyond
// MaxDepth, give null: they cannot be here, and they must not end the process.
func (r *Reader) appendJSON(dst []byte, depth int) []byte {
	switch r.Kind() {
	case NullKind:
		r.ReadNull()
		return append(dst, "null"...)
	case BoolKind:
		b, _ := r.ReadBool()
		return strconv.AppendBool(dst, b)
	case IntKind:
		n, ok := r.ReadInt()
		if !ok {
			break
		}
		return strconv.AppendInt(dst, n, 10)
	case FloatKind:
		f, _ := r.ReadFloat()
		return appendJSONFloat(dst, f)
	case StringKind:
		text, ok := r.ReadText()
		if !ok {
			break
		}
		return appendQuoted(dst, text)
	case ListKind:
		if depth < MaxDepth {
			return r.appendJSONList(dst, depth+1)
		}
	case MapKind:
		if depth < MaxDepth {
			return r.appendJSONMap(dst, depth+1)
		}
	}
	r.abandon()
	return append(dst, "null"...)
}

func (r *Reader) appendJSONList(dst []byte, depth int) []byte {
	n, _ := r.ReadListHeader()
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.appendJSON(dst, depth)
	}
	return append(dst, ']')
}

func (r *Reader) appendJSONMap(dst []byte, depth int) []byte {
	n, _ := r.ReadMapHeader()
	dst = append(dst, '{')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, ok := r.ReadText()
		if !ok {
			r.abandon()
		}
		dst = appendQuoted(dst, key)
		dst = append(dst, ':')
		dst = r.appendJSON(dst, depth)
	}
	return append(dst, '}')
}

// appendJSONFloat writes the shortest digits that give f back. A number beyond
// 2^53 always has an exponent, so that it is read as the float it is.
func appendJSONFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= float64(MaxInt) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes text between double quotes, escaping only what JSON
// requires.
func appendQuoted(dst []byte, text []byte) []byte {
	dst = append(dst, '"')
	plain := 0
	for i, c := range text {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
	}
	return append(append(dst, text[plain:]...), '"')
}

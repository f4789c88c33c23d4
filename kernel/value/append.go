package value

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, majorSimple<<5|simpleNull) }

// AppendBool appends a boolean.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, majorSimple<<5|simpleTrue)
	}
	return append(dst, majorSimple<<5|simpleFalse)
}

// AppendInt appends an integer, which must be at most MaxInt away from zero:
// it panics beyond, since that is no value.
func AppendInt(dst []byte, n int64) []byte {
	if n > MaxInt || n < -MaxInt {
		panic("value: integer beyond 2^53")
	}
	if n < 0 {
		return AppendHead(dst, MajorNegInt, uint64(-(n + 1)))
	}
	return AppendHead(dst, MajorUint, uint64(n))
}

// AppendString appends text, which must be valid UTF-8: the caller has checked
// it or got it from a value.
func AppendString(dst []byte, s string) []byte {
	return append(AppendHead(dst, MajorText, uint64(len(s))), s...)
}

// AppendListHeader begins a list of n items, which the caller appends next.
func AppendListHeader(dst []byte, n uint64) []byte { return AppendHead(dst, MajorList, n) }

// AppendMapHeader begins a map of n pairs. The caller appends next, n times, a
// text key and a value, the keys in canonical order (SortKeys), none twice.
func AppendMapHeader(dst []byte, n uint64) []byte { return AppendHead(dst, MajorMap, n) }

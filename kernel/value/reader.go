package value

// Reader walks canonical bytes from front to back. Every Read method answers
// false, and moves nowhere, when the next value is of another kind or there is
// none. It does not check that the bytes are canonical; it never reads past
// their end and never panics on any bytes.
//
// A Reader also reads several values written one after the other.
type Reader struct{ b []byte }

// NewReader reads r from its beginning.
func NewReader(r Raw) Reader { return Reader{r} }

// Empty tells whether everything was read.
func (r *Reader) Empty() bool { return len(r.b) == 0 }

// Rest is what was not read yet. The bytes belong to the Raw and are not to be
// written to.
func (r *Reader) Rest() []byte { return r.b[:len(r.b):len(r.b)] }

// Kind of the next value; Invalid at the end.
func (r *Reader) Kind() Kind { return kindOf(r.b) }

func kindOf(b []byte) Kind {
	h := readHead(b)
	if h.size == 0 {
		return Invalid
	}
	switch h.major {
	case MajorUint, MajorNegInt:
		return IntKind
	case MajorText:
		return StringKind
	case MajorList:
		return ListKind
	case MajorMap:
		return MapKind
	case majorSimple:
		switch h.info {
		case simpleFalse, simpleTrue:
			return BoolKind
		case simpleNull:
			return NullKind
		case infoTwo, infoFour, infoEight:
			return FloatKind
		}
	}
	return Invalid
}

// ReadNull reads null.
func (r *Reader) ReadNull() bool {
	if len(r.b) == 0 || r.b[0] != majorSimple<<5|simpleNull {
		return false
	}
	r.b = r.b[1:]
	return true
}

// ReadBool reads a boolean.
func (r *Reader) ReadBool() (b, ok bool) {
	if len(r.b) == 0 {
		return false, false
	}
	switch r.b[0] {
	case majorSimple<<5 | simpleFalse:
	case majorSimple<<5 | simpleTrue:
		b = true
	default:
		return false, false
	}
	r.b = r.b[1:]
	return b, true
}

// ReadInt reads an integer.
func (r *Reader) ReadInt() (int64, bool) {
	h := readHead(r.b)
	if h.size == 0 || h.major > MajorNegInt || h.arg > uint64(MaxInt) {
		return 0, false
	}
	r.b = r.b[h.size:]
	if h.major == MajorNegInt {
		return -1 - int64(h.arg), true
	}
	return int64(h.arg), true
}

// ReadFloat reads a number of either kind.
func (r *Reader) ReadFloat() (float64, bool) {
	if n, ok := r.ReadInt(); ok {
		return float64(n), true
	}
	h := readHead(r.b)
	if h.size == 0 || h.major != majorSimple {
		return 0, false
	}
	f, ok := h.float()
	if ok {
		r.b = r.b[h.size:]
	}
	return f, ok
}

// ReadText reads text without copying it: the bytes belong to the Raw and are
// not to be written to.
func (r *Reader) ReadText() ([]byte, bool) {
	h := readHead(r.b)
	rest := uint64(len(r.b)) - uint64(h.size)
	if h.size == 0 || h.major != MajorText || h.arg > rest {
		return nil, false
	}
	end := uint64(h.size) + h.arg
	text := r.b[h.size:end:end]
	r.b = r.b[end:]
	return text, true
}

// ReadString reads text into a string of its own.
func (r *Reader) ReadString() (string, bool) {
	text, ok := r.ReadText()
	return string(text), ok
}

// ReadListHeader enters a list: its n items are read next.
func (r *Reader) ReadListHeader() (n uint64, ok bool) { return r.enter(MajorList, 1) }

// ReadMapHeader enters a map: n times a key and a value are read next.
func (r *Reader) ReadMapHeader() (n uint64, ok bool) { return r.enter(MajorMap, 2) }

// enter reads the header of a list or map whose members take at least
// unit bytes each, and refuses one that the rest cannot hold.
func (r *Reader) enter(major byte, unit uint64) (uint64, bool) {
	h := readHead(r.b)
	if h.size == 0 || h.major != major || h.arg > (uint64(len(r.b))-uint64(h.size))/unit {
		return 0, false
	}
	r.b = r.b[h.size:]
	return h.arg, true
}

// Skip reads one whole value of any kind and returns its bytes; nil when there
// is none.
func (r *Reader) Skip() Raw {
	rest := *r
	for open := uint64(1); open > 0; open-- {
		members, ok := rest.step()
		if !ok {
			return nil
		}
		open += members
	}
	n := len(r.b) - len(rest.b)
	skipped := Raw(r.b[:n:n])
	*r = rest
	return skipped
}

// abandon gives up on bytes that turned out to be no value, so that whoever
// walks them comes to an end at once.
func (r *Reader) abandon() { r.b = nil }

// step moves over one scalar or one header and returns how many values follow
// as its members.
func (r *Reader) step() (members uint64, ok bool) {
	switch kindOf(r.b) {
	case ListKind:
		return r.ReadListHeader()
	case MapKind:
		n, ok := r.ReadMapHeader()
		return 2 * n, ok
	case StringKind:
		_, ok := r.ReadText()
		return 0, ok
	case Invalid:
		return 0, false
	}
	r.b = r.b[readHead(r.b).size:]
	return 0, true
}

// depth reads one value and returns its nesting, counting no further than
// MaxDepth + 1 levels. It keeps the members still to come of every open level.
func (r *Reader) depth() int {
	var left [MaxDepth]uint64
	level, deepest := 0, 0
	for {
		kind := r.Kind()
		members, ok := r.step()
		if !ok {
			return deepest
		}
		if level > 0 {
			left[level-1]--
		}
		if kind == ListKind || kind == MapKind {
			if level == MaxDepth {
				return MaxDepth + 1
			}
			left[level] = members
			level++
			deepest = max(deepest, level)
		}
		for level > 0 && left[level-1] == 0 {
			level--
		}
		if level == 0 {
			return deepest
		}
	}
}

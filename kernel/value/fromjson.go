package value

import (
	"bytes"
	"slices"
	"strconv"
)

// FromJSON reads one JSON document (RFC 8259) strictly: repeated keys, invalid
// UTF-8 (lone surrogate escapes included), integers beyond 2^53, numbers that
// overflow, nesting beyond MaxDepth and anything after the value are Problems
// (EX-10). maxBytes bounds the canonical form, not src; the work is bounded by
// the length of src.
func FromJSON(src []byte, maxBytes int) (Raw, *Problem) {
	p := jsonParser{src: src, max: maxBytes, dst: make([]byte, 0, min(len(src), max(maxBytes, 0))+1)}
	p.space()
	if problem := p.value(); problem != nil {
		return nil, problem.clip()
	}
	p.space()
	if p.at < len(p.src) {
		return nil, p.unexpected("nothing after the value")
	}
	return Raw(slices.Clip(p.dst)), nil
}

// jsonParser turns JSON into canonical CBOR in one pass. Headers are reserved
// as one byte and set when the count is known; a map's pairs are put in order
// when it closes. Its recursion is bounded by MaxDepth.
type jsonParser struct {
	src   []byte
	at    int
	dst   []byte
	max   int
	depth int
	pairs []pair // of all open maps, innermost last
	moved []byte // scratch of sortPairs
}

// pair is one member of an open map: offsets into dst.
type pair struct{ key, value, end int }

func (p *jsonParser) value() *Problem {
	if p.at == len(p.src) {
		return p.unexpected("a value")
	}
	var problem *Problem
	switch c := p.src[p.at]; {
	case c == '{':
		problem = p.object()
	case c == '[':
		problem = p.array()
	case c == '"':
		problem = p.text()
	case c == '-' || c >= '0' && c <= '9':
		problem = p.number()
	case p.word("null"):
		p.dst = AppendNull(p.dst)
	case p.word("true"):
		p.dst = AppendBool(p.dst, true)
	case p.word("false"):
		p.dst = AppendBool(p.dst, false)
	default:
		return p.unexpected("a value")
	}
	if problem != nil {
		return problem
	}
	return p.checkSize()
}

func (p *jsonParser) checkSize() *Problem {
	if len(p.dst) > p.max {
		return tooLarge(p.max)
	}
	return nil
}

func (p *jsonParser) array() *Problem {
	start := len(p.dst)
	if problem := p.open(); problem != nil {
		return problem
	}
	var n uint64
	for !p.next(']') {
		if n > 0 && !p.next(',') {
			return p.unexpected("a comma or ]")
		}
		p.space()
		if problem := p.value(); problem != nil {
			return problem.inItem(n)
		}
		n++
		p.space()
	}
	p.depth--
	p.dst = setHead(p.dst, start, MajorList, n)
	return nil
}

func (p *jsonParser) object() *Problem {
	start, first := len(p.dst), len(p.pairs)
	if problem := p.open(); problem != nil {
		return problem
	}
	for !p.next('}') {
		if len(p.pairs) > first && !p.next(',') {
			return p.unexpected("a comma or }")
		}
		p.space()
		if problem := p.member(); problem != nil {
			return problem
		}
		p.space()
	}
	p.depth--
	members := p.pairs[first:]
	if problem := p.sortPairs(members); problem != nil {
		return problem
	}
	p.dst = setHead(p.dst, start, MajorMap, uint64(len(members)))
	p.pairs = p.pairs[:first]
	return nil
}

func (p *jsonParser) member() *Problem {
	m := pair{key: len(p.dst)}
	if p.at == len(p.src) || p.src[p.at] != '"' {
		return p.unexpected("a key in double quotes")
	}
	if problem := p.text(); problem != nil {
		return problem
	}
	m.value = len(p.dst)
	p.space()
	if !p.next(':') {
		return p.unexpected("a colon")
	}
	p.space()
	if problem := p.value(); problem != nil {
		return problem.inKey(p.keyText(m))
	}
	m.end = len(p.dst)
	p.pairs = append(p.pairs, m)
	return nil
}

func (p *jsonParser) keyText(m pair) string {
	key, _ := Raw(p.dst[m.key:m.value]).Text()
	return key
}

// sortPairs puts the members that end dst in canonical order and finds a key
// that occurs twice.
func (p *jsonParser) sortPairs(members []pair) *Problem {
	byKey := func(a, b pair) int {
		return bytes.Compare(p.dst[a.key:a.value], p.dst[b.key:b.value])
	}
	inOrder := slices.IsSortedFunc(members, byKey)
	if !inOrder {
		slices.SortFunc(members, byKey)
	}
	for i := 1; i < len(members); i++ {
		if byKey(members[i-1], members[i]) == 0 {
			return broken(ruleDuplicate).inKey(p.keyText(members[i]))
		}
	}
	if inOrder {
		return nil
	}
	start := members[0].key
	p.moved = p.moved[:0]
	for _, m := range members {
		start = min(start, m.key)
		p.moved = append(p.moved, p.dst[m.key:m.end]...)
	}
	copy(p.dst[start:], p.moved)
	return nil
}

// open enters a list or map: its bracket is read and its header reserved.
func (p *jsonParser) open() *Problem {
	if p.depth == MaxDepth {
		return broken(ruleDepth)
	}
	p.depth++
	p.at++
	p.dst = append(p.dst, 0)
	p.space()
	return nil
}

func (p *jsonParser) space() {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonParser) next(c byte) bool {
	if p.at == len(p.src) || p.src[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *jsonParser) word(w string) bool {
	if !bytes.HasPrefix(p.src[p.at:], []byte(w)) {
		return false
	}
	p.at += len(w)
	return true
}

// unexpected names the place by line and column, both from 1, the column in
// bytes.
func (p *jsonParser) unexpected(wanted string) *Problem {
	read := p.src[:p.at]
	line := 1 + bytes.Count(read, []byte{'\n'})
	column := p.at - bytes.LastIndexByte(read, '\n')
	return broken("not JSON at line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column) + ": expected " + wanted)
}

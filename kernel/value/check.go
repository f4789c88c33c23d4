package value

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// Check tells whether b is exactly one canonical value of at most maxBytes
// bytes; nil when it is. It is used where bytes from outside enter the kernel
// (EX-10), and afterwards a Raw is trusted.
func Check(b []byte, maxBytes int) *Problem {
	if len(b) > maxBytes {
		return tooLarge(maxBytes)
	}
	c := checker{rest: b}
	if p := c.value(); p != nil {
		return p.clip()
	}
	if len(c.rest) > 0 {
		return broken("bytes follow the value")
	}
	return nil
}

// checker walks bytes that nobody vouches for. Its recursion is bounded by
// MaxDepth.
type checker struct {
	rest  []byte
	depth int
}

const ruleTruncated = "the bytes end inside a value"

func (c *checker) value() *Problem {
	h := readHead(c.rest)
	if h.size == 0 {
		return c.noHead(h)
	}
	if h.major != majorSimple && !h.shortest() {
		return broken("a number or length is not in its shortest form")
	}
	switch h.major {
	case MajorUint, MajorNegInt:
		return c.integer(h)
	case MajorText:
		_, p := c.text(h)
		return p
	case MajorList:
		return c.list(h)
	case MajorMap:
		return c.pairs(h)
	case majorSimple:
		return c.simple(h)
	}
	return broken("a value is null, a boolean, a number, text, a list or a map")
}

func (c *checker) noHead(h head) *Problem {
	switch {
	case len(c.rest) == 0 || h.info <= infoEight:
		return broken(ruleTruncated)
	case h.info == 31:
		return broken("a length is definite")
	}
	return broken("the initial byte is reserved")
}

func (c *checker) take(h head) { c.rest = c.rest[h.size:] }

func (c *checker) integer(h head) *Problem {
	limit := uint64(MaxInt)
	if h.major == MajorNegInt {
		limit-- // the argument is -1 - n
	}
	if h.arg > limit {
		return broken(ruleInteger)
	}
	c.take(h)
	return nil
}

func (c *checker) text(h head) ([]byte, *Problem) {
	c.take(h)
	if h.arg > uint64(len(c.rest)) {
		return nil, broken(ruleTruncated)
	}
	text := c.rest[:h.arg]
	c.rest = c.rest[h.arg:]
	if !utf8.Valid(text) {
		return nil, broken(ruleUTF8)
	}
	return text, nil
}

func (c *checker) enter(h head) *Problem {
	c.take(h)
	if c.depth == MaxDepth {
		return broken(ruleDepth)
	}
	if h.arg > uint64(len(c.rest)) {
		return broken(ruleTruncated)
	}
	c.depth++
	return nil
}

func (c *checker) list(h head) *Problem {
	if p := c.enter(h); p != nil {
		return p
	}
	for i := range h.arg {
		if p := c.value(); p != nil {
			return p.inItem(i)
		}
	}
	c.depth--
	return nil
}

func (c *checker) pairs(h head) *Problem {
	if p := c.enter(h); p != nil {
		return p
	}
	var last []byte // encoded key before this one
	for range h.arg {
		encoded := c.rest
		k := readHead(c.rest)
		if k.size == 0 {
			return c.noHead(k)
		}
		if k.major != MajorText || !k.shortest() {
			return broken("a map's key is text with its length in shortest form")
		}
		key, p := c.text(k)
		if p != nil {
			return p
		}
		encoded = encoded[:len(encoded)-len(c.rest)]
		switch order := bytes.Compare(last, encoded); {
		case order == 0:
			return broken(ruleDuplicate).inKey(string(key))
		case order > 0:
			return broken("a map's keys are in canonical order").inKey(string(key))
		}
		last = encoded
		if p := c.value(); p != nil {
			return p.inKey(string(key))
		}
	}
	c.depth--
	return nil
}

func (c *checker) simple(h head) *Problem {
	if f, ok := h.float(); ok {
		if p := checkFloat(h, f); p != nil {
			return p
		}
	} else if h.info < simpleFalse || h.info > simpleNull {
		return broken("the only simple values are true, false and null")
	}
	c.take(h)
	return nil
}

func checkFloat(h head, f float64) *Problem {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return broken(ruleFinite)
	}
	if _, ok := integral(f); ok {
		return broken("an integral number is encoded as an integer")
	}
	var scratch [9]byte
	if len(AppendFloat(scratch[:0], f)) != int(h.size) {
		return broken("a number is in its shortest form that is exact")
	}
	return nil
}

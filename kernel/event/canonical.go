package event

import (
	"bytes"
	"encoding/binary"
	"github.com/omnikernel/omnikernel/kernel/value"
	"math"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// canonical reads the bodies of the frequent kinds without reflection. It reads
// canonical bytes only, and not even all of those: what it does not know makes
// it stop, and DecodeBody then asks the general decoder, which alone decides
// what is malformed. Byte strings alias the input.
type canonical struct {
	rest     []byte
	checking bool // texts, lists and maps are read and not built
	stopped  bool

	fields uint64 // still to come in the map that next walks
	last   int    // key of the field before
}

// newCanonical begins a struct: a map whose keys are small integers that ascend.
func newCanonical(b []byte, checking bool) canonical {
	c := canonical{rest: b, checking: checking}
	c.begin()
	return c
}

func (c *canonical) begin() {
	c.fields, c.last = c.head(value.MajorMap), -1
}

// next goes to the next field and gives its key, from 0 to 23.
func (c *canonical) next() (key int, ok bool) {
	if c.fields == 0 || c.stopped {
		return 0, false
	}
	c.fields--
	if len(c.rest) == 0 || int(c.rest[0]) <= c.last || c.rest[0] >= 24 {
		c.stop()
		return 0, false
	}
	c.last = int(c.rest[0])
	c.rest = c.rest[1:]
	return c.last, true
}

// done tells whether all of the input was read.
func (c *canonical) done() bool { return !c.stopped && c.fields == 0 && len(c.rest) == 0 }

func (c *canonical) stop() { c.stopped, c.rest = true, nil }

// head reads an item's first byte and its argument in the shortest form.
func (c *canonical) head(major byte) uint64 {
	if len(c.rest) == 0 || c.rest[0]>>5 != major {
		c.stop()
		return 0
	}
	info := c.rest[0] & 0x1f
	if info < 24 {
		c.rest = c.rest[1:]
		return uint64(info)
	}
	width := 1 << (info - 24)
	if info > 27 || len(c.rest) <= width {
		c.stop()
		return 0
	}
	var wide [8]byte
	copy(wide[8-width:], c.rest[1:1+width])
	c.rest = c.rest[1+width:]
	n := binary.BigEndian.Uint64(wide[:])
	if smallest := [...]uint64{24, 1 << 8, 1 << 16, 1 << 32}[info-24]; n < smallest {
		c.stop()
		return 0
	}
	return n
}

func (c *canonical) take(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.stop()
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

// bytes reads a byte string that is not empty.
func (c *canonical) bytes() []byte {
	b := c.take(c.head(value.MajorBytes))
	if len(b) == 0 {
		c.stop()
	}
	return b
}

func (c *canonical) raw() []byte {
	b := c.take(c.head(value.MajorText))
	if !utf8.Valid(b) {
		c.stop()
		return nil
	}
	return b
}

func (c *canonical) text() string {
	b := c.raw()
	if c.checking {
		return ""
	}
	return string(b)
}

func (c *canonical) uint(most uint64) uint64 {
	n := c.head(value.MajorUint)
	if n > most {
		c.stop()
		return 0
	}
	return n
}

func (c *canonical) uint32() uint32 { return uint32(c.uint(math.MaxUint32)) }

func (c *canonical) int64() int64 { return int64(c.uint(math.MaxInt64)) }

func (c *canonical) bool() bool {
	if len(c.rest) == 0 || c.rest[0]>>1 != 0xf4>>1 {
		c.stop()
		return false
	}
	yes := c.rest[0] == 0xf5
	c.rest = c.rest[1:]
	return yes
}

// most bounds the lists and maps that are read here; the general decoder allows
// more.
const most = 256

// count reads the head of a list or map that has one to most members.
func (c *canonical) count(major byte) int {
	n := c.head(major)
	if n == 0 || n > most {
		c.stop()
		return 0
	}
	return int(n)
}

// pairs reads a map of texts with its keys in canonical order.
func (c *canonical) pairs() map[string]string {
	n := c.count(value.MajorMap)
	var pairs map[string]string
	if !c.checking {
		pairs = make(map[string]string, min(n, 16))
	}
	var before []byte
	for i := range n {
		key := c.raw()
		if i > 0 && !canonicallyBefore(before, key) {
			c.stop()
		}
		text := c.raw()
		if c.stopped {
			return nil
		}
		if !c.checking {
			pairs[string(key)] = string(text)
		}
		before = key
	}
	return pairs
}

// canonicallyBefore is the order of texts as keys: shorter ones first, then
// bytewise (RFC 8949 section 4.2.1).
func canonicallyBefore(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}

func (c *canonical) grants() []permissions.Grant {
	n := c.count(value.MajorList)
	var grants []permissions.Grant
	if !c.checking {
		grants = make([]permissions.Grant, 0, min(n, 16))
	}
	fields, last := c.fields, c.last // of the map around
	for range n {
		grant := c.grant()
		if c.stopped {
			return nil
		}
		if !c.checking {
			grants = append(grants, grant)
		}
	}
	c.fields, c.last = fields, last
	return grants
}

func (c *canonical) grant() (g permissions.Grant) {
	c.begin()
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			g.Effect = permissions.Effect(c.uint(math.MaxUint8))
		case 2:
			g.Action = c.text()
		case 3:
			g.Resource = c.text()
		case 4:
			g.NotAfterMillis = c.int64()
		default:
			c.stop()
		}
	}
	return g
}

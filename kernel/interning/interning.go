package interning

import (
	"bytes"
	"cmp"
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// Class says what a body is. Numbers are part of the log format.
type Class uint8

// The classes of interned bodies.
const (
	Program Class = iota + 1
	Grants
	Labels
	Env
	Input // a JSON Schema
)

// Digest names a body: SHA-256 over its class and its bytes.
type Digest [sha256.Size]byte

// Compare orders digests bytewise.
func (d Digest) Compare(other Digest) int { return bytes.Compare(d[:], other[:]) }

// DigestOf computes the name of a body.
func DigestOf(class Class, body []byte) Digest {
	h := sha256.New()
	h.Write([]byte{byte(class)})
	h.Write(body)
	var d Digest
	h.Sum(d[:0])
	return d
}

// Entry is one interned body. It is immutable: how many use it is kept beside.
type Entry struct {
	No     uint32
	Class  Class
	Digest Digest
	Body   []byte
	Block  uint64 // pointer to the log's block that holds it (position + 1)
}

// Tables is the module's state.
type Tables struct {
	Next     uint32 // the next number
	Bytes    uint64 // sum of the bodies' lengths
	byNo     table.Sorted[number, counted]
	byDigest table.Sorted[Digest, *Entry]
}

type number uint32

// Compare orders numbers.
func (n number) Compare(other number) int { return cmp.Compare(n, other) }

type counted struct {
	*Entry
	users uint32
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{Next: t.Next, Bytes: t.Bytes, byNo: t.byNo.Publish(), byDigest: t.byDigest.Publish()}
}

// Get finds an entry by its number; nil for 0 or an unknown number.
func (t *Tables) Get(no uint32) *Entry {
	e, _ := t.byNo.Get(number(no))
	return e.Entry
}

// Users is how often an entry is used; 0 for an unknown number.
func (t *Tables) Users(no uint32) uint32 {
	e, _ := t.byNo.Get(number(no))
	return e.users
}

// Body of an entry; nil for 0.
func (t *Tables) Body(no uint32) []byte {
	if e := t.Get(no); e != nil {
		return e.Body
	}
	return nil
}

// Find looks a body up by digest.
func (t *Tables) Find(d Digest) (*Entry, bool) { return t.byDigest.Get(d) }

// All yields the entries in order of their numbers, with their users.
func (t *Tables) All(yield func(e *Entry, users uint32) bool) {
	t.byNo.All(func(_ number, e counted) bool { return yield(e.Entry, e.users) })
}

// Load puts an entry back from a snapshot.
func (t *Tables) Load(e *Entry, users uint32) {
	t.byNo.Set(number(e.No), counted{e, users})
	t.byDigest.Set(e.Digest, e)
	t.Bytes += uint64(len(e.Body))
}

// Gained is the body of an Interned record: a user was added to each listed
// entry. Body is present where the entry is new.
type Gained struct {
	Entries []GainedEntry
}

// GainedEntry is one line of Gained. A body is in the log once, and whoever
// uses it later says where: so the history of one agent can be read without
// reading the log.
type GainedEntry struct {
	No    uint32
	Class Class
	New   bool
	Body  []byte // of a new one
	Block uint64 // of any other: pointer to the block that holds the body
}

// AppendTo writes the body's log form.
func (g *Gained) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(len(g.Entries)))
	for _, e := range g.Entries {
		dst = bus.AppendUint(dst, uint64(e.No))
		dst = append(dst, byte(e.Class))
		dst = bus.AppendBool(dst, e.New)
		if e.New {
			dst = bus.AppendText(dst, e.Body)
		} else {
			dst = bus.AppendUint(dst, e.Block)
		}
	}
	return dst
}

// DecodeGained reads the body of an Interned record.
func DecodeGained(b []byte) (*Gained, bool) {
	d := bus.NewDecoder(b)
	n := d.Uint()
	if n > d.Left() {
		return nil, false
	}
	g := &Gained{Entries: make([]GainedEntry, 0, n)}
	for range n {
		e := GainedEntry{No: d.Uint32(), Class: Class(d.Byte()), New: d.Bool()}
		if e.New {
			e.Body = d.Bytes()
		} else {
			e.Block = d.Uint()
		}
		g.Entries = append(g.Entries, e)
	}
	return g, d.Done()
}

// ApplyGained takes an Interned record in, which stands in the block that here
// points to.
func (t *Tables) ApplyGained(g *Gained, here uint64) {
	for _, e := range g.Entries {
		if e.New {
			body := bytes.Clone(e.Body)
			t.Load(&Entry{No: e.No, Class: e.Class, Digest: DigestOf(e.Class, body), Body: body, Block: here}, 1)
			t.Next = max(t.Next, e.No)
			continue
		}
		known, _ := t.byNo.Get(number(e.No))
		known.users++
		t.byNo.Set(number(e.No), known)
	}
}

// Lost is the body of a Released record: one user less for each number.
type Lost struct {
	Numbers []uint32
}

// AppendTo writes the body's log form.
func (l *Lost) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(len(l.Numbers)))
	for _, no := range l.Numbers {
		dst = bus.AppendUint(dst, uint64(no))
	}
	return dst
}

// DecodeLost reads the body of a Released record.
func DecodeLost(b []byte) (*Lost, bool) {
	d := bus.NewDecoder(b)
	n := d.Uint()
	if n > d.Left() {
		return nil, false
	}
	l := &Lost{Numbers: make([]uint32, 0, n)}
	for range n {
		l.Numbers = append(l.Numbers, d.Uint32())
	}
	return l, d.Done()
}

// ApplyLost takes a Released record in.
func (t *Tables) ApplyLost(l *Lost) {
	for _, no := range l.Numbers {
		e, _ := t.byNo.Get(number(no))
		if e.users > 1 {
			e.users--
			t.byNo.Set(number(no), e)
			continue
		}
		t.byNo.Delete(number(no))
		t.byDigest.Delete(e.Digest)
		t.Bytes -= uint64(len(e.Body))
	}
}

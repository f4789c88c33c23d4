package interning

import (
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/tidwall/btree"
)

// Class says what a body is. Numbers are part of the log format.
type Class uint8

// The classes of interned bodies.
const (
	Program Class = iota + 1
	Grants
	Labels
	Env
)

// Digest names a body: SHA-256 over its class and its bytes.
type Digest [sha256.Size]byte

// DigestOf computes the name of a body.
func DigestOf(class Class, body []byte) Digest {
	h := sha256.New()
	h.Write([]byte{byte(class)})
	h.Write(body)
	return Digest(h.Sum(nil))
}

// Entry is one interned body. It is immutable but for Users, which the table
// replaces together with the entry.
type Entry struct {
	_      struct{} `cbor:",toarray"`
	No     uint32
	Class  Class
	Users  uint32
	Digest Digest
	Body   []byte
}

// Tables is the module's state.
type Tables struct {
	Next     uint32 // the next number
	Bytes    uint64 // sum of the bodies' lengths
	byNo     btree.Map[uint32, *Entry]
	byDigest btree.Map[string, uint32]
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{Next: t.Next, Bytes: t.Bytes, byNo: *t.byNo.Copy(), byDigest: *t.byDigest.Copy()}
}

// Get finds an entry by its number; nil for 0 or an unknown number.
func (t *Tables) Get(no uint32) *Entry {
	e, _ := t.byNo.Get(no)
	return e
}

// Body of an entry; nil for 0.
func (t *Tables) Body(no uint32) []byte {
	if e := t.Get(no); e != nil {
		return e.Body
	}
	return nil
}

// Find looks a body up by digest.
func (t *Tables) Find(d Digest) (*Entry, bool) {
	no, ok := t.byDigest.Get(string(d[:]))
	if !ok {
		return nil, false
	}
	return t.Get(no), true
}

// All yields the entries in order of their numbers.
func (t *Tables) All(yield func(*Entry) bool) {
	t.byNo.Scan(func(_ uint32, e *Entry) bool { return yield(e) })
}

// Load puts an entry back from a snapshot.
func (t *Tables) Load(e *Entry) {
	t.byNo.Set(e.No, e)
	t.byDigest.Set(string(e.Digest[:]), e.No)
	t.Bytes += uint64(len(e.Body))
}

// Gained is the body of an Interned record: a user was added to each listed
// entry. Body is present where the entry is new.
type Gained struct {
	Entries []GainedEntry
}

// GainedEntry is one line of Gained.
type GainedEntry struct {
	No    uint32
	Class Class
	New   bool
	Body  []byte
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
		}
		g.Entries = append(g.Entries, e)
	}
	return g, d.Done()
}

// ApplyGained takes an Interned record in.
func (t *Tables) ApplyGained(g *Gained) {
	for _, e := range g.Entries {
		if e.New {
			body := append([]byte(nil), e.Body...)
			digest := DigestOf(e.Class, body)
			t.byNo.Set(e.No, &Entry{No: e.No, Class: e.Class, Users: 1, Digest: digest, Body: body})
			t.byDigest.Set(string(digest[:]), e.No)
			t.Bytes += uint64(len(body))
			t.Next = max(t.Next, e.No)
			continue
		}
		dup := *t.Get(e.No)
		dup.Users++
		t.byNo.Set(e.No, &dup)
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
		e := t.Get(no)
		if e.Users > 1 {
			dup := *e
			dup.Users--
			t.byNo.Set(no, &dup)
			continue
		}
		t.byNo.Delete(no)
		t.byDigest.Delete(string(e.Digest[:]))
		t.Bytes -= uint64(len(e.Body))
	}
}

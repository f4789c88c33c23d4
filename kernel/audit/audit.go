package audit

import "github.com/omnikernel/omnikernel/kernel/bus"

// Kept is how many entries the state holds.
const Kept = 256

// Entry is one breach.
type Entry struct {
	_         struct{} `cbor:",toarray"`
	Seq       uint64   // busSeq of its record
	Index     uint64   // Raft index of its event
	At        int64    // kernel clock, Unix milliseconds
	Agent     uint32   // whose account it was on
	Root      uint32   // the root of its tree, to whom it is escalated
	Tick      uint64
	Invariant string // INV-03 …
	Kind      uint16 // the kind of record that would have broken it
	Rule      string // one of our sentences
}

// Tables is the module's state: the newest entries, oldest first, and how many
// there have been.
type Tables struct {
	Count   uint64
	entries []Entry
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables { return *t }

// All yields the kept entries, oldest first.
func (t *Tables) All(yield func(*Entry) bool) {
	for i := range t.entries {
		if !yield(&t.entries[i]) {
			return
		}
	}
}

// Load puts an entry back from a snapshot.
func (t *Tables) Load(e Entry) { t.entries = append(t.entries, e) }

// Body is the body of Audit.
type Body struct {
	Root      uint32
	Invariant string
	Kind      uint16
	Rule      string
}

// AppendTo writes the body's log form.
func (b *Body) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Root))
	dst = bus.AppendText(dst, b.Invariant)
	dst = bus.AppendUint(dst, uint64(b.Kind))
	return bus.AppendText(dst, b.Rule)
}

// Decode reads the body of Audit.
func Decode(raw []byte) (*Body, bool) {
	d := bus.NewDecoder(raw)
	b := &Body{Root: d.Uint32(), Invariant: d.Text()}
	kind := d.Uint32()
	b.Kind, b.Rule = uint16(kind), d.Text()
	return b, d.Done() && kind <= 1<<16-1
}

// Apply adds an entry.
func (t *Tables) Apply(at bus.At, agent uint32, tick uint64, b *Body) {
	kept := t.entries
	if len(kept) >= Kept {
		kept = kept[1:]
	}
	// A published copy shares the array: it grows, or is copied, never written.
	t.entries = append(kept[:len(kept):len(kept)], Entry{
		Seq: at.Seq, Index: at.Index, At: at.Now, Agent: agent, Root: b.Root, Tick: tick,
		Invariant: b.Invariant, Kind: b.Kind, Rule: b.Rule,
	})
	t.Count++
}

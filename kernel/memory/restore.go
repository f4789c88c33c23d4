package memory

import "github.com/omnikernel/omnikernel/kernel/bus"

// Restored is the body of a MemoryRestored record: recovery put the agent's
// persistent memory back (FA-1).
type Restored struct{ Entries []Before }

// AppendTo writes the body's log form.
func (b *Restored) AppendTo(dst []byte) []byte { return appendBefore(dst, b.Entries) }

// DecodeRestored reads the body of a MemoryRestored record.
func DecodeRestored(raw []byte) (*Restored, bool) {
	d := bus.NewDecoder(raw)
	entries, ok := decodeBefore(d, MaxUndo)
	return &Restored{Entries: entries}, ok && d.Done()
}

func appendBefore(dst []byte, entries []Before) []byte {
	dst = bus.AppendUint(dst, uint64(len(entries)))
	for i := range entries {
		e := &entries[i]
		dst = bus.AppendText(dst, e.Key)
		dst = bus.AppendBool(dst, e.Existed)
		if !e.Existed {
			continue
		}
		dst = bus.AppendText(dst, e.Value)
		dst = bus.AppendUint(dst, e.Version)
		dst = bus.AppendUint(dst, uint64(e.Writer))
		dst = bus.AppendInt(dst, e.At)
	}
	return dst
}

func decodeBefore(d *bus.Decoder, most uint64) ([]Before, bool) {
	n := d.Uint()
	if n > most || n > d.Left() {
		return nil, false
	}
	entries := make([]Before, n)
	for i := range entries {
		e := &entries[i]
		e.Key, e.Existed = d.Text(), d.Bool()
		if e.Existed {
			e.Value, e.Version, e.Writer, e.At = d.Bytes(), d.Uint(), d.Uint32(), d.Int()
		}
	}
	return entries, true
}

// ApplyRestored puts the agent's memory back: values, versions, counts.
func (t *Tables) ApplyRestored(row *Row, agent uint32, b *Restored) {
	for i := range b.Entries {
		e := &b.Entries[i]
		if !e.Existed {
			row.count(t.drop(agent, "", e.Key), nil)
			continue
		}
		now := &Entry{Agent: agent, Key: e.Key, Value: own(e.Value), Version: e.Version, Writer: e.Writer, At: e.At}
		row.count(t.put(now), now)
	}
	row.Undo = nil
}

// Released is the body of a MemoryReleased record: an archived agent's
// persistent memory is dropped, all of it.
type Released struct {
	Keys  uint32 // how much that was
	Bytes uint64
}

// AppendTo writes the body's log form.
func (b *Released) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, uint64(b.Keys)), b.Bytes)
}

// DecodeReleased reads the body of a MemoryReleased record.
func DecodeReleased(raw []byte) (*Released, bool) {
	d := bus.NewDecoder(raw)
	b := &Released{Keys: d.Uint32(), Bytes: d.Uint()}
	return b, d.Done()
}

// ApplyReleased drops what the agent has.
func (t *Tables) ApplyReleased(row *Row, agent uint32) {
	*row = Row{}
	var next *Entry
	find := func(c place, e *Entry) bool {
		if c.agent == agent {
			next = e
		}
		return false
	}
	for agent != 0 { // what agent 0 has is everybody's
		next = nil
		if t.entries.From(place{agent: agent}, find); next == nil {
			return
		}
		t.drop(agent, "", next.Key)
	}
}

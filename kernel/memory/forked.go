package memory

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Forked is the body of a MemoryForked record: the persistent memory that a new
// agent begins with, as another had it (LO-13). The record's tick is the one
// whose run wrote what Undo would put back.
type Forked struct {
	Entries []Before // each of them existed
	Run     uint32   // that wrote over what Undo has
	Undo    []Before // at most MaxUndo
}

// AppendTo writes the body's log form.
func (b *Forked) AppendTo(dst []byte) []byte {
	dst = appendBefore(dst, b.Entries)
	dst = bus.AppendUint(dst, uint64(b.Run))
	return appendBefore(dst, b.Undo)
}

// DecodeForked reads the body of a MemoryForked record.
func DecodeForked(raw []byte) (*Forked, bool) {
	d := bus.NewDecoder(raw)
	b := &Forked{}
	var whole bool
	if b.Entries, whole = decodeBefore(d, d.Left()); !whole {
		return nil, false
	}
	for i := range b.Entries {
		if !b.Entries[i].Existed {
			return nil, false
		}
	}
	b.Run = d.Uint32()
	if b.Undo, whole = decodeBefore(d, MaxUndo); !whole {
		return nil, false
	}
	return b, d.Done()
}

// CheckForked says why an agent cannot begin with that memory; nil when it can.
func (t *Tables) CheckForked(b *Forked, l *Limits) *failure.Failure {
	var bytes uint64
	for i := range b.Entries {
		bytes += size("", b.Entries[i].Key, b.Entries[i].Value)
	}
	switch {
	case uint64(len(b.Entries)) > uint64(l.MaxKeys):
		return full("the agent's memory has as many keys as it may")
	case bytes > l.MaxBytes:
		return full("the agent's memory is as large as it may be")
	case t.PersistentBytes+bytes > l.MaxPersistentBytes:
		return full("all persistent memories together are as large as they may be")
	case len(b.Undo) > MaxUndo:
		return full("the tick has written as many keys as it may between two requests")
	}
	return nil
}

// ApplyForked fills a new agent's memory.
func (t *Tables) ApplyForked(row *Row, agent uint32, tick uint64, b *Forked) {
	for i := range b.Entries {
		e := &b.Entries[i]
		now := &Entry{Agent: agent, Key: e.Key, Value: own(e.Value), Version: e.Version, Writer: e.Writer, At: e.At}
		row.count(t.put(now), now)
	}
	if len(b.Undo) == 0 {
		return
	}
	row.Undo = &Undo{Tick: tick, Run: b.Run, Entries: make([]Before, len(b.Undo))}
	for i, e := range b.Undo {
		e.Value = own(e.Value)
		row.Undo.Entries[i] = e
	}
}

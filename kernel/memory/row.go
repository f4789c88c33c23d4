package memory

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// MaxUndo bounds how many keys one run of a tick may write: what recovery would
// have to put back. A program's write is a run of its own.
const MaxUndo = 16

// Row is the module's part of an agent's row. What its pointers lead to is never
// changed in place: published copies share it.
type Row struct {
	_        struct{}  `cbor:",toarray"`
	Keys     uint32    // in the agent's persistent memory
	Bytes    uint64    // … of keys and values
	Undo     *Undo     // nil when the tick in progress has written nothing
	Snapshot *Snapshot // nil while the agent is not suspended
}

// Undo is what recovery puts back (FA-1): what one run of a tick has written
// over. A run is the part of a tick between two exits.
type Undo struct {
	_       struct{} `cbor:",toarray"`
	Tick    uint64   // tickSeq
	Run     uint32
	Entries []Before // at most MaxUndo, one for each key, in order of first writing
}

// Before is what was under a key before a run wrote it.
type Before struct {
	_       struct{} `cbor:",toarray"`
	Key     string
	Existed bool // the rest is zero when it did not
	Value   value.Raw
	Version uint64
	Writer  uint32
	At      int64 // kernel clock when it was written, Unix milliseconds
}

// Snapshot says what an agent's memory was when it was suspended (ME-3). The
// memory itself stays where it is: nobody writes it while its agent is away.
type Snapshot struct {
	_        struct{} `cbor:",toarray"`
	Tick     uint64   // tickSeq: with the agent, the snapshot's key
	Checksum [32]byte // what Tables.Checksum gave
	Seq      uint64   // busSeq of the record that wrote it
}

// PutBack lists what a recovery restores that goes back to the exit with which
// the given run of the tick ended: nothing, if the last writes belong to
// another run. The list is not to be changed.
func (r *Row) PutBack(tick uint64, run uint32) []Before {
	if r.Undo.of(tick, run) {
		return r.Undo.Entries
	}
	return nil
}

// ApplyTickOver lets go of what no recovery needs any more: the tick completed,
// or its agent has terminated.
func (r *Row) ApplyTickOver() { r.Undo = nil }

func (u *Undo) of(tick uint64, run uint32) bool { return u != nil && u.Tick == tick && u.Run == run }

func (u *Undo) has(key string) bool {
	return slices.ContainsFunc(u.Entries, func(b Before) bool { return b.Key == key })
}

// full reports whether the run may write no further key.
func (r *Row) full(tick uint64, run uint32, key string) bool {
	return r.Undo.of(tick, run) && len(r.Undo.Entries) >= MaxUndo && !r.Undo.has(key)
}

// remember keeps what is about to be written over, unless the run wrote the key
// before: what counts is the first time. Another run starts the list afresh.
func (r *Row) remember(tick uint64, run uint32, key string, was *Entry) {
	var entries []Before
	if r.Undo.of(tick, run) {
		if r.Undo.has(key) || len(r.Undo.Entries) >= MaxUndo {
			return
		}
		entries = r.Undo.Entries
	}
	before := Before{Key: key}
	if was != nil {
		before = Before{Key: key, Existed: true, Value: was.Value, Version: was.Version, Writer: was.Writer, At: was.At}
	}
	r.Undo = &Undo{Tick: tick, Run: run, Entries: append(slices.Clip(entries), before)}
}

// count takes a replacement into the row's numbers; nil is no entry.
func (r *Row) count(before, now *Entry) {
	if before != nil {
		r.Keys--
		r.Bytes -= before.bytes()
	}
	if now != nil {
		r.Keys++
		r.Bytes += now.bytes()
	}
}

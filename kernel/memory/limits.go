package memory

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Limits of the memories. Bytes are those of namespaces, keys and values.
type Limits struct {
	MaxKeys            uint32 // in one agent's persistent memory
	MaxBytes           uint64 // … and how large it may be
	MaxPersistentBytes uint64 // over all agents
	MaxSharedKeys      uint64
	MaxSharedBytes     uint64
}

// CheckWrite says why a write or a delete of the tick cannot be done; nil when
// it can. expected is the version that must be there, 0 for none; nil expects
// nothing (compare-and-set, ME-1). row is that of the access's Owner, nil for
// shared memory.
//
// A full memory refuses what would make it larger and takes everything else, so
// that whoever has met the limit can still get below it.
func (t *Tables) CheckWrite(row *Row, tick uint64, a *Access, expected *uint64, l *Limits) *failure.Failure {
	before := t.at(a.Owner, a.Namespace, a.Key)
	if expected != nil {
		if f := compare(before, *expected); f != nil {
			return f
		}
	}
	if a.Scope == ScopePersistent && row.full(tick, a.Run, a.Key) {
		return full("the tick has written as many keys as it may between two requests")
	}
	if a.Op != OpWrite {
		return nil
	}
	var was uint64
	if before != nil {
		was = before.bytes()
	}
	is := size(a.Namespace, a.Key, a.Value)
	if is <= was {
		return nil
	}
	if a.Scope == ScopeShared {
		switch {
		case before == nil && t.SharedKeys >= l.MaxSharedKeys:
			return full("shared memory has as many keys as it may")
		case t.SharedBytes-was+is > l.MaxSharedBytes:
			return full("shared memory is as large as it may be")
		}
		return nil
	}
	switch {
	case before == nil && row.Keys >= l.MaxKeys:
		return full("the agent's memory has as many keys as it may")
	case row.Bytes-was+is > l.MaxBytes:
		return full("the agent's memory is as large as it may be")
	case t.PersistentBytes-was+is > l.MaxPersistentBytes:
		return full("the agents' memories together are as large as they may be")
	}
	return nil
}

func compare(before *Entry, expected uint64) *failure.Failure {
	switch {
	case before == nil && expected != 0:
		return &failure.Failure{Code: failure.VersionConflict, Message: "the key does not exist: its version is 0"}
	case before != nil && before.Version != expected:
		return &failure.Failure{Code: failure.VersionConflict, Message: "the key has version " + strconv.FormatUint(before.Version, 10)}
	}
	return nil
}

func full(message string) *failure.Failure {
	return &failure.Failure{Code: failure.MemoryFull, Message: message}
}

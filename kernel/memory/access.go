package memory

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Op is what an access does. Numbers are part of the log format.
type Op uint8

// The operations.
const (
	OpRead Op = iota + 1
	OpWrite
	OpDelete
	OpList
)

var opNames = [...]string{OpRead: "read", OpWrite: "write", OpDelete: "delete", OpList: "list"}

// String names the operation as the tools do.
func (o Op) String() string {
	if o >= OpRead && o <= OpList {
		return opNames[o]
	}
	return "unknown"
}

// MarshalText gives the operation its name in JSON.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Scope is which memory an access concerns. Numbers are part of the log format.
type Scope uint8

// The scopes. Ephemeral memory is not asked for: it is the tick's own.
const (
	ScopePersistent Scope = iota + 1
	ScopeShared
)

// String names the scope as the specification does.
func (s Scope) String() string {
	switch s {
	case ScopePersistent:
		return "PERSISTENT"
	case ScopeShared:
		return "SHARED"
	}
	return "UNKNOWN"
}

// MarshalText gives the scope its name in JSON.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Access is the body of a MemoryAccess record, the specification's
// MemoryAccessEvent: one access, of either scope. The record's agent is who
// asked, its tick the tick that did.
type Access struct {
	Op        Op
	Scope     Scope
	Owner     uint32 // whose persistent memory; 0 for shared memory
	Namespace string // of shared memory
	Key       string // of OpList: the prefix
	Found     bool   // something was there
	Version   uint64 // … with this version; 0 for nothing
	Value     value.Raw
	Call      uint32 // callIndex
	Run       uint32 // the run of the tick that ended with the request, from 1
}

// Changes reports whether the access changes a table, and with it the row of
// its Owner if it has one.
func (a *Access) Changes() bool { return a.Op == OpWrite || a.Op == OpDelete }

// AppendTo writes the body's log form. The value follows a write only.
func (a *Access) AppendTo(dst []byte) []byte {
	dst = append(dst, byte(a.Op), byte(a.Scope))
	if a.Scope == ScopePersistent {
		dst = bus.AppendUint(dst, uint64(a.Owner))
	} else {
		dst = bus.AppendText(dst, a.Namespace)
	}
	dst = bus.AppendText(dst, a.Key)
	dst = bus.AppendBool(dst, a.Found)
	dst = bus.AppendUint(dst, a.Version)
	dst = bus.AppendUint(dst, uint64(a.Call))
	dst = bus.AppendUint(dst, uint64(a.Run))
	if a.Op == OpWrite {
		dst = bus.AppendText(dst, a.Value)
	}
	return dst
}

// DecodeAccess reads the body of a MemoryAccess record.
func DecodeAccess(raw []byte) (*Access, bool) {
	d := bus.NewDecoder(raw)
	a := &Access{Op: Op(d.Byte()), Scope: Scope(d.Byte())}
	named := true
	switch a.Scope {
	case ScopePersistent:
		a.Owner = d.Uint32()
		named = a.Owner != 0
	case ScopeShared:
		a.Namespace = d.Text()
	default:
		return nil, false
	}
	a.Key, a.Found, a.Version, a.Call, a.Run = d.Text(), d.Bool(), d.Uint(), d.Uint32(), d.Uint32()
	if a.Op == OpWrite {
		a.Value = d.Bytes()
	}
	return a, d.Done() && named && a.Op >= OpRead && a.Op <= OpList
}

// Look finds what the access is about, and notes in it what was found; nil when
// there is nothing. A listing is about no one key.
func (t *Tables) Look(a *Access) *Entry {
	a.Found, a.Version = false, 0
	if a.Op == OpList {
		return nil
	}
	e := t.at(a.Owner, a.Namespace, a.Key)
	if e != nil {
		a.Found, a.Version = true, e.Version
	}
	return e
}

// ApplyAccess takes a MemoryAccess record of the agent and tick in. row is that
// of the access's Owner; it may be nil where the access changes no agent's
// memory.
func (t *Tables) ApplyAccess(row *Row, agent uint32, tick uint64, at bus.At, a *Access) {
	persistent := a.Scope == ScopePersistent
	if !a.Changes() || persistent && row == nil {
		return
	}
	var before, now *Entry
	if a.Op == OpWrite {
		now = &Entry{
			Agent: a.Owner, Namespace: a.Namespace, Key: a.Key, Value: own(a.Value),
			Version: at.Seq, Writer: agent, At: at.Now,
		}
		before = t.put(now)
	} else if before = t.drop(a.Owner, a.Namespace, a.Key); before == nil {
		return
	}
	if persistent {
		row.count(before, now)
		row.remember(tick, a.Run, a.Key, before)
	}
}

// own copies bytes that would otherwise keep a whole log entry in memory.
func own(b value.Raw) value.Raw {
	if b == nil {
		return nil
	}
	return append(make(value.Raw, 0, len(b)), b...)
}

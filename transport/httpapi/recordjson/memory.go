package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/recovery"
)

// ofMemory renders the bodies of memory and mailboxes.
func (v *view) ofMemory(r *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *memory.Access:
		return v.access(r, b)
	case *memory.Restored:
		return fields{"entries": v.entries(b.Entries)}
	case *memory.Forked:
		f := fields{"entries": v.entries(b.Entries)}
		if len(b.Undo) > 0 {
			f["run"], f["undo"] = b.Run, v.entries(b.Undo)
		}
		return f
	case *memory.Released:
		return fields{"keys": b.Keys, "bytes": b.Bytes}
	case *memory.Snapshotted:
		return fields{"tick": b.Tick, "checksum": hex.EncodeToString(b.Checksum[:])}
	case *mailbox.Message:
		return fields{"message": b.Value}
	case *mailbox.Receive:
		return set(fields{"call": b.Call}, "limited", b.Limited)
	}
	return nil
}

// entries renders what memory has, or had, under keys.
func (v *view) entries(list []memory.Before) []fields {
	entries := make([]fields, len(list))
	for i := range list {
		e := &list[i]
		entries[i] = fields{"key": e.Key, "existed": e.Existed}
		if e.Existed {
			entries[i]["value"], entries[i]["version"], entries[i]["at_ms"] = e.Value, e.Version, e.At
			set(entries[i], "writer_id", v.agentID(e.Writer))
		}
	}
	return entries
}

// access renders the specification's MemoryAccessEvent. What an operator wrote
// has no call.
func (v *view) access(r *logging.Record, b *memory.Access) fields {
	f := fields{"op": b.Op, "scope": b.Scope, "key": b.Key}
	if b.Op != memory.OpList {
		f["found"], f["version"] = b.Found, b.Version
	}
	if b.Op == memory.OpWrite {
		f["value"] = b.Value
	}
	set(set(f, "namespace", b.Namespace), "owner_id", v.agentID(b.Owner))
	set(set(f, "call", b.Call), "run", b.Run)
	if r.Agent == 0 {
		f["tx_id"] = flows.FormatID(flows.TxID(identity.ID{}, r.Seq, 0))
	} else if id, known := v.id(r.Agent); known {
		f["tx_id"] = flows.FormatID(flows.TxID(id, r.Tick, b.Call))
	}
	return f
}

// ofFault renders retries, and breaches of invariants.
func (v *view) ofFault(_ *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *recovery.Scheduled:
		return fields{"retry": b.Retry, "backoff_ms": b.Millis}
	case *audit.Body:
		f := fields{"invariant": b.Invariant, "kind": kernel.KindName(bus.Kind(b.Kind)), "rule": b.Rule}
		return set(f, "root_id", v.agentID(b.Root))
	}
	return nil
}

package flows

import (
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func (v View) memoryLimits() *memory.Limits {
	return &memory.Limits{
		MaxKeys: v.Config.MaxMemoryKeys, MaxBytes: v.Config.MaxMemoryBytes,
		MaxPersistentBytes: v.Config.MaxPersistentBytes,
		MaxSharedKeys:      uint64(v.Config.MaxSharedKeys), MaxSharedBytes: v.Config.MaxSharedBytes,
	}
}

// memoryTool answers memory.* and shared.* inside Apply (ME-2). The record of
// the access comes before its answer, and before any table changes (ME-1).
func (g *gate) memoryTool(j *judgement) {
	request := &j.memory
	access := &memory.Access{
		Op: request.Op, Scope: request.Scope, Namespace: request.Namespace, Key: request.Key, Value: request.Value,
		Call: j.call, Run: g.t.Row.Execution.Current.Runs,
	}
	var row *memory.Row
	if request.Scope == memory.ScopePersistent {
		access.Owner, row = g.t.No, &g.t.Row.Memory
		if request.Parent {
			access.Owner, row = g.t.Row.Delegation.Parent, nil
		}
		if access.Owner == 0 {
			g.refuse(j.call, j.request.Tool, &failure.Failure{Code: failure.ToolArgsInvalid, Message: "the agent has no parent"})
			return
		}
	}
	if access.Op == memory.OpList {
		g.list(j, access, request)
		return
	}
	found := g.v.Memory.Look(access)
	if access.Changes() {
		if f := g.v.Memory.CheckWrite(row, g.tick, access, request.Version, g.v.memoryLimits()); f != nil {
			g.refuse(j.call, j.request.Tool, f)
			return
		}
	}
	version := g.v.Seq + uint64(g.out.Len()) // the busSeq that the record will get
	g.add(bus.MemoryAccess, access)
	switch access.Op {
	case memory.OpRead:
		g.succeed(j.call, j.request.Tool, readAnswer(found))
	case memory.OpWrite:
		g.succeed(j.call, j.request.Tool, versionAnswer(version))
	default:
		g.succeed(j.call, j.request.Tool, value.AppendBool(value.AppendString(value.AppendMapHeader(nil, 1), "deleted"), found != nil))
	}
}

// readAnswer is {found, value, version}, keys in canonical order.
func readAnswer(e *memory.Entry) value.Raw {
	raw := value.AppendMapHeader(nil, 3)
	raw = value.AppendBool(value.AppendString(raw, "found"), e != nil)
	raw = value.AppendString(raw, "value")
	if e == nil {
		raw = value.AppendNull(raw)
	} else {
		raw = append(raw, e.Value...)
	}
	raw = value.AppendString(raw, "version")
	if e == nil {
		return value.AppendInt(raw, 0)
	}
	return value.AppendInt(raw, int64(e.Version))
}

func versionAnswer(version uint64) value.Raw {
	return value.AppendInt(value.AppendString(value.AppendMapHeader(nil, 1), "version"), int64(version))
}

// list answers {keys: [{key, version}], more}: as many as fit the bound on values.
func (g *gate) list(j *judgement, access *memory.Access, request *memory.Request) {
	prefix := request.Key
	if prefix != "" {
		prefix += "/"
	}
	after := request.After
	var items value.Raw
	var n uint64
	cut := false
	yield := func(e *memory.Entry) bool {
		if uint32(len(items)+len(e.Key)+64) > g.v.Config.MaxValueBytes {
			cut = true
			return false
		}
		items = value.AppendMapHeader(items, 2)
		items = value.AppendString(value.AppendString(items, "key"), e.Key)
		items = value.AppendInt(value.AppendString(items, "version"), int64(e.Version))
		n++
		return true
	}
	var more bool
	if access.Scope == memory.ScopeShared {
		more = g.v.Memory.ListShared(access.Namespace, prefix, after, request.Limit, yield)
	} else {
		more = g.v.Memory.List(access.Owner, prefix, after, request.Limit, yield)
	}
	g.add(bus.MemoryAccess, access)
	raw := value.AppendMapHeader(nil, 2)
	raw = value.AppendListHeader(value.AppendString(raw, "keys"), n)
	raw = append(raw, items...)
	raw = value.AppendBool(value.AppendString(raw, "more"), more || cut)
	g.succeed(j.call, j.request.Tool, raw)
}

// restoreMemory puts persistent memory back to what it was at the recovery
// checkpoint (FA-1). Shared memory stays: others have seen it.
func (v View) restoreMemory(t Target, tick *execution.Tick, out *bus.Batch) {
	if entries := t.Row.Memory.PutBack(tick.Seq, tick.Exit); len(entries) > 0 {
		out.Add(bus.Record{Kind: bus.MemoryRestored, Agent: t.No, Tick: tick.Seq, Body: &memory.Restored{Entries: entries}})
	}
}

// takeSnapshot writes the snapshot of (agent, tickSeq): a checksum over the
// agent's memory and its frozen tick, which nobody changes while it is
// RESUMABLE (ME-3).
func (v View) takeSnapshot(t Target, out *bus.Batch) {
	out.Add(bus.Record{Kind: bus.SnapshotTaken, Agent: t.No, Tick: t.Row.Execution.LastTick, Body: &memory.Snapshotted{
		Tick: t.Row.Execution.LastTick, Checksum: v.checksum(t),
	}})
}

// verifySnapshot stops the node when what it holds is not what was suspended:
// that is damage of this replica, not of the agent (ME-3).
func (v View) verifySnapshot(t Target, out *bus.Batch) {
	snapshot := t.Row.Memory.Snapshot
	if snapshot == nil {
		return
	}
	if snapshot.Checksum != v.checksum(t) {
		panic("flows: the snapshot of agent " + FormatID(t.Row.Identity.ID) + " does not have the checksum of its suspension: this replica's state is damaged; seed the node again")
	}
	out.Add(bus.Record{Kind: bus.SnapshotDropped, Agent: t.No, Tick: snapshot.Tick, Body: execution.Empty{}})
}

// checksum covers the persistent memory, and the tick in progress: its
// variables, its program and input, and the answers it has.
func (v View) checksum(t Target) [32]byte {
	var frozen []byte
	if tick := t.Row.Execution.Current; tick != nil {
		sum := sha256.Sum256(event.Encode(tick))
		frozen = sum[:]
	}
	return v.Memory.Checksum(t.No, frozen)
}

// PutShared decides a SharedPut event: an operator writes shared memory, in the
// event's principal's name.
func PutShared(v View, cmd *event.PutShared, out *bus.Batch) (Done, *Refusal) {
	if p := value.Check(cmd.Value, int(v.Config.MaxValueBytes)); p != nil {
		return Done{}, refuse(failure.InvalidValue, value.JoinKey("value", p.Path), p.Rule)
	}
	return v.changeShared(&memory.Access{
		Op: memory.OpWrite, Scope: memory.ScopeShared, Namespace: cmd.Namespace, Key: cmd.Key, Value: cmd.Value,
	}, cmd.Version, out)
}

// DeleteShared decides a SharedDelete event.
func DeleteShared(v View, cmd *event.DeleteShared, out *bus.Batch) (Done, *Refusal) {
	return v.changeShared(&memory.Access{
		Op: memory.OpDelete, Scope: memory.ScopeShared, Namespace: cmd.Namespace, Key: cmd.Key,
	}, cmd.Version, out)
}

func (v View) changeShared(access *memory.Access, version *uint64, out *bus.Batch) (Done, *Refusal) {
	if rule := memory.CheckNamespace(access.Namespace); rule != "" {
		return Done{}, refuse(failure.InvalidArgument, "namespace", rule)
	}
	if rule := memory.CheckKey(access.Key); rule != "" {
		return Done{}, refuse(failure.InvalidArgument, "key", rule)
	}
	found := v.Memory.Look(access)
	if access.Op == memory.OpDelete && found == nil && version == nil {
		return Done{}, refuse(failure.NotFound, "key", "shared memory has no such key")
	}
	if f := v.Memory.CheckWrite(nil, 0, access, version, v.memoryLimits()); f != nil {
		return Done{}, refuse(f.Code, "version", f.Message)
	}
	done := Done{}
	if access.Op == memory.OpWrite {
		done.Version = v.Seq + uint64(out.Len()) // the busSeq that the record will get
	}
	out.Add(bus.Record{Kind: bus.MemoryAccess, Body: access})
	return done, nil
}

package execution

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/tidwall/btree"
)

// Tables is the module's state beside the rows: the global queue, FIFO by
// position (EX-2).
type Tables struct {
	Next     uint64 // the last position given
	Reserved uint32 // agents that hold a place, taken or not (EX-4)
	queue    btree.Map[uint64, uint32]
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{Next: t.Next, Reserved: t.Reserved, queue: *t.queue.Copy()}
}

// First is the agent whose tick is next.
func (t *Tables) First() (agent uint32, ok bool) {
	_, agent, ok = t.queue.Min()
	return agent, ok
}

// Len is the number of ticks that wait.
func (t *Tables) Len() int { return t.queue.Len() }

// All yields the queue in order.
func (t *Tables) All(yield func(place uint64, agent uint32) bool) { t.queue.Scan(yield) }

// Load puts a place back from a snapshot.
func (t *Tables) Load(place uint64, agent uint32) { t.queue.Set(place, agent) }

// ApplyAllocated reserves the agent's place.
func (t *Tables) ApplyAllocated(row *Row) {
	row.Reserved = true
	t.Reserved++
}

// ApplyReleased gives everything back: the place, the instructions, the tick.
func (t *Tables) ApplyReleased(row *Row) {
	t.leave(row)
	if row.Reserved {
		t.Reserved--
	}
	row.Reserved = false
	row.Queue, row.Current = nil, nil
}

// ApplyQueued adds an instruction.
func (t *Tables) ApplyQueued(row *Row, b *InstructionBody) {
	row.Queue = append(slices.Clip(row.Queue), Queued{Program: b.Program, Input: own(b.Input)})
}

// ApplyScheduled puts the agent's tick at the tail of the global queue.
func (t *Tables) ApplyScheduled(row *Row, agent uint32, b *PlaceBody) {
	row.Place = b.Place
	t.Next = max(t.Next, b.Place)
	t.queue.Set(b.Place, agent)
}

// ApplyFrozen takes the agent's tick out of the global queue.
func (t *Tables) ApplyFrozen(row *Row) { t.leave(row) }

// ApplyStarted enters a tick: a queued instruction's, or the current one's
// continuation.
func (t *Tables) ApplyStarted(row *Row, tick uint64, b *StartedBody) {
	t.leave(row)
	if row.Current == nil {
		head := row.Queue[0]
		row.Queue = row.Queue[1:]
		if len(row.Queue) == 0 {
			row.Queue = nil
		}
		row.LastTick = tick
		row.Current = &Tick{Seq: tick, Phase: Running, Program: head.Program, Input: head.Input, Runs: b.Run}
		return
	}
	dup := *row.Current
	dup.Phase, dup.Runs = Running, b.Run
	dup.Checkpoint, dup.Answer = nil, nil
	row.Current = &dup
}

// ApplyCompleted ends the tick with its value.
func (t *Tables) ApplyCompleted(row *Row, tick uint64, b *CompletedBody) {
	row.Current = nil
	row.Result = &Result{Tick: tick, OK: true, Value: own(b.Value)}
}

// ApplyPending keeps the tick's checkpoint, twice: for the continuation and
// for recovery (FA-1).
func (t *Tables) ApplyPending(row *Row, b *PendingBody) {
	dup := *row.Current
	dup.Phase, dup.Steps, dup.Calls = Pending, b.Steps, b.Call
	dup.Checkpoint = own(b.Checkpoint)
	dup.Recovery = dup.Checkpoint
	row.Current = &dup
}

// ApplyFailed ends the tick with its failure. A policy violation is over;
// any other failed tick is kept, so that recovery can put it back.
func (t *Tables) ApplyFailed(row *Row, tick uint64, b *FailedBody) {
	f := &b.Failure
	if f.Class() != failure.Unclassified {
		row.Result = &Result{
			Tick: tick, Code: f.Code, Message: f.Message, Node: f.Node, Line: f.Line, Column: f.Column,
		}
	}
	if row.Current == nil || f.Class() == failure.Unclassified {
		return
	}
	if f.Class() == failure.PolicyViolation {
		row.Current = nil
		return
	}
	dup := *row.Current
	dup.Phase, dup.Steps = Failed, b.Steps
	dup.Checkpoint, dup.Answer = nil, nil
	row.Current = &dup
}

// ApplyDelivered keeps the answer for the continuation.
func (t *Tables) ApplyDelivered(row *Row, b *DeliveredBody) {
	dup := *row.Current
	answer := b.Answer
	answer.Value = own(answer.Value)
	dup.Phase, dup.Answer = Answered, &answer
	row.Current = &dup
}

// ApplyRestored puts a failed tick back to its recovery checkpoint.
func (t *Tables) ApplyRestored(row *Row) {
	if row.Current == nil {
		return
	}
	dup := *row.Current
	dup.Phase = Restored
	dup.Checkpoint, dup.Answer = dup.Recovery, nil
	row.Current = &dup
}

// ApplyArchived drops what a tombstone does not keep.
func (r *Row) ApplyArchived() { r.Result = nil }

func (t *Tables) leave(row *Row) {
	if row.Place != 0 {
		t.queue.Delete(row.Place)
		row.Place = 0
	}
}

// own copies bytes that would otherwise keep a whole log entry in memory.
func own[T ~[]byte](b T) T {
	if b == nil {
		return nil
	}
	return append(make(T, 0, len(b)), b...)
}

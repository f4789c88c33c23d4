package execution

import (
	"cmp"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Tables is the module's state beside the rows: the global queue, FIFO by
// position (EX-2).
type Tables struct {
	Next     uint64 // the last position given
	Reserved uint32 // agents that hold a place, taken or not (EX-4)
	queue    table.Sorted[place, uint32]
}

// place is a position in the global queue.
type place uint64

// Compare puts earlier places first.
func (p place) Compare(other place) int { return cmp.Compare(p, other) }

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{Next: t.Next, Reserved: t.Reserved, queue: t.queue.Publish()}
}

// Len is the number of ticks that wait.
func (t *Tables) Len() int { return t.queue.Len() }

// All yields the queue in order.
func (t *Tables) All(yield func(place uint64, agent uint32) bool) {
	t.queue.All(func(at place, agent uint32) bool { return yield(uint64(at), agent) })
}

// Load puts a place back from a snapshot.
func (t *Tables) Load(at uint64, agent uint32) { t.queue.Set(place(at), agent) }

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
	t.queue.Set(place(b.Place), agent)
}

// ApplyFrozen takes the agent's tick out of the global queue.
func (t *Tables) ApplyFrozen(row *Row) { t.leave(row) }

// ApplyStarted enters a tick: a queued instruction's, or the current one's
// continuation.
func (t *Tables) ApplyStarted(row *Row, at bus.At, tick uint64, b *StartedBody) {
	t.leave(row)
	if row.Current == nil && b.Teardown {
		row.LastTick = tick
		row.Current = &Tick{Seq: tick, Phase: Running, Program: b.Program, Input: value.Null, Runs: b.Run, Teardown: true, made: at.Index}
		return
	}
	if row.Current == nil {
		head := row.Queue[0]
		row.Queue = row.Queue[1:]
		if len(row.Queue) == 0 {
			row.Queue = nil
		}
		row.LastTick = tick
		row.Current = &Tick{Seq: tick, Phase: Running, Program: head.Program, Input: head.Input, Runs: b.Run, made: at.Index}
		return
	}
	current := row.edit(at)
	current.Phase, current.Runs = Running, b.Run
	current.Checkpoint, current.Waits, current.Event = nil, nil, nil
}

// ApplyCompleted ends the tick with its value.
func (t *Tables) ApplyCompleted(row *Row, tick uint64, b *CompletedBody) {
	if row.Current != nil && row.Current.Teardown {
		row.Current, row.Torn = nil, true // the outcome stays what the last ordinary tick came to
		return
	}
	row.Current = nil
	row.Result = &Result{Tick: tick, OK: true, Value: own(b.Value)}
}

// ApplyPending keeps the tick's checkpoint, twice: for the continuation and
// for recovery (FA-1).
func (t *Tables) ApplyPending(row *Row, at bus.At, b *PendingBody) {
	current := row.edit(at)
	current.Phase, current.Steps = Pending, b.Steps
	current.Checkpoint = own(b.Checkpoint)
	current.Recovery, current.Exit = current.Checkpoint, current.Runs
	current.First = b.First
	if len(b.Requests) == 0 { // it waits again for the children that it delegated to
		current.Waits = []Wait{{Tool: Delegate}}
		return
	}
	current.Calls = b.First + uint32(len(b.Requests)) - 1
	current.Waits = make([]Wait, len(b.Requests))
	for i := range b.Requests {
		current.Waits[i].Tool = b.Requests[i].Tool
	}
}

// ApplyFailed ends the tick with its failure. A policy violation is over;
// any other failed tick is kept, so that recovery can put it back.
func (t *Tables) ApplyFailed(row *Row, at bus.At, tick uint64, b *FailedBody) {
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
		row.Torn = row.Torn || row.Current.Teardown
		row.Current = nil
		return
	}
	current := row.edit(at)
	current.Phase, current.Steps = Failed, b.Steps
	current.Checkpoint, current.Waits, current.Event = nil, nil, nil
}

// ApplyDelivered keeps one call's answer; with the last one the continuation
// can run.
func (t *Tables) ApplyDelivered(row *Row, at bus.At, b *DeliveredBody) {
	answer := b.Answer
	answer.Value = own(answer.Value)
	current := row.edit(at)
	current.Waits[answer.Call-current.First].Answer = &answer
	if current.Open() == 0 {
		current.Phase = Answered
	}
}

// ApplyEvent keeps an EscalationEvent for the tick's next run: it handles it
// and then waits again.
func (t *Tables) ApplyEvent(row *Row, at bus.At, b *EventBody) {
	current := row.edit(at)
	current.Phase, current.Event = Answered, own(b.Event)
}

// ApplyRestored puts a failed tick back to its recovery checkpoint.
func (t *Tables) ApplyRestored(row *Row, at bus.At) {
	if row.Current == nil {
		return
	}
	current := row.edit(at)
	current.Phase = Restored
	current.Checkpoint, current.Waits, current.Event = current.Recovery, nil, nil
}

// ApplyEmitted counts.
func (t *Tables) ApplyEmitted(row *Row) { row.Emitted++ }

// ApplyTorn notes that the agent ends without its teardown.
func (t *Tables) ApplyTorn(row *Row) { row.Torn = true }

// ApplyArchived drops what a tombstone does not keep.
func (r *Row) ApplyArchived() { r.Result = nil }

func (t *Tables) leave(row *Row) {
	if row.Place != 0 {
		t.queue.Delete(place(row.Place))
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

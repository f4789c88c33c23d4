package execution

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Row is execution's part of an agent's row. What its pointers and slices lead
// to is never changed once the event that made it is over: published copies
// share it.
type Row struct {
	_        struct{} `cbor:",toarray"`
	Reserved bool     // holds a place in the global queue, taken or not (EX-4)
	Place    uint64   // position in the global queue; 0 when not queued
	LastTick uint64   // the last tickSeq given; never reused (EX-3)
	Queue    []Queued // instructions that wait, oldest first
	Current  *Tick    // the tick in progress, waiting or failed; nil between ticks
	Result   *Result  // how the last finished tick ended
	Emitted  uint32   // how often the agent's programs used EMIT
	Torn     bool     // the teardown has ended, one way or the other
}

// Queued is an instruction that waits for its tick.
type Queued struct {
	_       struct{} `cbor:",toarray"`
	Program uint32   // interned
	Input   value.Raw
}

// Phase of a tick that has not finished.
type Phase uint8

// The phases. Numbers are part of the snapshot format.
const (
	Running  Phase = iota + 1 // its exit record follows in the same event
	Pending                   // exited with PENDING_*: waits for an answer
	Answered                  // the answer is there; the continuation is queued
	Restored                  // recovery put it back; runs again from the checkpoint
	Failed                    // failed; kept for recovery until the agent terminates
)

// Tick is a tick that has not finished.
type Tick struct {
	_          struct{} `cbor:",toarray"`
	Seq        uint64   // tickSeq
	Phase      Phase
	Program    uint32 // interned
	Input      value.Raw
	Runs       uint32 // how often it was entered: 1, and once more per continuation
	Steps      uint32 // over all runs (EX-3)
	Calls      uint32 // the last callIndex given, from 1
	Checkpoint []byte // ephemeral store, while Pending, Answered or Restored (EX-8)
	Recovery   []byte // recovery checkpoint, apart from it; nil before the first PENDING exit (FA-1)
	Exit       uint32 // the run that ended with it
	First      uint32 // callIndex of the first call of the last PENDING exit; it made len(Waits)
	Waits      []Wait
	Event      value.Raw // an EscalationEvent that the next run handles before the wait goes on (PE-3)
	Teardown   bool      // the agent's last tick, in COMPLETING (LC-5)

	made uint64 // Raft index of the event that made this copy
}

// edit returns the tick in progress for writing, after making it this event's
// own: state is published between events only, so no reader has it yet.
func (r *Row) edit(at bus.At) *Tick {
	if r.Current.made != at.Index {
		dup := *r.Current
		dup.made = at.Index
		dup.Waits = slices.Clone(dup.Waits)
		r.Current = &dup
	}
	return r.Current
}

// Clone returns a row that can go another way than r: nothing that is changed in
// place is shared.
func (r *Row) Clone() Row {
	dup := *r
	if r.Current != nil {
		tick := *r.Current
		tick.Waits = slices.Clone(tick.Waits)
		dup.Current = &tick
	}
	return dup
}

// Delegate is the kernel tool that a tick waits for with PENDING_DELEGATION.
const Delegate = "agent.delegate"

// Wait is one call that a tick waits for.
type Wait struct {
	_      struct{} `cbor:",toarray"`
	Tool   string
	Answer *Answer // nil while it is open
}

// Open counts the calls that have no answer yet.
func (t *Tick) Open() (n int) {
	for i := range t.Waits {
		if t.Waits[i].Answer == nil {
			n++
		}
	}
	return n
}

// Wait returns the wait for a call of the last PENDING exit, nil when the tick
// does not wait for it.
func (t *Tick) Wait(call uint32) *Wait {
	if t == nil || t.Phase != Pending || call < t.First || call-t.First >= uint32(len(t.Waits)) {
		return nil
	}
	if w := &t.Waits[call-t.First]; w.Answer == nil {
		return w
	}
	return nil
}

// Answer is what a continuation tick is given.
type Answer struct {
	_       struct{} `cbor:",toarray"`
	Call    uint32
	OK      bool
	Value   value.Raw
	Code    failure.Code
	Message string
}

// Result tells how a tick ended.
type Result struct {
	_       struct{} `cbor:",toarray"`
	Tick    uint64
	OK      bool
	Value   value.Raw
	Code    failure.Code
	Message string
	Node    uint32
	Line    uint32
	Column  uint32
}

// Runnable reports whether an ACTIVE agent has something to run.
func (r *Row) Runnable() bool {
	if r.Current != nil {
		return r.Current.Phase == Answered || r.Current.Phase == Restored
	}
	return len(r.Queue) > 0
}

// Idle reports whether nothing is in progress and nothing waits.
func (r *Row) Idle() bool { return r.Current == nil && len(r.Queue) == 0 }

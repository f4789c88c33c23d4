package lifecycle

import (
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Kept is how many of the last transitions a row holds; the rest is in the
// execution log (LC-8).
const Kept = 4

// Row is the controller's part of an agent's row.
type Row struct {
	_          struct{} `cbor:",toarray"`
	State      State
	Fault      failure.Class // class of the failure that led to FAULTED; zero elsewhere
	Code       failure.Code  // why the last transition was taken, if a failure caused it
	Suspending Caller        // who asked to suspend the agent while it was WAITING; 0 for nobody (LC-13)
	Count      uint32        // transitions so far
	Chain      [32]byte      // SHA-256 over all of them, each with the chain before it
	Last       [Kept]Step    // ring: transition n is at n mod Kept, n from 0
}

// Step is one transition that happened.
type Step struct {
	_       struct{} `cbor:",toarray"`
	Seq     uint64   // busSeq of its record
	Index   uint64   // Raft index of its event
	At      int64    // kernel clock, Unix milliseconds
	From    State
	To      State
	Trigger Trigger
	Caller  Caller
}

// Recent lists the kept transitions, oldest first.
func (r *Row) Recent() []Step {
	n := min(r.Count, Kept)
	steps := make([]Step, 0, n)
	for i := r.Count - n; i < r.Count; i++ {
		steps = append(steps, r.Last[i%Kept])
	}
	return steps
}

// Event is the body of a Lifecycle record.
type Event struct {
	From    State
	To      State
	Trigger Trigger
	Caller  Caller
	Code    failure.Code // why, for transitions that a failure caused
	Class   failure.Class
	Reason  string // the operator's or the kernel's words
}

// AppendTo writes the body's log form.
func (e *Event) AppendTo(dst []byte) []byte {
	dst = append(dst, byte(e.From), byte(e.To), byte(e.Trigger), byte(e.Caller), byte(e.Class))
	dst = bus.AppendText(dst, e.Code)
	return bus.AppendText(dst, e.Reason)
}

// DecodeEvent reads the body of a Lifecycle record.
func DecodeEvent(b []byte) (*Event, bool) {
	d := bus.NewDecoder(b)
	e := &Event{
		From: State(d.Byte()), To: State(d.Byte()), Trigger: Trigger(d.Byte()), Caller: Caller(d.Byte()),
		Class: failure.Class(d.Byte()), Code: failure.Code(d.Text()), Reason: d.Text(),
	}
	return e, d.Done()
}

// Rejection is the body of an InvalidTransition record (LC-2).
type Rejection struct {
	From    State
	Trigger Trigger // 0 for kill, which is no row of the table
	Caller  Caller
}

// AppendTo writes the body's log form.
func (r *Rejection) AppendTo(dst []byte) []byte {
	return append(dst, byte(r.From), byte(r.Trigger), byte(r.Caller))
}

// DecodeRejection reads the body of an InvalidTransition record.
func DecodeRejection(b []byte) (*Rejection, bool) {
	d := bus.NewDecoder(b)
	r := &Rejection{From: State(d.Byte()), Trigger: Trigger(d.Byte()), Caller: Caller(d.Byte())}
	return r, d.Done()
}

// Apply takes a transition into the row. It trusts the record: the flow that
// made it asked Decide (EV-4).
func (r *Row) Apply(at bus.At, e *Event) {
	var entry [32 + 8 + 4]byte
	copy(entry[:], r.Chain[:])
	for i := range 8 {
		entry[32+i] = byte(at.Seq >> (8 * i))
	}
	entry[40], entry[41], entry[42], entry[43] = byte(e.From), byte(e.To), byte(e.Trigger), byte(e.Caller)
	r.Chain = sha256.Sum256(entry[:])
	r.Last[r.Count%Kept] = Step{
		Seq: at.Seq, Index: at.Index, At: at.Now, From: e.From, To: e.To, Trigger: e.Trigger, Caller: e.Caller,
	}
	r.Count++
	r.State, r.Code = e.To, e.Code
	r.Fault = failure.Unclassified
	if e.To != Waiting && e.From != Waiting || e.To == Faulted || e.To == Terminated {
		r.Suspending = 0
	}
	if e.To == Faulted {
		r.Fault = e.Class
	}
}

// Actor is who stands for the kernel in a row of the table when a composite
// such as kill takes it: the first caller of the row that is not from outside.
func Actor(from State, trigger Trigger) Caller {
	for _, c := range [...]Caller{Kernel, Scheduler, FailureHandler} {
		if _, ok := Decide(from, trigger, c); ok {
			return c
		}
	}
	return 0
}

// SuspendRequested is the body of SuspendRequested: it is taken right after
// row 7 (LC-13).
type SuspendRequested struct {
	Caller Caller
	Reason string
}

// AppendTo writes the body's log form.
func (b *SuspendRequested) AppendTo(dst []byte) []byte {
	return bus.AppendText(append(dst, byte(b.Caller)), b.Reason)
}

// DecodeSuspendRequested reads the body of SuspendRequested.
func DecodeSuspendRequested(raw []byte) (*SuspendRequested, bool) {
	d := bus.NewDecoder(raw)
	b := &SuspendRequested{Caller: Caller(d.Byte()), Reason: d.Text()}
	return b, d.Done()
}

// ApplySuspendRequested notes who asked.
func (r *Row) ApplySuspendRequested(b *SuspendRequested) { r.Suspending = b.Caller }

// Reclassified is the body of FaultReclassified (FA-2).
type Reclassified struct{ Reason string }

// AppendTo writes the body's log form.
func (b *Reclassified) AppendTo(dst []byte) []byte { return bus.AppendText(dst, b.Reason) }

// DecodeReclassified reads the body of FaultReclassified.
func DecodeReclassified(raw []byte) (*Reclassified, bool) {
	d := bus.NewDecoder(raw)
	b := &Reclassified{Reason: d.Text()}
	return b, d.Done()
}

// ApplyReclassified makes the fault a passing one.
func (r *Row) ApplyReclassified() { r.Fault = failure.Transient }

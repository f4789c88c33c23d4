package event

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Outcome is what applying an event answers. A refusal is an outcome, not an
// error (LC-2). It is recorded, and kept for the command's session, so a retry
// gets the same bytes.
type Outcome struct {
	Refusal failure.Refusal // Code empty: done

	Agent [16]byte // the agent concerned; zero when none
	State uint8    // its lifecycle.State when the command had taken effect
	Index uint64   // Raft index at which the command was applied first
	Seq   uint64   // busSeq of that event

	Version uint64 // of what a write of shared memory made; 0 for any other command

	// Not recorded: how this outcome came about.
	Repeated bool   // a retry: the outcome of the first time
	Stored   uint64 // position + 1 of the block that holds an outcome too long for the session table
}

// Done reports whether the command took effect.
func (o *Outcome) Done() bool { return o.Refusal.Code == "" }

// AppendTo writes the body's log form: the body of an Outcome record.
func (o *Outcome) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(dst, o.Refusal.Code)
	dst = bus.AppendText(dst, o.Refusal.Field)
	dst = bus.AppendText(dst, o.Refusal.Rule)
	dst = bus.AppendText(dst, o.Refusal.Hint)
	dst = append(dst, o.Agent[:]...)
	dst = append(dst, o.State)
	dst = bus.AppendUint(dst, o.Index)
	dst = bus.AppendUint(dst, o.Seq)
	return bus.AppendUint(dst, o.Version)
}

// DecodeOutcome reads the body of an Outcome record.
func DecodeOutcome(raw []byte) (*Outcome, bool) {
	d := bus.NewDecoder(raw)
	o := &Outcome{Refusal: failure.Refusal{
		Code: failure.Code(d.Text()), Field: d.Text(), Rule: d.Text(), Hint: d.Text(),
	}}
	d.Fixed(o.Agent[:])
	o.State, o.Index, o.Seq, o.Version = d.Byte(), d.Uint(), d.Uint(), d.Uint()
	return o, d.Done()
}

// Again is the body of a Duplicate record: the event was a retry.
type Again struct {
	Index uint64 // where the command was applied first
}

// AppendTo writes the body's log form.
func (a *Again) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, a.Index) }

// DecodeAgain reads the body of a Duplicate record.
func DecodeAgain(raw []byte) (*Again, bool) {
	d := bus.NewDecoder(raw)
	a := &Again{Index: d.Uint()}
	return a, d.Done()
}

package estop

import "github.com/omnikernel/omnikernel/kernel/bus"

// Stop is an emergency stop that holds. It is never changed once it is made, so
// published states share it.
type Stop struct {
	_      struct{} `cbor:",toarray"`
	Seq    uint64   // busSeq of its record
	Index  uint64   // Raft index of its event
	At     int64    // kernel clock, Unix milliseconds
	By     string   // the operator's principal
	Reason string
}

// Order is the body of KernelSuspended and KernelResumed: who asked, and why.
type Order struct {
	By     string
	Reason string
}

// AppendTo writes the body's log form.
func (b *Order) AppendTo(dst []byte) []byte {
	return bus.AppendText(bus.AppendText(dst, b.By), b.Reason)
}

// DecodeOrder reads the body of KernelSuspended or KernelResumed.
func DecodeOrder(raw []byte) (*Order, bool) {
	d := bus.NewDecoder(raw)
	b := &Order{By: d.Text(), Reason: d.Text()}
	return b, d.Done()
}

// Tables is the module's state: the stop that holds, nil for none.
type Tables struct{ stop *Stop }

// Stop is the stop that holds, for reading; nil while the kernel runs.
func (t *Tables) Stop() *Stop { return t.stop }

// Suspended reports whether the kernel is.
func (t *Tables) Suspended() bool { return t.stop != nil }

// ApplySuspended takes a KernelSuspended record in.
func (t *Tables) ApplySuspended(at bus.At, b *Order) {
	t.stop = &Stop{Seq: at.Seq, Index: at.Index, At: at.Now, By: b.By, Reason: b.Reason}
}

// ApplyResumed takes a KernelResumed record in.
func (t *Tables) ApplyResumed() { t.stop = nil }

// Load puts a stop back from a snapshot; nil for none.
func (t *Tables) Load(s *Stop) { t.stop = s }

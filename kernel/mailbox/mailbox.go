package mailbox

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Row is the module's part of an agent's row.
type Row struct {
	_        struct{}    `cbor:",toarray"`
	Messages []value.Raw // oldest first; replaced, never changed in place
	Bytes    uint32      // of all of them
	Call     uint32      // callIndex of the mailbox.receive that waits; 0 for none
	Limited  bool        // … for a time that its program chose
}

// Message is the body of MessageQueued.
type Message struct{ Value value.Raw }

// AppendTo writes the body's log form.
func (m *Message) AppendTo(dst []byte) []byte { return bus.AppendText(dst, m.Value) }

// DecodeMessage reads the body of MessageQueued.
func DecodeMessage(raw []byte) (*Message, bool) {
	d := bus.NewDecoder(raw)
	m := &Message{Value: d.Bytes()}
	return m, d.Done()
}

// ApplyQueued adds a message.
func (r *Row) ApplyQueued(m *Message) {
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], append(value.Raw(nil), m.Value...))
	r.Bytes += uint32(len(m.Value))
}

// Receive is the body of MessageTaken and ReceiveStarted: the call that takes
// a message, or waits for one.
type Receive struct {
	Call    uint32 // 0: nobody waits any more
	Limited bool   // its program chose how long
}

// AppendTo writes the body's log form.
func (b *Receive) AppendTo(dst []byte) []byte {
	return bus.AppendBool(bus.AppendUint(dst, uint64(b.Call)), b.Limited)
}

// DecodeReceive reads the body of MessageTaken and ReceiveStarted.
func DecodeReceive(raw []byte) (*Receive, bool) {
	d := bus.NewDecoder(raw)
	b := &Receive{Call: d.Uint32(), Limited: d.Bool()}
	return b, d.Done()
}

// ApplyTaken removes the oldest message: a call has it.
func (r *Row) ApplyTaken() {
	r.Call, r.Limited = 0, false
	if len(r.Messages) == 0 {
		return
	}
	r.Bytes -= uint32(len(r.Messages[0]))
	r.Messages = r.Messages[1:]
	if len(r.Messages) == 0 {
		r.Messages = nil
	}
}

// ApplyStarted notes the call that waits.
func (r *Row) ApplyStarted(b *Receive) { r.Call, r.Limited = b.Call, b.Limited }

// ApplyReleased drops everything: the agent is TERMINATED.
func (r *Row) ApplyReleased() { *r = Row{} }

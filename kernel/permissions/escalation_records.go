package permissions

import (
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Escalated is the body of the record of the same name: a request is in the
// queue. Who asked and in which tick stands in the record's header, and its busSeq is
// the escalation's ID. The fields are those of Escalation.
type Escalated struct {
	Call     uint32
	Tool     string
	Args     value.Raw
	Timeout  int64
	Action   string
	Resource string
	Digest   [sha256.Size]byte
	Handler  uint32
	Deadline int64
	Timer    uint64
	Grants   uint32
	Grant    int32
	Level    uint32
	Revision uint64
}

// AppendTo writes the body's log form.
func (b *Escalated) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendText(dst, b.Tool)
	dst = bus.AppendText(dst, b.Args)
	dst = bus.AppendInt(dst, b.Timeout)
	dst = bus.AppendText(dst, b.Action)
	dst = bus.AppendText(dst, b.Resource)
	dst = append(dst, b.Digest[:]...)
	dst = bus.AppendUint(dst, uint64(b.Handler))
	dst = bus.AppendInt(dst, b.Deadline)
	dst = bus.AppendUint(dst, b.Timer)
	dst = bus.AppendUint(dst, uint64(b.Grants))
	dst = bus.AppendInt(dst, int64(b.Grant))
	return bus.AppendUint(bus.AppendUint(dst, uint64(b.Level)), b.Revision)
}

// DecodeEscalated reads the body of Escalated.
func DecodeEscalated(raw []byte) (*Escalated, bool) {
	d := bus.NewDecoder(raw)
	b := &Escalated{
		Call: d.Uint32(), Tool: d.Text(), Args: d.Bytes(), Timeout: d.Int(), Action: d.Text(), Resource: d.Text(),
	}
	d.Fixed(b.Digest[:])
	b.Handler, b.Deadline, b.Timer, b.Grants = d.Uint32(), d.Int(), d.Uint(), d.Uint32()
	grant, fits := position(d)
	b.Grant, b.Level, b.Revision = grant, d.Uint32(), d.Uint()
	return b, d.Done() && fits
}

// ApplyEscalated queues the request.
func (t *Tables) ApplyEscalated(agent uint32, tick uint64, at bus.At, b *Escalated) {
	t.Load(&Escalation{
		ID: at.Seq, Agent: agent, Tick: tick, Call: b.Call, Tool: b.Tool, Args: append(value.Raw(nil), b.Args...), Timeout: b.Timeout,
		Action: b.Action, Resource: b.Resource, Digest: b.Digest, Handler: b.Handler, Deadline: b.Deadline,
		Timer: b.Timer, Grants: b.Grants, Grant: b.Grant, Level: b.Level, Revision: b.Revision,
	})
}

// EscalationOffered is the body of the record of the same name: the parent was
// resumed with the request.
type EscalationOffered struct {
	ID      uint64
	Handler uint32
}

// AppendTo writes the body's log form.
func (b *EscalationOffered) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, b.ID), uint64(b.Handler))
}

// DecodeEscalationOffered reads the body of EscalationOffered.
func DecodeEscalationOffered(raw []byte) (*EscalationOffered, bool) {
	d := bus.NewDecoder(raw)
	b := &EscalationOffered{ID: d.Uint(), Handler: d.Uint32()}
	return b, d.Done()
}

// ApplyOffered notes who is looking at the request.
func (t *Tables) ApplyOffered(b *EscalationOffered) { t.hand(b.ID, b.Handler, true) }

// hand gives an open request to a handler.
func (t *Tables) hand(id uint64, handler uint32, offered bool) {
	if found, ok := t.Get(id); ok {
		dup := *found
		dup.Handler, dup.Offered = handler, offered
		t.Load(&dup)
	}
}

// EscalationDecided is the body of the record of the same name: the request
// left the queue. With Code it ended without a decision and counts as DENY.
type EscalationDecided struct {
	ID       uint64
	Approved bool
	By       string       // the operator's principal, or "parent"; empty with a Code
	Code     failure.Code // why it ended undecided: WITHDRAWN, WAIT_TIMEOUT …
	Reason   string       // the decider's words, at most failure.MaxMessage bytes
}

// AppendTo writes the body's log form.
func (b *EscalationDecided) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, b.ID)
	dst = bus.AppendBool(dst, b.Approved)
	dst = bus.AppendText(dst, b.By)
	dst = bus.AppendText(dst, b.Code)
	return bus.AppendText(dst, b.Reason)
}

// DecodeEscalationDecided reads the body of EscalationDecided.
func DecodeEscalationDecided(raw []byte) (*EscalationDecided, bool) {
	d := bus.NewDecoder(raw)
	b := &EscalationDecided{
		ID: d.Uint(), Approved: d.Bool(), By: d.Text(), Code: failure.Code(d.Text()), Reason: d.Text(),
	}
	return b, d.Done()
}

// ApplyDecided takes the request out of the queue.
func (t *Tables) ApplyDecided(b *EscalationDecided) { t.remove(b.ID) }

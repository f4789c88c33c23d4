package execution

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ForkedBody is the body of TickForked: how far an agent had got that a fork
// starts from (LO-13). The record's tick is the one in progress, 0 for none.
type ForkedBody struct {
	LastTick uint64
	Emitted  uint32
	Tick     *ForkedTick // nil between ticks
}

// ForkedTick is the tick that goes on in the fork. Its checkpoint is the one
// that recovery would go back to, too: between two events they are the same.
type ForkedTick struct {
	Phase      Phase // Pending, Answered or Restored
	Program    uint32
	Input      value.Raw
	Runs       uint32
	Steps      uint32
	Calls      uint32
	Exit       uint32
	First      uint32
	Checkpoint []byte
	Orphan     bool // its request was for children, which the fork has not
	Requests   []Request
	Answers    []*Answer // one for each request; nil while it is open
}

// AppendTo writes the body's log form.
func (b *ForkedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, b.LastTick)
	dst = bus.AppendUint(dst, uint64(b.Emitted))
	dst = bus.AppendBool(dst, b.Tick != nil)
	if b.Tick == nil {
		return dst
	}
	return b.Tick.appendTo(dst)
}

func (t *ForkedTick) appendTo(dst []byte) []byte {
	dst = append(dst, byte(t.Phase))
	dst = bus.AppendUint(dst, uint64(t.Program))
	dst = bus.AppendText(dst, t.Input)
	for _, n := range [...]uint32{t.Runs, t.Steps, t.Calls, t.Exit, t.First} {
		dst = bus.AppendUint(dst, uint64(n))
	}
	dst = bus.AppendText(dst, t.Checkpoint)
	dst = bus.AppendBool(dst, t.Orphan)
	dst = bus.AppendUint(dst, uint64(len(t.Requests)))
	for i := range t.Requests {
		r, a := &t.Requests[i], t.Answers[i]
		dst = bus.AppendText(dst, r.Tool)
		dst = bus.AppendBool(dst, a != nil)
		if a == nil {
			dst = bus.AppendText(dst, r.Args)
			dst = bus.AppendInt(dst, r.Timeout)
			continue
		}
		dst = bus.AppendBool(dst, a.OK)
		dst = bus.AppendText(dst, a.Value)
		dst = bus.AppendText(dst, a.Code)
		dst = bus.AppendText(dst, a.Message)
	}
	return dst
}

// DecodeForked reads the body of TickForked.
func DecodeForked(raw []byte) (*ForkedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &ForkedBody{LastTick: d.Uint(), Emitted: d.Uint32()}
	if d.Bool() {
		b.Tick = decodeForkedTick(d)
		if b.Tick == nil {
			return nil, false
		}
	}
	return b, d.Done()
}

func decodeForkedTick(d *bus.Decoder) *ForkedTick {
	t := &ForkedTick{Phase: Phase(d.Byte()), Program: d.Uint32(), Input: d.Bytes()}
	t.Runs, t.Steps, t.Calls, t.Exit, t.First = d.Uint32(), d.Uint32(), d.Uint32(), d.Uint32(), d.Uint32()
	if t.Checkpoint = d.Bytes(); len(t.Checkpoint) == 0 {
		t.Checkpoint = nil
	}
	t.Orphan = d.Bool()
	n := d.Uint()
	if n > d.Left() {
		return nil
	}
	t.Requests, t.Answers = make([]Request, n), make([]*Answer, n)
	for i := range t.Requests {
		t.Requests[i].Tool = d.Text()
		if !d.Bool() {
			t.Requests[i].Args, t.Requests[i].Timeout = d.Bytes(), d.Int()
			continue
		}
		a := &Answer{Call: t.First + uint32(i), OK: d.Bool(), Value: d.Bytes(), Code: failure.Code(d.Text()), Message: d.Text()}
		if len(a.Value) == 0 {
			a.Value = nil
		}
		t.Answers[i] = a
	}
	if !t.Possible() {
		return nil
	}
	return t
}

// Possible reports whether a tick can be like that between two events.
func (t *ForkedTick) Possible() bool {
	open := 0
	for _, a := range t.Answers {
		if a == nil {
			open++
		}
	}
	n := uint32(len(t.Answers))
	if t.Phase != Restored && (t.First == 0 || t.First > t.Calls || n == 0 || n > t.Calls-t.First+1) {
		return false
	}
	switch t.Phase {
	case Pending:
		return open > 0 && (!t.Orphan || n == 1)
	case Answered:
		return open == 0 && !t.Orphan
	case Restored:
		return n == 0 && !t.Orphan
	}
	return false
}

// Delegates reports whether the tick waits for its request for children.
func (t *ForkedTick) Delegates() bool {
	for i, a := range t.Answers {
		if a == nil && t.Requests[i].Tool == Delegate {
			return true
		}
	}
	return false
}

// ApplyForked gives a new agent the tick of another. What is given is copied:
// the body may alias the event.
func (r *Row) ApplyForked(at bus.At, b *ForkedBody) {
	r.LastTick, r.Emitted = b.LastTick, b.Emitted
	t := b.Tick
	if t == nil {
		return
	}
	checkpoint := own(t.Checkpoint)
	r.Current = &Tick{
		Seq: b.LastTick, Phase: t.Phase, Program: t.Program, Input: own(t.Input), Runs: t.Runs, Steps: t.Steps, Calls: t.Calls,
		Checkpoint: checkpoint, Recovery: checkpoint, Exit: t.Exit, First: t.First, made: at.Index,
	}
	if len(t.Requests) == 0 {
		return
	}
	r.Current.Waits = make([]Wait, len(t.Requests))
	for i := range t.Requests {
		r.Current.Waits[i].Tool = t.Requests[i].Tool
		if a := t.Answers[i]; a != nil {
			answer := *a
			answer.Value = own(answer.Value)
			r.Current.Waits[i].Answer = &answer
		}
	}
}

package execution

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// InstructionBody is the body of InstructionQueued.
type InstructionBody struct {
	Program uint32
	Input   value.Raw
}

// AppendTo writes the body's log form.
func (b *InstructionBody) AppendTo(dst []byte) []byte {
	return bus.AppendText(bus.AppendUint(dst, uint64(b.Program)), b.Input)
}

// DecodeInstruction reads the body of InstructionQueued.
func DecodeInstruction(raw []byte) (*InstructionBody, bool) {
	d := bus.NewDecoder(raw)
	b := &InstructionBody{Program: d.Uint32(), Input: d.Bytes()}
	return b, d.Done()
}

// PlaceBody is the body of TickScheduled and TickFrozen.
type PlaceBody struct{ Place uint64 }

// AppendTo writes the body's log form.
func (b *PlaceBody) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, b.Place) }

// DecodePlace reads the body of TickScheduled and TickFrozen.
func DecodePlace(raw []byte) (*PlaceBody, bool) {
	d := bus.NewDecoder(raw)
	b := &PlaceBody{Place: d.Uint()}
	return b, d.Done()
}

// StartedBody is the body of TickStarted. Run counts the entries into the
// tick; the spans of a tick and its continuations follow from it.
type StartedBody struct {
	Program  uint32
	Run      uint32
	BusSeqAt uint64 // busSeq when the context was frozen
	Teardown bool   // the agent's last tick (LC-5)
}

// AppendTo writes the body's log form.
func (b *StartedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Program))
	dst = bus.AppendUint(dst, uint64(b.Run))
	dst = bus.AppendUint(dst, b.BusSeqAt)
	return bus.AppendBool(dst, b.Teardown)
}

// DecodeStarted reads the body of TickStarted.
func DecodeStarted(raw []byte) (*StartedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &StartedBody{Program: d.Uint32(), Run: d.Uint32(), BusSeqAt: d.Uint(), Teardown: d.Bool()}
	return b, d.Done()
}

// StepBody is the body of Step: which instruction of the tick's program is
// about to be evaluated, by its preorder number (EX-7).
type StepBody struct{ Node uint32 }

// AppendTo writes the body's log form.
func (b StepBody) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, uint64(b.Node)) }

// DecodeStep reads the body of Step.
func DecodeStep(raw []byte) (StepBody, bool) {
	d := bus.NewDecoder(raw)
	b := StepBody{Node: d.Uint32()}
	return b, d.Done()
}

// CompletedBody is the body of TickCompleted.
type CompletedBody struct {
	Steps uint32
	Value value.Raw
	Again bool // its program was queued once more, by itself
}

// AppendTo writes the body's log form.
func (b *CompletedBody) AppendTo(dst []byte) []byte {
	return bus.AppendBool(bus.AppendText(bus.AppendUint(dst, uint64(b.Steps)), b.Value), b.Again)
}

// DecodeCompleted reads the body of TickCompleted.
func DecodeCompleted(raw []byte) (*CompletedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &CompletedBody{Steps: d.Uint32(), Value: d.Bytes(), Again: d.Bool()}
	return b, d.Done()
}

// Request is one call that a tick asks for.
type Request struct {
	Tool    string
	Args    value.Raw
	Timeout int64 // milliseconds; 0 for the default
}

// Decision is what a parent's handler said to an escalation (PE-3).
type Decision struct {
	Escalation uint64
	Approve    bool
	Reason     string
}

// PendingBody is the body of TickPendingTool and TickPendingDelegation: the
// requests and, because state is a fold of the log, the checkpoint. Without
// requests the tick waits for the same calls again, after its handler decided.
type PendingBody struct {
	Steps      uint32
	First      uint32 // callIndex of the first request
	Requests   []Request
	Decision   *Decision
	Checkpoint []byte
}

// AppendTo writes the body's log form.
func (b *PendingBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Steps))
	dst = bus.AppendUint(dst, uint64(b.First))
	dst = bus.AppendUint(dst, uint64(len(b.Requests)))
	for i := range b.Requests {
		r := &b.Requests[i]
		dst = bus.AppendText(dst, r.Tool)
		dst = bus.AppendText(dst, r.Args)
		dst = bus.AppendInt(dst, r.Timeout)
	}
	dst = bus.AppendBool(dst, b.Decision != nil)
	if b.Decision != nil {
		dst = bus.AppendUint(dst, b.Decision.Escalation)
		dst = bus.AppendBool(dst, b.Decision.Approve)
		dst = bus.AppendText(dst, b.Decision.Reason)
	}
	return bus.AppendText(dst, b.Checkpoint)
}

// DecodePending reads the body of TickPendingTool and TickPendingDelegation.
func DecodePending(raw []byte) (*PendingBody, bool) {
	d := bus.NewDecoder(raw)
	b := &PendingBody{Steps: d.Uint32(), First: d.Uint32()}
	n := d.Uint()
	if n > d.Left() {
		return nil, false
	}
	b.Requests = make([]Request, n)
	for i := range b.Requests {
		b.Requests[i] = Request{Tool: d.Text(), Args: d.Bytes(), Timeout: d.Int()}
	}
	if d.Bool() {
		b.Decision = &Decision{Escalation: d.Uint(), Approve: d.Bool(), Reason: d.Text()}
	}
	b.Checkpoint = d.Bytes()
	return b, d.Done() && (n == 0) == (b.Decision != nil)
}

// EmittedBody is the body of Emitted: what a program wants to be seen.
type EmittedBody struct{ Value value.Raw }

// AppendTo writes the body's log form.
func (b *EmittedBody) AppendTo(dst []byte) []byte { return bus.AppendText(dst, b.Value) }

// DecodeEmitted reads the body of Emitted.
func DecodeEmitted(raw []byte) (*EmittedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &EmittedBody{Value: d.Bytes()}
	return b, d.Done()
}

// EventBody is the body of EventDelivered.
type EventBody struct{ Event value.Raw }

// AppendTo writes the body's log form.
func (b *EventBody) AppendTo(dst []byte) []byte { return bus.AppendText(dst, b.Event) }

// DecodeEvent reads the body of EventDelivered.
func DecodeEvent(raw []byte) (*EventBody, bool) {
	d := bus.NewDecoder(raw)
	b := &EventBody{Event: d.Bytes()}
	return b, d.Done()
}

// FailedBody is the body of TickFailed: the specification's FailureEvent.
type FailedBody struct {
	Steps   uint32
	Failure failure.Failure
}

// AppendTo writes the body's log form.
func (b *FailedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Steps))
	dst = bus.AppendText(dst, b.Failure.Code)
	dst = bus.AppendText(dst, b.Failure.Message)
	dst = bus.AppendUint(dst, uint64(b.Failure.Node))
	dst = bus.AppendUint(dst, uint64(b.Failure.Line))
	return bus.AppendUint(dst, uint64(b.Failure.Column))
}

// DecodeFailed reads the body of TickFailed.
func DecodeFailed(raw []byte) (*FailedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &FailedBody{Steps: d.Uint32(), Failure: failure.Failure{
		Code: failure.Code(d.Text()), Message: d.Text(), Node: d.Uint32(), Line: d.Uint32(), Column: d.Uint32(),
	}}
	return b, d.Done()
}

// OverflowBody is the body of TickOverflow.
type OverflowBody struct{ Steps uint32 }

// AppendTo writes the body's log form.
func (b *OverflowBody) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, uint64(b.Steps)) }

// DecodeOverflow reads the body of TickOverflow.
func DecodeOverflow(raw []byte) (*OverflowBody, bool) {
	d := bus.NewDecoder(raw)
	b := &OverflowBody{Steps: d.Uint32()}
	return b, d.Done()
}

// DeliveredBody is the body of ResultDelivered.
type DeliveredBody struct{ Answer Answer }

// AppendTo writes the body's log form.
func (b *DeliveredBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Answer.Call))
	dst = bus.AppendBool(dst, b.Answer.OK)
	dst = bus.AppendText(dst, b.Answer.Value)
	dst = bus.AppendText(dst, b.Answer.Code)
	return bus.AppendText(dst, b.Answer.Message)
}

// DecodeDelivered reads the body of ResultDelivered.
func DecodeDelivered(raw []byte) (*DeliveredBody, bool) {
	d := bus.NewDecoder(raw)
	b := &DeliveredBody{Answer: Answer{
		Call: d.Uint32(), OK: d.Bool(), Value: d.Bytes(), Code: failure.Code(d.Text()), Message: d.Text(),
	}}
	return b, d.Done()
}

// Empty is the body of records that say everything by their kind.
type Empty struct{}

// AppendTo writes nothing.
func (Empty) AppendTo(dst []byte) []byte { return dst }

// DecodeEmpty accepts an empty body only.
func DecodeEmpty(raw []byte) (Empty, bool) { return Empty{}, len(raw) == 0 }

package runs

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// DefinedBody is the body of RUN_DEFINED: a run, whose root agent is the
// record's.
type DefinedBody struct {
	Goal      string
	Config    value.Raw
	Seed      string
	Planner   uint32 // interned; 0 when the plan is given
	AutoStart bool
}

// AppendTo writes the body's log form.
func (b *DefinedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(dst, b.Goal)
	dst = bus.AppendText(dst, b.Config)
	dst = bus.AppendText(dst, b.Seed)
	dst = bus.AppendUint(dst, uint64(b.Planner))
	return bus.AppendBool(dst, b.AutoStart)
}

// DecodeDefined reads the body of RUN_DEFINED.
func DecodeDefined(raw []byte) (*DefinedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &DefinedBody{Goal: d.Text(), Config: d.Bytes(), Seed: d.Text(), Planner: d.Uint32(), AutoStart: d.Bool()}
	return b, d.Done()
}

// PlannedBody is the body of RUN_PLANNED: the plan.
type PlannedBody struct{ Tasks []PlannedTask }

// PlannedTask is a task as it was planned.
type PlannedTask struct {
	Name    string
	Program uint32 // interned
	Input   value.Raw
	Uses    []uint32 // positions, from 0, of earlier tasks
}

// AppendTo writes the body's log form.
func (b *PlannedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(len(b.Tasks)))
	for i := range b.Tasks {
		t := &b.Tasks[i]
		dst = bus.AppendText(dst, t.Name)
		dst = bus.AppendUint(dst, uint64(t.Program))
		dst = bus.AppendText(dst, t.Input)
		dst = bus.AppendUint(dst, uint64(len(t.Uses)))
		for _, at := range t.Uses {
			dst = bus.AppendUint(dst, uint64(at))
		}
	}
	return dst
}

// DecodePlanned reads the body of RUN_PLANNED.
func DecodePlanned(raw []byte) (*PlannedBody, bool) {
	d := bus.NewDecoder(raw)
	n := d.Uint()
	if n > d.Left() {
		return nil, false
	}
	b := &PlannedBody{Tasks: make([]PlannedTask, n)}
	for i := range b.Tasks {
		t := &b.Tasks[i]
		t.Name, t.Program, t.Input = d.Text(), d.Uint32(), d.Bytes()
		uses := d.Uint()
		if uses > d.Left() || uses > uint64(i) {
			return nil, false
		}
		if uses > 0 {
			t.Uses = make([]uint32, uses)
		}
		for j := range t.Uses {
			if t.Uses[j] = d.Uint32(); uint64(t.Uses[j]) >= uint64(i) {
				return nil, false
			}
		}
	}
	return b, d.Done()
}

// Event is the body of RUN_TRANSITION.
type Event struct {
	From    State
	To      State
	Trigger Trigger
	Cause   Cause
	Code    failure.Code // of the failure that led to it
	Forced  bool         // a pause that withdrew what the running task waited for
	Reason  string
}

// AppendTo writes the body's log form.
func (e *Event) AppendTo(dst []byte) []byte {
	dst = append(dst, byte(e.From), byte(e.To), byte(e.Trigger), byte(e.Cause))
	return bus.AppendText(bus.AppendText(bus.AppendBool(dst, e.Forced), e.Code), e.Reason)
}

// DecodeEvent reads the body of RUN_TRANSITION.
func DecodeEvent(raw []byte) (*Event, bool) {
	d := bus.NewDecoder(raw)
	e := &Event{
		From: State(d.Byte()), To: State(d.Byte()), Trigger: Trigger(d.Byte()), Cause: Cause(d.Byte()),
		Forced: d.Bool(), Code: failure.Code(d.Text()), Reason: d.Text(),
	}
	return e, d.Done() && e.From < States && e.To < States
}

// Rejection is the body of INVALID_RUN_TRANSITION.
type Rejection struct {
	From    State
	Trigger Trigger
	Cause   Cause
}

// AppendTo writes the body's log form.
func (b *Rejection) AppendTo(dst []byte) []byte {
	return append(dst, byte(b.From), byte(b.Trigger), byte(b.Cause))
}

// DecodeRejection reads the body of INVALID_RUN_TRANSITION.
func DecodeRejection(raw []byte) (*Rejection, bool) {
	d := bus.NewDecoder(raw)
	b := &Rejection{From: State(d.Byte()), Trigger: Trigger(d.Byte()), Cause: Cause(d.Byte())}
	return b, d.Done()
}

// TaskBody is the body of RUN_TASK_STARTED and RUN_TASK_COMPLETED: which task, by
// its position from 0. What it came to is in the TICK_COMPLETED before.
type TaskBody struct{ Task uint32 }

// AppendTo writes the body's log form.
func (b *TaskBody) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, uint64(b.Task)) }

// DecodeTask reads the body of RUN_TASK_STARTED and RUN_TASK_COMPLETED.
func DecodeTask(raw []byte) (*TaskBody, bool) {
	d := bus.NewDecoder(raw)
	b := &TaskBody{Task: d.Uint32()}
	return b, d.Done()
}

// TaskFailedBody is the body of RUN_TASK_FAILED.
type TaskFailedBody struct {
	Task    uint32
	Code    failure.Code
	Message string
}

// AppendTo writes the body's log form.
func (b *TaskFailedBody) AppendTo(dst []byte) []byte {
	return bus.AppendText(bus.AppendText(bus.AppendUint(dst, uint64(b.Task)), b.Code), b.Message)
}

// DecodeTaskFailed reads the body of RUN_TASK_FAILED.
func DecodeTaskFailed(raw []byte) (*TaskFailedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &TaskFailedBody{Task: d.Uint32(), Code: failure.Code(d.Text()), Message: d.Text()}
	return b, d.Done()
}

// PauseBody is the body of RUN_PAUSE_REQUESTED: a pause that takes effect when
// what is in progress has ended. Cause 0 takes it back.
type PauseBody struct {
	Cause  Cause
	Reason string
}

// AppendTo writes the body's log form.
func (b *PauseBody) AppendTo(dst []byte) []byte {
	return bus.AppendText(append(dst, byte(b.Cause)), b.Reason)
}

// DecodePause reads the body of RUN_PAUSE_REQUESTED.
func DecodePause(raw []byte) (*PauseBody, bool) {
	d := bus.NewDecoder(raw)
	b := &PauseBody{Cause: Cause(d.Byte()), Reason: d.Text()}
	return b, d.Done()
}

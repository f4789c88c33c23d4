package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// route says what becomes of one kind of record: how its body is read back
// from the log, which owner takes it in, and which flows react, in order.
type route struct {
	name   string
	decode func([]byte) (bus.Body, bool)
	apply  func(s *state.State, at bus.At, r bus.Record)
	react  []reaction
}

type reaction func(v flows.View, made bus.Record, out *bus.Batch)

// routes is the routing table (EV-5), indexed by kind. A kind without apply
// tells the log something that no table keeps.
var routes = [bus.Last + 1]route{
	bus.Event: {name: "EVENT", decode: body(event.DecodeRecorded), apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Sessions.ApplyEvent(at, r.Body.(*event.Recorded).Event, s.Config)
	}},
	bus.Outcome: {name: "OUTCOME", decode: body(event.DecodeOutcome), apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Sessions.ApplyOutcome(at, s.Log.Position, r.Body.(*event.Outcome), s.Config)
	}},
	bus.Duplicate:  {name: "DUPLICATE", decode: body(event.DecodeAgain)},
	bus.Quarantine: {name: "QUARANTINED", decode: body(execution.DecodeEmpty)},
	bus.KernelBooted: {name: "KERNEL_BOOTED", decode: body(decodeConfig), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Config = &r.Body.(*booted).Config
	}},

	bus.Interned: {name: "INTERNED", decode: body(interning.DecodeGained), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Interned.ApplyGained(r.Body.(*interning.Gained))
	}},
	bus.Released: {name: "RELEASED", decode: body(interning.DecodeLost), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Interned.ApplyLost(r.Body.(*interning.Lost))
	}},

	bus.AgentDefined: {name: "AGENT_DEFINED", decode: body(identity.DecodeDefined), apply: func(s *state.State, at bus.At, r bus.Record) {
		no, row := s.Agents.Append()
		if no != r.Agent {
			panic("kernel: agents are numbered densely")
		}
		s.Identity.Apply(&row.Identity, no, at, r.Body.(*identity.Defined))
	}},
	bus.Lifecycle: {name: "LIFECYCLE", decode: body(lifecycle.DecodeEvent), apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Lifecycle.Apply(at, r.Body.(*lifecycle.Event))
	}, react: []reaction{flows.Teardown, flows.Release, flows.Schedule}},
	bus.InvalidTransition: {name: "INVALID_TRANSITION", decode: body(lifecycle.DecodeRejection)},
	bus.AgentArchived: {name: "AGENT_ARCHIVED", decode: body(execution.DecodeEmpty), apply: func(s *state.State, _ bus.At, r bus.Record) {
		row := s.Agents.Edit(r.Agent)
		row.Identity.ApplyArchived()
		row.Execution.ApplyArchived()
		row.Permissions.ApplyArchived()
	}},

	bus.InstructionQueued: {name: "INSTRUCTION_QUEUED", decode: body(execution.DecodeInstruction), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyQueued(&s.Agents.Edit(r.Agent).Execution, r.Body.(*execution.InstructionBody))
	}, react: []reaction{flows.Schedule}},
	bus.TickScheduled: {name: "TICK_SCHEDULED", decode: body(execution.DecodePlace), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyScheduled(&s.Agents.Edit(r.Agent).Execution, r.Agent, r.Body.(*execution.PlaceBody))
	}},
	bus.TickFrozen: {name: "TICK_FROZEN", decode: body(execution.DecodePlace), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyFrozen(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.TickStarted: {name: "TICK_STARTED", decode: body(execution.DecodeStarted), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyStarted(&s.Agents.Edit(r.Agent).Execution, r.Tick, r.Body.(*execution.StartedBody))
	}},
	bus.Step: {name: "STEP", decode: body(execution.DecodeStep)},
	bus.TickCompleted: {name: "TICK_COMPLETED", decode: body(execution.DecodeCompleted), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyCompleted(&s.Agents.Edit(r.Agent).Execution, r.Tick, r.Body.(*execution.CompletedBody))
	}, react: []reaction{flows.Finish, flows.Schedule}},
	bus.TickPendingTool: {name: "TICK_PENDING_TOOL", decode: body(execution.DecodePending), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyPending(&s.Agents.Edit(r.Agent).Execution, r.Body.(*execution.PendingBody))
	}, react: []reaction{flows.Gate}},
	bus.TickFailed: {name: "TICK_FAILED", decode: body(execution.DecodeFailed), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyFailed(&s.Agents.Edit(r.Agent).Execution, r.Tick, r.Body.(*execution.FailedBody))
	}, react: []reaction{flows.Fault, flows.Finish, flows.Schedule}},
	bus.TickOverflow: {name: "TICK_OVERFLOW", decode: body(execution.DecodeOverflow)},
	bus.ResultDelivered: {name: "RESULT_DELIVERED", decode: body(execution.DecodeDelivered), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyDelivered(&s.Agents.Edit(r.Agent).Execution, r.Body.(*execution.DeliveredBody))
	}},
	bus.TickRestored: {name: "TICK_RESTORED", decode: body(execution.DecodeEmpty), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyRestored(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.QueueAllocated: {name: "QUEUE_ALLOCATED", decode: body(execution.DecodeEmpty), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyAllocated(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.QueueReleased: {name: "QUEUE_RELEASED", decode: body(execution.DecodeEmpty), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyReleased(&s.Agents.Edit(r.Agent).Execution)
	}},

	bus.GrantsAssigned: {name: "GRANTS_ASSIGNED", decode: body(permissions.DecodeAssigned), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Permissions.Apply(r.Body.(*permissions.Assigned))
	}},
	bus.Allow: {name: "ALLOW", decode: body(permissions.DecodeEvaluation)},
	bus.Deny:  {name: "DENY", decode: body(permissions.DecodeEvaluation)},

	bus.CallRequested: {name: "CALL_REQUESTED", decode: body(tools.DecodeRequested), apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Tools.ApplyRequested(r.Agent, r.Tick, at, r.Body.(*tools.RequestedBody))
	}},
	bus.CallDispatched: {name: "CALL_DISPATCHED", decode: body(tools.DecodeDispatched), apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Tools.ApplyDispatched(r.Agent, r.Tick, at, r.Body.(*tools.DispatchedBody))
	}},
	bus.ActionExecuted: {name: "ACTION_EXECUTED", decode: body(tools.DecodeAction), apply: resolveCall},
	bus.ActionFailed:   {name: "ACTION_FAILED", decode: body(tools.DecodeAction), apply: resolveCall},
	bus.StaleResult:    {name: "STALE_RESULT", decode: body(tools.DecodeStale)},

	bus.TimerSet: {name: "TIMER_SET", decode: body(timers.DecodeSet), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Timers.ApplySet(&s.Agents.Edit(r.Agent).Timer, r.Body.(*timers.Set))
	}},
	bus.TimerCleared: {name: "TIMER_CLEARED", decode: body(timers.DecodeCleared), apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Timers.ApplyCleared(&s.Agents.Edit(r.Agent).Timer, r.Body.(*timers.Cleared))
	}},
}

func resolveCall(s *state.State, _ bus.At, r bus.Record) {
	s.Tools.ApplyAction(r.Agent, r.Tick, r.Body.(*tools.ActionBody))
}

// KindName returns the specification's name of a record kind.
func KindName(k bus.Kind) string {
	if k <= bus.Last && routes[k].name != "" {
		return routes[k].name
	}
	return "UNKNOWN_RECORD"
}

// DecodeRecordBody reads the body of a record of that kind from the log.
func DecodeRecordBody(k bus.Kind, raw []byte) (bus.Body, bool) {
	if k > bus.Last || routes[k].decode == nil {
		return nil, false
	}
	return routes[k].decode(raw)
}

// body lifts a typed decoder to the table's type.
func body[T bus.Body](decode func([]byte) (T, bool)) func([]byte) (bus.Body, bool) {
	return func(raw []byte) (bus.Body, bool) {
		b, ok := decode(raw)
		return b, ok
	}
}

// booted is the body of a KernelBooted record.
type booted struct{ config.Config }

// AppendTo writes the body's log form: the configuration's canonical CBOR.
func (b *booted) AppendTo(dst []byte) []byte { return append(dst, event.Encode(&b.Config)...) }

func decodeConfig(raw []byte) (*booted, bool) {
	c, ok := event.DecodeBody[config.Config](raw)
	if !ok {
		return nil, false
	}
	return &booted{*c}, true
}

package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// settler ends calls of one tick: what came of each, its delivery, and with
// the last one row 7, which is the scheduler's (LC-6). The agent is WAITING,
// or COMPLETING, where the state does not change.
type settler struct {
	v    View
	t    Target
	tick uint64
	open int // calls without an answer
	out  *bus.Batch
}

func (v View) settling(t Target, out *bus.Batch) settler {
	s := settler{v: v, t: t, out: out}
	if tick := t.Row.Execution.Current; tick != nil {
		s.tick, s.open = tick.Seq, tick.Open()
	}
	return s
}

// settle delivers one answer.
func (s *settler) settle(tool string, a execution.Answer, millis int64, usage tools.Usage) {
	kind := bus.ActionExecuted
	if !a.OK {
		kind = bus.ActionFailed
	} else if len(a.Value) == 0 {
		a.Value = value.Null
	}
	r := &resolution{
		action:    tools.ActionBody{Call: a.Call, Tool: tool, Code: a.Code, Message: a.Message, Millis: millis, Usage: usage},
		delivered: execution.DeliveredBody{Answer: a},
	}
	s.add(kind, &r.action)
	s.add(bus.ResultDelivered, &r.delivered)
	s.open--
	if s.open == 0 && s.t.Row.Lifecycle.State != lifecycle.Completing {
		s.out.Add(transitionIn(&r.resume, s.t, lifecycle.Waiting, lifecycle.Resume, lifecycle.Scheduler, cause{tick: s.tick}))
	}
}

// resolution is the bodies of what ends a call, allocated together.
type resolution struct {
	action    tools.ActionBody
	delivered execution.DeliveredBody
	resume    lifecycle.Event
}

// succeed answers a call with a value.
func (s *settler) succeed(call uint32, tool string, v value.Raw) {
	if uint32(len(v)) > s.v.Config.MaxValueBytes {
		s.refuse(call, tool, &failure.Failure{Code: failure.ValueTooLarge, Message: "the answer is larger than max_value_bytes"})
		return
	}
	s.settle(tool, execution.Answer{Call: call, OK: true, Value: v}, 0, tools.Usage{})
}

// refuse answers a call with a failure.
func (s *settler) refuse(call uint32, tool string, f *failure.Failure) {
	s.settle(tool, execution.Answer{Call: call, Code: f.Code, Message: f.Message}, 0, tools.Usage{})
}

func (s *settler) add(kind bus.Kind, body bus.Body) {
	s.out.Add(bus.Record{Kind: kind, Agent: s.t.No, Tick: s.tick, Body: body})
}

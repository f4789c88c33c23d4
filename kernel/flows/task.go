package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// AnswerTask decides a TaskAnswer event: a person answers a call that waits for one,
// or will not (TO-12). The door has held the answer to the schema that the call's own
// revision promises. What was answered, withdrawn or timed out before, and a call that
// is no person's to answer, is STALE_RESULT.
func AnswerTask(v View, cmd *event.AnswerTask, principal string, out *bus.Batch) (Target, *Refusal) {
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return Target{}, refusal
	}
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	if uint32(len(cmd.Result)) > v.Config.MaxValueBytes {
		return t, refuse(failure.InvalidValue, "result", "must not be larger than max_value_bytes")
	}
	call, ok := v.Tools.Get(tools.Key{Agent: t.No, Tick: cmd.Tick, Call: cmd.Call})
	if !ok || !v.Tools.Asks(call) {
		refusal := refuseHint(failure.StaleResult, "task", "no such task waits: it was answered, withdrawn, or its time is over",
			"see what waits with: omni task list")
		refusal.Record = &bus.Record{Kind: bus.StaleResult, Agent: t.No, Tick: cmd.Tick, Body: &tools.StaleBody{Call: cmd.Call, OK: !cmd.Reject}}
		return t, refusal
	}
	out.Add(clearTimer(t.No, call.Deadline, call.Timer, false))
	s := v.settling(t, out)
	if cmd.Reject {
		s.refuse(call.Key.Call, call.Tool, declined(principal, cmd.Reason))
		return t, nil
	}
	s.settle(call.Tool, v.accept(&event.Result{Call: cmd.Call, OK: true, Value: cmd.Result}), 0, tools.Usage{})
	return t, nil
}

// declined is the failure of a call that a person would not answer.
func declined(by, reason string) *failure.Failure {
	message := "rejected by " + by
	if reason != "" {
		message += ": " + reason
	}
	return &failure.Failure{Code: failure.TaskRejected, Message: failure.Clip(message)}
}

// unanswered ends the wait for a person: nothing was done, and nobody failed, so that
// the program decides what follows, and no recovery asks again by itself.
func (v View) unanswered(t Target, call *tools.Call, out *bus.Batch) {
	s := v.settling(t, out)
	s.settle(call.Tool, execution.Answer{Call: call.Key.Call, Code: failure.ToolTimeout, Message: "nobody answered in time"}, 0, tools.Usage{})
}

package kerneltest

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Show writes a record as one line that a person can read: its kind, the agent
// under the name given to its number, tick and step where there are some, and
// what its body says. Times are milliseconds since the simulation's start.
func Show(r Record, names map[uint32]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%3d %s", r.Seq, r.Name)
	if r.Agent != 0 {
		fmt.Fprintf(&b, " %s", names[r.Agent])
	}
	if r.Tick != 0 {
		fmt.Fprintf(&b, " tick %d", r.Tick)
	}
	if r.Step != 0 {
		fmt.Fprintf(&b, " step %d", r.Step)
	}
	if words := describe(r); words != "" {
		fmt.Fprintf(&b, ": %s", words)
	}
	return b.String()
}

func describe(r Record) string {
	switch b := r.Content.(type) {
	case *event.Recorded:
		return fmt.Sprintf("%s from %s at %s", b.Event.Kind, b.Event.Principal, moment(b.Event.Wall))
	case *event.Outcome:
		return ShowOutcome(*b)
	case *event.Again:
		return fmt.Sprintf("answered at index %d", b.Index)
	case *interning.Gained:
		return showGained(b)
	case *interning.Lost:
		return fmt.Sprintf("bodies %v", b.Numbers)
	case *identity.Defined:
		return fmt.Sprintf("%s, %s, program %d, grants %d", b.Mode, b.Evaluator, b.Program, b.Grants)
	case *lifecycle.Event:
		return fmt.Sprintf("%s -> %s, %s by %s%s%s", b.From, b.To, b.Trigger, b.Caller, because(string(b.Code)), because(b.Reason))
	case *lifecycle.Rejection:
		word := b.Trigger.String()
		if b.Trigger == 0 {
			word = "kill"
		}
		return fmt.Sprintf("%s in %s by %s", word, b.From, b.Caller)
	case *permissions.Evaluation:
		return fmt.Sprintf("%s on %s by %s", b.Action, b.Resource, decider(b.Grant, b.Grants, b.Level))
	case *permissions.Assigned:
		return fmt.Sprintf("grants %d", b.Grants)
	case *timers.Set:
		return fmt.Sprintf("%d for %s, due at %s", b.Timer.ID, purpose(b.Timer.Purpose), moment(b.Timer.Deadline))
	case *timers.Cleared:
		return fmt.Sprintf("%d %s", b.ID, map[bool]string{true: "fired", false: "no longer wanted"}[b.Fired])
	}
	for _, describe := range []func(Record) string{describeTick, describeCall, describeTree, describeMemory} {
		if words := describe(r); words != "" {
			return words
		}
	}
	return ""
}

func describeTick(r Record) string {
	switch b := r.Content.(type) {
	case *execution.InstructionBody:
		return fmt.Sprintf("program %d, input %s", b.Program, text(b.Input))
	case *execution.PlaceBody:
		return fmt.Sprintf("place %d", b.Place)
	case *execution.StartedBody:
		return fmt.Sprintf("program %d, run %d", b.Program, b.Run)
	case execution.StepBody:
		return fmt.Sprintf("instruction %d", b.Node)
	case *execution.CompletedBody:
		return fmt.Sprintf("%s after %d steps", text(b.Value), b.Steps)
	case *execution.PendingBody:
		if b.Decision != nil {
			return fmt.Sprintf("call %d again, escalation %d approved: %t", b.First, b.Decision.Escalation, b.Decision.Approve)
		}
		var words []string
		for i, q := range b.Requests {
			words = append(words, fmt.Sprintf("call %d: %s %s", b.First+uint32(i), q.Tool, text(q.Args)))
		}
		return strings.Join(words, ", ")
	case *execution.EmittedBody:
		return text(b.Value)
	case *execution.EventBody:
		return text(b.Event)
	case *execution.FailedBody:
		return fmt.Sprintf("%s after %d steps: %s", b.Failure.Code, b.Steps, b.Failure.Message)
	case *execution.OverflowBody:
		return fmt.Sprintf("%d steps", b.Steps)
	case *execution.DeliveredBody:
		return fmt.Sprintf("call %d: %s%s", b.Answer.Call, answer(b.Answer.OK, b.Answer.Code), text(b.Answer.Value))
	}
	return ""
}

func describeCall(r Record) string {
	switch b := r.Content.(type) {
	case *tools.RequestedBody:
		again := map[bool]string{true: "may run twice", false: "must not run twice"}[b.Idempotent]
		return fmt.Sprintf("call %d: %s, %s, due at %s", b.Call, b.Resource, again, moment(b.Deadline))
	case *tools.DispatchedBody:
		return fmt.Sprintf("call %d by %s in term %d", b.Call, b.Node, b.Term)
	case *tools.ActionBody:
		return fmt.Sprintf("call %d: %s%s", b.Call, b.Tool, because(string(b.Code)))
	case *tools.RegisteredBody:
		return fmt.Sprintf("%s %s by %s", b.Manifest.Name, b.Manifest.Version, b.Manifest.Adapter)
	case *tools.DeregisteredBody:
		return fmt.Sprintf("%s, revision %d", b.Name, b.Revision)
	case *tools.StaleBody:
		if b.Call == 0 {
			return "a decision"
		}
		return fmt.Sprintf("call %d", b.Call)
	}
	return ""
}

// ShowOutcome writes what a command was answered.
func ShowOutcome(o event.Outcome) string {
	if !o.Done() {
		where := ""
		if o.Refusal.Field != "" {
			where = o.Refusal.Field + " "
		}
		return fmt.Sprintf("%s: %s%s", o.Refusal.Code, where, o.Refusal.Rule)
	}
	if o.Agent == [16]byte{} {
		return "done"
	}
	return "done, " + lifecycle.State(o.State).String()
}

func showGained(b *interning.Gained) string {
	var words []string
	for _, e := range b.Entries {
		class := [...]string{"", "program", "grants", "labels", "env"}[e.Class]
		words = append(words, fmt.Sprintf("%s %d%s", class, e.No, map[bool]string{true: " (new)"}[e.New]))
	}
	return strings.Join(words, ", ")
}

func purpose(p timers.Purpose) string {
	return [...]string{
		"", "a call", "a sleep", "a suspended agent", "a tombstone", "a message", "a retry", "a decision", "children", "a token",
	}[p]
}

// decider names the grant that decided, and whose list it stands in.
func decider(grant int32, list, level uint32) string {
	words := fmt.Sprintf("grant %d of list %d", grant, list)
	if grant == permissions.DefaultDeny {
		words = fmt.Sprintf("no grant of list %d", list)
	}
	if level != 0 {
		words += ", an ancestor's"
	}
	return words
}

func because(words string) string {
	if words == "" {
		return ""
	}
	return ", " + words
}

func answer(ok bool, code failure.Code) string {
	if ok {
		return ""
	}
	return string(code)
}

func moment(millis int64) string { return fmt.Sprintf("%+d", millis-Start) }

func text(v value.Raw) string {
	if v == nil {
		return ""
	}
	return string(v.AppendJSON(nil))
}

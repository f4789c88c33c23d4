package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// planned takes the result of a run's planner for its plan. What is no plan fails
// the run, with the rule that it breaks.
func (v View) planned(t Target, run *runs.Run, tick uint64, result value.Raw, out *bus.Batch) {
	gains := &interning.Gained{}
	p := planning{
		v: v, in: &interner{gains: gains, made: make(map[interning.Digest]uint32)},
		evaluator: t.Row.Identity.Evaluator, own: t.Row.Identity.Program, goal: run.Goal, config: run.Config,
	}
	tasks, bad := TasksIn(result)
	var plan *runs.PlannedBody
	if bad == nil {
		plan, bad = p.plan(tasks, "tasks")
	}
	if bad == nil {
		if refusal := p.in.room(v); refusal != nil {
			bad = &refusal.Refusal
		}
	}
	if bad != nil {
		rule := bad.Rule
		if bad.Field != "" {
			rule = bad.Field + ": " + rule
		}
		runMoves(t, run.State, runs.Fail, runCause{cause: runs.Kernel, code: failure.InvalidPlan, reason: failure.Clip(rule)}, out)
		v.completeRoot(t, tick, out)
		return
	}
	out.Add(bus.Record{Kind: bus.Interned, Body: gains})
	out.Add(bus.Record{Kind: bus.RunPlanned, Agent: t.No, Tick: tick, Body: plan})
	runMoves(t, run.State, runs.Ready, runCause{cause: runs.Kernel}, out)
}

// TasksIn reads a planner's result: a list of maps of name, program, input and
// uses, as a plan that is given.
func TasksIn(raw value.Raw) ([]event.RunTask, *failure.Refusal) {
	rd := value.NewReader(raw)
	n, ok := rd.ReadListHeader()
	if !ok {
		return nil, badPlan("", "the planner's result must be a list of tasks")
	}
	var tasks []event.RunTask
	for i := range n {
		task, bad := taskIn(rd.Skip(), "tasks["+strconv.FormatUint(i, 10)+"]")
		if bad != nil {
			return nil, bad
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

func taskIn(raw value.Raw, here string) (t event.RunTask, _ *failure.Refusal) {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok {
		return t, badPlan(here, "must be a map of name, program, input and uses")
	}
	for range n {
		key, _ := rd.ReadString()
		member := rd.Skip()
		switch key {
		case "name":
			if t.Name, ok = member.Text(); !ok {
				return t, badPlan(here+".name", "must be text")
			}
		case "program":
			t.Program = member
		case "input":
			t.Input = member
		case "uses":
			if t.Uses, ok = textsIn(member); !ok {
				return t, badPlan(here+".uses", "must be a list of names")
			}
		default:
			return t, badPlan(here, "must be a map of name, program, input and uses, and nothing else")
		}
	}
	return t, nil
}

func textsIn(raw value.Raw) (texts []string, ok bool) {
	rd := value.NewReader(raw)
	n, ok := rd.ReadListHeader()
	for range n {
		text, isText := rd.Skip().Text()
		if !isText {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, ok
}

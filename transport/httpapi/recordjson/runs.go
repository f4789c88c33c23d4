package recordjson

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// ofRun renders the bodies of runs.
func ofRun(_ *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *runs.DefinedBody:
		f := fields{"goal": b.Goal, "config": b.Config}
		return set(set(set(f, "seed", b.Seed), "planner", b.Planner), "start", b.AutoStart)
	case *runs.PlannedBody:
		tasks := make([]fields, len(b.Tasks))
		for i := range b.Tasks {
			t := &b.Tasks[i]
			tasks[i] = fields{"name": t.Name, "program": t.Program, "input": t.Input}
			if len(t.Uses) > 0 {
				tasks[i]["uses"] = t.Uses
			}
		}
		return fields{"tasks": tasks}
	case *runs.Event:
		f := fields{"from": b.From, "to": b.To, "trigger": b.Trigger, "cause": b.Cause}
		return set(set(set(f, "code", b.Code), "forced", b.Forced), "reason", b.Reason)
	case *runs.Rejection:
		return fields{"from": b.From, "trigger": b.Trigger, "cause": b.Cause}
	case *runs.TaskBody:
		return fields{"task": b.Task}
	case *runs.TaskFailedBody:
		return fields{"task": b.Task, "code": b.Code, "message": b.Message}
	case *runs.PauseBody:
		return set(fields{"cause": b.Cause}, "reason", b.Reason)
	}
	return nil
}

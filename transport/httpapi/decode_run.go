package httpapi

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// maxTasks bounds what one plan can be, whatever the cluster's configuration says.
const maxTasks = 1024

func decodePlanRun(raw value.Raw, path string, c *event.PlanRun) *api.Error {
	return eachField(raw, path, func(f field) *api.Error {
		switch f.key {
		case "agent":
			if f.raw == nil {
				return nil
			}
			d, e := decodeDefine(f.raw, f.path())
			c.Agent = *d
			return e
		case "name":
			return f.text(&c.Name)
		case "goal":
			return f.text(&c.Goal)
		case "config":
			return f.any(&c.Config)
		case "seed":
			return f.text(&c.Seed)
		case "planner":
			return f.any(&c.Planner)
		case "tasks":
			return decodeTasks(f, &c.Tasks)
		case "start":
			return f.flag(&c.Start)
		case "reason":
			return f.text(&c.Reason)
		}
		return f.unknown("agent, config, goal, name, planner, reason, seed, start, tasks")
	})
}

func decodeTasks(f field, into *[]event.RunTask) *api.Error {
	if f.raw.Len() > maxTasks {
		return invalid(f.path(), "must have at most 1024 tasks", "")
	}
	return f.eachItem(func(_ int, raw value.Raw, path string) *api.Error {
		var t event.RunTask
		e := eachField(raw, path, func(f field) *api.Error {
			switch f.key {
			case "name":
				return f.text(&t.Name)
			case "program":
				return f.any(&t.Program)
			case "input":
				return f.any(&t.Input)
			case "uses":
				return decodeUses(f, &t.Uses)
			}
			return f.unknown("input, name, program, uses")
		})
		*into = append(*into, t)
		return e
	})
}

func decodeUses(f field, into *[]string) *api.Error {
	if f.raw.Len() > maxTasks {
		return invalid(f.path(), "must name at most 1024 tasks", "")
	}
	return f.eachItem(func(_ int, raw value.Raw, path string) *api.Error {
		name, ok := raw.Text()
		if !ok {
			return invalid(path, "must be the name of a task", "")
		}
		*into = append(*into, name)
		return nil
	})
}

// The decoders of commands about a run take it from the address, which sets it
// first.

func decodeStartRun(raw value.Raw, path string, c *event.StartRun) *api.Error {
	return decodeOnRun(raw, path, onRun{run: &c.Run, reason: &c.Reason})
}

func decodePauseRun(raw value.Raw, path string, c *event.PauseRun) *api.Error {
	return decodeOnRun(raw, path, onRun{run: &c.Run, reason: &c.Reason, trigger: &c.Trigger, force: &c.Force})
}

func decodeResumeRun(raw value.Raw, path string, c *event.ResumeRun) *api.Error {
	return decodeOnRun(raw, path, onRun{run: &c.Run, reason: &c.Reason, trigger: &c.Trigger})
}

func decodeKillRun(raw value.Raw, path string, c *event.KillRun) *api.Error {
	return decodeOnRun(raw, path, onRun{run: &c.Run, reason: &c.Reason, trigger: &c.Trigger})
}

// onRun is where the fields of such a command go; nil for one that it has not.
type onRun struct {
	run, reason, trigger *string
	force                *bool
}

func (o *onRun) known(addressed bool) string {
	known := "reason"
	if o.force != nil {
		known = "force, " + known
	}
	if !addressed {
		known += ", run"
	}
	if o.trigger != nil {
		known += ", trigger"
	}
	return known
}

func decodeOnRun(raw value.Raw, path string, o onRun) *api.Error {
	addressed := *o.run != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "run" && !addressed:
			return f.text(o.run)
		case f.key == "reason":
			return f.text(o.reason)
		case f.key == "trigger" && o.trigger != nil:
			return f.text(o.trigger)
		case f.key == "force" && o.force != nil:
			return f.flag(o.force)
		}
		return f.unknown(o.known(addressed))
	})
}

package show

import "github.com/omnikernel/omnikernel/transport/api"

// Next says what becomes of a run by itself, or what somebody has to do.
func Next(r api.Run) string {
	switch r.State {
	case "PLANNING":
		return nextOfPlanning(r)
	case "PLANNED":
		return "start it with: omni run start " + r.RunID
	case "APPLYING":
		return nextOfApplying(r)
	case "PAUSED":
		return nextOfPaused(r)
	case "FAILED", "KILLED":
		return "it is over; what went wrong: omni agent faults " + r.RunID
	}
	return "it is over"
}

func nextOfPlanning(r api.Run) string {
	switch {
	case r.Pausing != "":
		return "its planner ends first; then it is PAUSED (omni run resume " + r.RunID + " takes that back)"
	case r.Start:
		return "its planner makes the plan, and it starts"
	}
	return "its planner makes the plan; then start it with: omni run start " + r.RunID
}

func nextOfApplying(r api.Run) string {
	name := runningTask(r)
	switch {
	case name == "":
		return "follow it with: omni run watch " + r.RunID
	case r.Pausing != "":
		return "task " + name + " ends first; then it is PAUSED (now: omni run pause " + r.RunID + " --force; not at all: omni run resume " + r.RunID + ")"
	case r.RetryAt != 0:
		return "task " + name + " failed in passing, and is tried again at " + when(r.RetryAt)
	}
	return "task " + name + " is running; follow it with: omni run watch " + r.RunID
}

func nextOfPaused(r api.Run) string {
	text := "go on with: omni run resume " + r.RunID
	if r.Last != nil && r.Last.Cause == "budget" {
		text = "give it more with: omni run budget " + r.RunID + "; then " + text
	}
	if name := runningTask(r); name != "" {
		text = "task " + name + " is frozen, and then asks again for what it waited for; " + text
	}
	return text
}

// runningTask is the name of the one in progress, if one is.
func runningTask(r api.Run) string {
	for i := range r.Tasks {
		if r.Tasks[i].State == "RUNNING" {
			return oneLine(r.Tasks[i].Name)
		}
	}
	return ""
}

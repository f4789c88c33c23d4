package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// RunDone is what came of a command about a run. Done's state is the root agent's.
type RunDone struct {
	api.Done
	RunState string `json:"run_state,omitempty"` // absent when it could not be read
	Next     string `json:"next,omitempty"`      // what happens next, or is to be done
}

// RunChanged tells that a command about a run took effect, where the run is now, and
// what happens next.
func RunChanged(p *tell.Page, what string, d RunDone) {
	again := ""
	if d.Repeated {
		again = " (before: this is the first answer again)"
	}
	p.Line("%s %s%s", what, p.Accent(d.AgentID), again)
	if d.RunState == "" {
		p.Line("%s", p.Faint(fmt.Sprintf("as of index %d, busSeq %d, answered by %s", d.Index, d.BusSeq, d.Node)))
		return
	}
	p.Line("%s%s", RunState(p.Style, d.RunState), p.Faint(fmt.Sprintf(" as of index %d, busSeq %d, answered by %s", d.Index, d.BusSeq, d.Node)))
	p.Line("next: %s", d.Next)
}

// Run shows everything about one run.
func Run(p *tell.Page, r api.Run) {
	p.Fields(
		[2]string{"run", p.Accent(r.RunID)},
		[2]string{"name", r.Name},
		[2]string{"state", RunState(p.Style, r.State)},
		[2]string{"because", stoodSince(r.Last)},
		[2]string{"next", Next(r)},
		[2]string{"goal", oneLine(r.Goal)},
		[2]string{"config", compact(r.Config)},
		[2]string{"seed", r.Seed},
		[2]string{"plan", planned(r)},
		[2]string{"tasks", fmt.Sprintf("%d of %d done", r.Done, r.Total)},
		[2]string{"budget", strings.Join(limits(r.Budget), "\n")},
		[2]string{"agent", r.Agent},
		[2]string{"waits for", waits(r.Waits)},
		[2]string{"children", children(r)},
		[2]string{"labels", pairs(r.Labels)},
		[2]string{"defined", when(r.DefinedAt)},
		[2]string{"begun", when(r.StartedAt)},
		[2]string{"as of", asOf(r.As)},
	)
	if len(r.Tasks) == 0 {
		return
	}
	p.Line("")
	rows := make([][]string, 0, len(r.Tasks))
	for i := range r.Tasks {
		t := &r.Tasks[i]
		rows = append(rows, []string{
			t.Name, taskState(p.Style, t.State), when(t.StartedAt), took(t), times(t.Retries), strings.Join(t.Uses, " "), cameTo(t),
		})
	}
	p.Table([]string{"TASK", "STATE", "BEGUN", "TOOK", "RETRIES", "USES", "CAME TO"}, rows)
}

// Runs shows a list.
func Runs(p *tell.Page, page api.RunPage) {
	rows := make([][]string, 0, len(page.Runs))
	for _, r := range page.Runs {
		rows = append(rows, []string{
			r.RunID, RunState(p.Style, r.State), fmt.Sprintf("%d/%d", r.Done, r.Total), when(r.DefinedAt), r.Name, pairs(r.Labels),
		})
	}
	if len(rows) > 0 {
		p.Table([]string{"RUN", "STATE", "DONE", "DEFINED", "NAME", "LABELS"}, rows)
	}
	p.Line("%s", p.Faint(fmt.Sprintf("%d runs, %s", len(rows), asOf(page.As))))
	if page.Next != "" {
		p.Line("%s", p.Faint("more: add --after "+page.Next))
	}
}

// RunBudget shows what a run may spend and has spent, and how to go on.
func RunBudget(p *tell.Page, r api.Run) {
	if r.Budget == nil {
		p.Line("%s has no budget: nothing limits what it spends", p.Accent(r.RunID))
		p.Line("%s", p.Faint(asOf(r.As)))
		return
	}
	p.Fields(
		[2]string{"run", p.Accent(r.RunID)},
		[2]string{"state", RunState(p.Style, r.State)},
		[2]string{"because", stoodSince(r.Last)},
		[2]string{"tokens", spent(r.Budget.Tokens, plainly)},
		[2]string{"US dollars", spent(r.Budget.USDMicros, dollars)},
		[2]string{"time at work", worked(r.Budget.Wall)},
		[2]string{"warning", fmt.Sprintf("at %d %% of a limit: it pauses the run", r.Budget.WarnPercent)},
		[2]string{"waiting", count(r.Budget.Waiting)},
		[2]string{"next", Next(r)},
	)
	p.Line("%s", p.Faint(asOf(r.As)))
}

// RunState dresses the name of a run's state.
func RunState(s tell.Style, name string) string {
	switch name {
	case "APPLYING", "COMPLETED":
		return s.Good(name)
	case "PLANNING", "PLANNED", "PAUSED":
		return s.Warn(name)
	case "FAILED", "KILLED":
		return s.Bad(name)
	}
	return name
}

func taskState(s tell.Style, name string) string {
	switch name {
	case "DONE":
		return s.Good(name)
	case "RUNNING":
		return s.Warn(name)
	case "FAILED":
		return s.Bad(name)
	}
	return s.Faint(name)
}

// stoodSince says why a run is where it is, and since when.
func stoodSince(last *api.RunStep) string {
	if last == nil {
		return ""
	}
	return "since " + when(last.AtMillis) + ", " + Cause(last)
}

// Cause is why a transition of a run was taken.
func Cause(step *api.RunStep) string {
	text := step.Trigger + " (" + step.Cause + ")"
	if step.Code != "" {
		text += ": " + step.Code
	}
	if step.Reason != "" {
		text += ": " + oneLine(step.Reason)
	}
	return text
}

func planned(r api.Run) string {
	switch {
	case r.Planner && r.Total == 0:
		return "made by a planner"
	case r.Planner:
		return "was made by a planner"
	}
	return "given"
}

func children(r api.Run) string {
	if r.Children == 0 {
		return ""
	}
	return count(r.Children) + ": omni agent tree " + r.RunID
}

func limits(account *api.Account) (parts []string) {
	if account == nil {
		return nil
	}
	for _, one := range [...]string{spent(account.Tokens, plainly), spent(account.USDMicros, dollars), worked(account.Wall)} {
		if one != "" {
			parts = append(parts, one)
		}
	}
	return parts
}

// took is how long a task that has ended was at it.
func took(t *api.TaskProgress) string {
	if t.StartedAt == 0 || t.EndedAt == 0 {
		return ""
	}
	return span(t.EndedAt - t.StartedAt)
}

// span is milliseconds for people.
func span(millis int64) string { return (time.Duration(millis) * time.Millisecond).String() }

func times(n uint32) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

// cameTo is a task's result, or why it has none.
func cameTo(t *api.TaskProgress) string {
	if t.Code != "" {
		return clip(t.Code + ": " + oneLine(t.Message))
	}
	return clip(compact(t.Result))
}

// oneLine takes out of a text what would move a terminal's cursor.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

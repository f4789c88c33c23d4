package show

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// RunStands is the line of a run as it is.
func RunStands(p *tell.Page, r api.Run) {
	at, why := r.DefinedAt, ""
	if r.Last != nil {
		at, why = r.Last.AtMillis, " "+Cause(r.Last)
	}
	p.Line("%s %s%s, %d of %d tasks done", p.Faint(when(at)), RunState(p.Style, r.State), why, r.Done, r.Total)
}

// runBody is what records of runs and budgets hold, of all kinds together.
type runBody struct {
	Task    int
	From    string
	To      string
	Trigger string
	Cause   string
	Code    string
	Reason  string
	Message string

	Of       string
	Limit    uint64
	Used     uint64
	Reserved uint64
	Wanted   uint64

	Tokens      uint64 `json:"tokens"`
	USDMicros   uint64 `json:"usd_micros"`
	WallMillis  int64  `json:"wall_ms"`
	WarnPercent uint32 `json:"warn_percent"`
}

// RunHappened is the line of a record of a run's root agent; nothing for one that
// people need not know. The run is as of the record, or later.
func RunHappened(p *tell.Page, r api.Run, record api.Record) {
	var b runBody
	if len(record.Body) > 0 && json.Unmarshal(record.Body, &b) != nil {
		return
	}
	if text := runEvent(p, r, record.Kind, &b); text != "" {
		p.Line("%s %s", p.Faint(when(record.AtMillis)), text)
	}
}

func runEvent(p *tell.Page, r api.Run, kind string, b *runBody) string {
	switch kind {
	case "RUN_PLANNED":
		return plan(r)
	case "RUN_TRANSITION":
		return RunState(p.Style, b.To) + " " + Cause(&api.RunStep{Trigger: b.Trigger, Cause: b.Cause, Code: b.Code, Reason: b.Reason})
	case "INVALID_RUN_TRANSITION":
		return p.Warn("refused:") + " " + b.Trigger + " (" + b.Cause + ") of a run that is " + b.From
	case "RUN_PAUSE_REQUESTED":
		if b.Cause == "" {
			return "the pause is taken back" + withReason(b.Reason)
		}
		return "a pause is asked for (" + b.Cause + ")" + withReason(b.Reason)
	case "RUN_TASK_STARTED", "RUN_TASK_COMPLETED", "RUN_TASK_FAILED":
		return taskHappened(p, r, kind, b)
	case "BUDGET_WARNING", "BUDGET_EXCEEDED", "BUDGET_CHANGED":
		return budgetHappened(p, kind, b)
	case "LIFECYCLE":
		if name := runningTask(r); b.To == "FAULTED" && r.RetryAt != 0 && name != "" {
			return "task " + name + p.Warn(" failed in passing: ") + b.Code + ", tried again at " + when(r.RetryAt)
		}
	}
	return ""
}

// plan names the tasks.
func plan(r api.Run) string {
	names := make([]string, len(r.Tasks))
	for i := range r.Tasks {
		names[i] = oneLine(r.Tasks[i].Name)
	}
	return clip(fmt.Sprintf("the plan has %d tasks: %s", len(names), strings.Join(names, ", ")))
}

func taskHappened(p *tell.Page, r api.Run, kind string, b *runBody) string {
	if b.Task < 0 || b.Task >= len(r.Tasks) {
		return fmt.Sprintf("task %d %s", b.Task+1, kind) // archived in the meantime: its name is in the log
	}
	t := &r.Tasks[b.Task]
	text := fmt.Sprintf("task %d/%d %s ", b.Task+1, len(r.Tasks), oneLine(t.Name))
	switch kind {
	case "RUN_TASK_STARTED":
		return text + "begins"
	case "RUN_TASK_COMPLETED":
		return text + p.Good("done") + " in " + took(t) + ": " + clip(compact(t.Result))
	}
	return text + p.Bad("failed") + ": " + clip(b.Code+": "+oneLine(b.Message))
}

func budgetHappened(p *tell.Page, kind string, b *runBody) string {
	if kind == "BUDGET_CHANGED" {
		return "the budget is another one: " + newLimits(b) + withReason(b.Reason)
	}
	text := p.Warn("warning:")
	if kind == "BUDGET_EXCEEDED" {
		text = p.Bad("budget exceeded:")
	}
	text += " " + ofBudget(b.Of, b.Used) + " of " + ofBudget(b.Of, b.Limit) + " are used"
	if b.Reserved > 0 {
		text += ", " + ofBudget(b.Of, b.Reserved) + " reserved"
	}
	if b.Wanted > 0 {
		text += ", " + ofBudget(b.Of, b.Wanted) + " wanted"
	}
	return text
}

// ofBudget writes an amount of a kind of budget.
func ofBudget(kind string, n uint64) string {
	switch kind {
	case "usd_micros":
		return dollars(n)
	case "wall_ms":
		return elapsed(int64(n))
	}
	return plainly(n)
}

func newLimits(b *runBody) string {
	var parts []string
	for _, limit := range [...]struct {
		kind string
		n    uint64
	}{{"tokens", b.Tokens}, {"usd_micros", b.USDMicros}, {"wall_ms", uint64(b.WallMillis)}} {
		if limit.n > 0 {
			parts = append(parts, ofBudget(limit.kind, limit.n))
		}
	}
	if len(parts) == 0 {
		return "no limit"
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(", warning at %d %%", b.WarnPercent)
}

func withReason(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + oneLine(reason)
}

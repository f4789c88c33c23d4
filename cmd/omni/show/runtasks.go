package show

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/omnikernel/omnikernel/transport/api"
)

// tasks are the lines of a plan: all, or those around the one that is next.
func (f *RunFrame) tasks(r api.Run, rows int) []string {
	from, to := 0, len(r.Tasks)
	if to > rows {
		from, to = window(len(r.Tasks), int(r.Done), rows)
	}
	names := 0
	for i := range r.Tasks {
		names = max(names, lipgloss.Width(oneLine(r.Tasks[i].Name)))
	}
	names = max(1, min(names, f.Columns-2, max(8, f.Columns/3)))
	var lines []string
	if from > 0 && rows > 2 {
		lines = append(lines, f.Faint(f.cut(fmt.Sprintf("  %d before", from), f.Columns)))
	}
	for i := from; i < to; i++ {
		lines = append(lines, f.task(r, &r.Tasks[i], names))
	}
	if left := len(r.Tasks) - to; left > 0 && rows > 2 {
		lines = append(lines, f.Faint(f.cut(fmt.Sprintf("  %d after", left), f.Columns)))
	}
	return lines
}

// window chooses which of n tasks are shown in so many rows: the one that is next, some
// before it, more after it. Two rows are for how many are left out.
func window(n, next, rows int) (from, to int) {
	if rows > 2 {
		rows -= 2
	}
	from = max(0, min(next-rows/3, n-rows))
	return from, min(n, from+rows)
}

// What a task's line is made of, in columns.
const (
	stateColumns = 7 // waiting, running, failed
	timeColumns  = 7
	leastDetail  = 12
)

// task is the line of one: how it stands, how long it took, and what came of it. Narrow
// lines leave out the latter first, and then the word for the former.
func (f *RunFrame) task(r api.Run, t *api.TaskProgress, names int) string {
	word, dress, mark := f.standing(r, t)
	name := oneLine(t.Name)
	if f.Columns < 2+names {
		return dress(mark)
	}
	line := dress(mark) + " " + pad(f.cut(name, names), names)
	used := 2 + names
	if used+2+stateColumns <= f.Columns {
		line += "  " + dress(pad(word, stateColumns))
		used += 2 + stateColumns
	}
	if used+1+timeColumns <= f.Columns {
		line += " " + padLeft(f.cut(f.took(r, t), timeColumns), timeColumns)
		used += 1 + timeColumns
	}
	if used+2+leastDetail <= f.Columns {
		if detail := f.detail(r, t); detail != "" {
			line += "  " + f.Faint(f.cut(detail, f.Columns-used-2))
		}
	}
	return strings.TrimRight(line, " ")
}

// standing is how far a task is: a word, its colour, a mark.
func (f *RunFrame) standing(r api.Run, t *api.TaskProgress) (word string, dress func(string) string, mark string) {
	marks := [...]string{"·", "✔", "✘", "‖"}
	turning := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if f.ASCII {
		marks, turning = [...]string{".", "*", "!", "="}, []string{"-", "\\", "|", "/"}
	}
	switch {
	case t.State == "DONE":
		return "done", f.Good, marks[1]
	case t.State == "FAILED":
		return "failed", f.Bad, marks[2]
	case t.State == "RUNNING" && r.State == "PAUSED":
		return "frozen", f.Warn, marks[3]
	case t.State == "RUNNING":
		return "running", f.Accent, turning[f.Now/200%int64(len(turning))]
	}
	return "waiting", f.Faint, marks[0]
}

func (f *RunFrame) took(r api.Run, t *api.TaskProgress) string {
	switch {
	case t.StartedAt == 0:
		return ""
	case t.EndedAt != 0:
		return elapsed(t.EndedAt - t.StartedAt)
	case r.State == "PAUSED" && r.Last != nil:
		return elapsed(r.Last.AtMillis - t.StartedAt)
	}
	return elapsed(f.Now - t.StartedAt)
}

// detail is what a task came to, or waits for.
func (f *RunFrame) detail(r api.Run, t *api.TaskProgress) string {
	if t.State != "RUNNING" {
		return cameTo(t)
	}
	var parts []string
	if t.Retries > 0 {
		parts = append(parts, fmt.Sprintf("retry %d", t.Retries))
	}
	if len(r.Waits) > 0 {
		parts = append(parts, "waits for "+strings.ReplaceAll(waits(r.Waits[:1]), "\n", " "))
	}
	if n := len(r.Waits); n > 1 {
		parts = append(parts, fmt.Sprintf("and %d more", n-1))
	}
	return strings.Join(parts, ", ")
}

// elapsed is a time in few letters. Clocks of people and clusters differ: it is never
// negative.
func elapsed(millis int64) string {
	d := time.Duration(max(0, millis)) * time.Millisecond
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-lipgloss.Width(text)))
}

func padLeft(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-lipgloss.Width(text))) + text
}

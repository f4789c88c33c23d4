package show

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// RunFrame is how a run looks at a time, for a terminal: its state, a line for each
// task, bars for what it has spent, and what happens next.
type RunFrame struct {
	tell.Style
	Columns, Rows int   // that it may take
	ASCII         bool  // draws with ASCII alone
	Now           int64 // Unix milliseconds
}

// Lines draws the run. There are at most Rows, none wider than Columns: what matters
// least is left out first.
func (f *RunFrame) Lines(r api.Run) []string {
	head, bars, notes := f.head(r), f.bars(r), f.notes(r)
	left := f.Rows - len(head) - len(bars) - len(notes)
	least := min(3, len(r.Tasks))
	if left < least {
		left += len(notes)
		notes = nil
	}
	if left < least {
		left += len(head) - 1
		head = head[:1]
	}
	blanks := 0
	if left >= len(r.Tasks)+3 || left >= least+6 {
		blanks = 3
	}
	var lines []string
	for _, part := range [][]string{head, f.tasks(r, max(0, left-blanks)), bars, notes} {
		if blanks > 0 && len(lines) > 0 && len(part) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, part...)
	}
	return lines[:min(len(lines), f.Rows)]
}

// head is the name, the state, how far and for how long; the id; the goal.
func (f *RunFrame) head(r api.Run) []string {
	name := oneLine(r.Name)
	if name == "" {
		name = r.RunID
	}
	words := []string{fmt.Sprintf("%d of %d tasks", r.Done, r.Total)}
	if r.StartedAt != 0 {
		end := f.Now
		if r.Last != nil && isOver(r.State) {
			end = r.Last.AtMillis
		}
		words = append(words, elapsed(end-r.StartedAt))
	}
	about := "  " + strings.Join(words, "  ")
	name = f.cut(name, max(8, f.Columns-len(r.State)-2-len(about)))
	first := f.Bold(name) + "  " + RunState(f.Style, r.State)
	if lipgloss.Width(name)+2+len(r.State)+len(about) <= f.Columns {
		first += f.Faint(about)
	} else if lipgloss.Width(name)+2+len(r.State) > f.Columns {
		first = RunState(f.Style, f.cut(r.State, f.Columns))
	}
	lines := []string{first}
	if r.Name != "" && len(r.RunID) <= f.Columns {
		lines = append(lines, f.Faint(r.RunID))
	}
	if r.Goal != "" {
		lines = append(lines, f.cut(oneLine(strings.TrimSpace(r.Goal)), f.Columns))
	}
	return lines
}

// notes are why it stands still, and what is to be done.
func (f *RunFrame) notes(r api.Run) (lines []string) {
	switch {
	case r.State == "COMPLETED", r.State == "APPLYING" && r.Pausing == "" && r.RetryAt == 0:
		return nil // the tasks tell it
	case r.Last != nil && (r.State == "PAUSED" || isOver(r.State)):
		lines = f.wrap(r.State+": "+Cause(r.Last), 2)
	}
	return append(lines, f.wrap("next: "+Next(r), 4)...)
}

func isOver(state string) bool { return state == "COMPLETED" || state == "FAILED" || state == "KILLED" }

// cut shortens a text to so many columns.
func (f *RunFrame) cut(text string, columns int) string {
	if lipgloss.Width(text) <= columns {
		return text
	}
	more := "…"
	if f.ASCII {
		more = "~"
	}
	if columns < 1 {
		return ""
	}
	var b strings.Builder
	width := 0
	for _, r := range text {
		w := lipgloss.Width(string(r))
		if width+w > columns-1 {
			break
		}
		b.WriteRune(r)
		width += w
	}
	return b.String() + more
}

// wrap breaks a text between words into at most so many lines; words that are longer
// than a line, and what comes after the last, are cut.
func (f *RunFrame) wrap(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case lipgloss.Width(line)+1+lipgloss.Width(word) <= f.Columns || len(lines) == most-1:
			line += " " + word
		default:
			lines = append(lines, f.cut(line, f.Columns))
			line = word
		}
	}
	return append(lines, f.cut(line, f.Columns))
}

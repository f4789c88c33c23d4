package summary

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// Row is one run among many.
type Row struct {
	Scenario   string        `json:"scenario"`
	Seed       uint64        `json:"seed"`
	Operations int           `json:"operations"`
	Unknown    int           `json:"unknown"`
	Faults     int           `json:"faults"`
	Findings   int           `json:"findings"`
	Verdict    check.Word    `json:"verdict"`
	Took       time.Duration `json:"took_ns"`
	Dir        string        `json:"dir,omitempty"`   // where its report is
	Error      string        `json:"error,omitempty"` // why there is no verdict
}

// RowOf is the row of a run that was judged.
func RowOf(run *report.Run, j *report.Judgement, h *history.History, dir string) Row {
	row := Row{
		Scenario: run.Name, Seed: run.Seed, Operations: len(h.Ops), Faults: len(h.Faults),
		Verdict: j.Word, Took: run.Took, Dir: dir,
	}
	for i := range h.Ops {
		if h.Ops[i].Outcome == history.Unknown {
			row.Unknown++
		}
	}
	for i := range j.Checkers {
		row.Findings += len(j.Checkers[i].Findings)
	}
	return row
}

// Total is all rows together: valid when all are, invalid when one is.
type Total struct {
	Runs       int           `json:"runs"`
	Valid      int           `json:"valid"`
	Invalid    int           `json:"invalid"`
	Unclear    int           `json:"unclear"`
	Operations int           `json:"operations"`
	Unknown    int           `json:"unknown"`
	Faults     int           `json:"faults"`
	Findings   int           `json:"findings"`
	Took       time.Duration `json:"took_ns"`
}

// Add puts rows together. A run without a verdict is unclear.
func Add(rows []Row) Total {
	t := Total{Runs: len(rows)}
	for i := range rows {
		r := &rows[i]
		t.Operations += r.Operations
		t.Unknown += r.Unknown
		t.Faults += r.Faults
		t.Findings += r.Findings
		t.Took += r.Took
		switch r.Verdict {
		case check.Valid:
			t.Valid++
		case check.Invalid:
			t.Invalid++
		default:
			t.Unclear++
		}
	}
	return t
}

// Encode writes the rows and their total as JSON.
func Encode(w io.Writer, rows []Row) error {
	if rows == nil {
		rows = []Row{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Runs  []Row `json:"runs"`
		Total Total `json:"total"`
	}{rows, Add(rows)})
}

var heads = []string{"scenario", "seed", "operations", "unknown", "faults", "findings", "took"}

// Table prints the rows and their total. What says why there is no verdict, and
// where the report of a run that is not valid lies, stands below its line.
func Table(w io.Writer, s Style, rows []Row) error {
	total := Add(rows)
	lines := [][]string{heads}
	for i := range rows {
		r := &rows[i]
		lines = append(lines, []string{
			plain.Text(r.Scenario, 40), fmt.Sprint(r.Seed), plain.Count(r.Operations), plain.Count(r.Unknown), plain.Count(r.Faults), plain.Count(r.Findings), took(r.Took),
		})
	}
	lines = append(lines, []string{
		plain.Plural(total.Runs, "run", "runs"), "", plain.Count(total.Operations), plain.Count(total.Unknown), plain.Count(total.Faults), plain.Count(total.Findings), took(total.Took),
	})
	wide := make([]int, len(heads))
	for _, line := range lines {
		for i, cell := range line {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for i, line := range lines {
		switch {
		case i == 0:
			out.WriteString(left("verdict", len(s.indent())-2))
		case i <= len(rows):
			out.WriteString(s.word(wordOf(&rows[i-1])))
		default:
			out.WriteString(s.word(total.Word()))
		}
		for j, cell := range line {
			out.WriteString("  ")
			if j == 0 {
				out.WriteString(left(cell, wide[j]))
				continue
			}
			out.WriteString(right(cell, wide[j]))
		}
		out.WriteByte('\n')
		if i > 0 && i <= len(rows) {
			below(&out, s, &rows[i-1])
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func below(out *strings.Builder, s Style, r *Row) {
	if r.Error != "" {
		fmt.Fprintf(out, "%s%s\n", s.indent(), plain.Text(r.Error, 500))
	}
	if r.Verdict != check.Valid && r.Dir != "" {
		fmt.Fprintf(out, "%ssee %s\n", s.indent(), plain.Text(r.Dir, 500))
	}
}

// Word is the verdict of all runs.
func (t *Total) Word() check.Word {
	switch {
	case t.Invalid > 0:
		return check.Invalid
	case t.Unclear > 0 || t.Runs == 0:
		return check.Unclear
	}
	return check.Valid
}

func wordOf(r *Row) check.Word {
	if r.Verdict == "" {
		return check.Unclear
	}
	return r.Verdict
}

func took(d time.Duration) string { return d.Round(time.Second / 10).String() }

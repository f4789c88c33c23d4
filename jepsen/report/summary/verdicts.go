package summary

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// Verdicts prints what was found in one run: a line for each checker, what it
// found below it, and at last the verdict of the run.
func Verdicts(w io.Writer, s Style, j *report.Judgement) error {
	var out strings.Builder
	name, took := 0, 0
	for i := range j.Checkers {
		v := &j.Checkers[i]
		name = max(name, utf8.RuneCountInString(checkerOf(v)))
		took = max(took, utf8.RuneCountInString(tookOf(v)))
	}
	for i := range j.Checkers {
		v := &j.Checkers[i]
		fmt.Fprintf(&out, "%s  %s  %s  %s\n", s.word(v.Word), left(checkerOf(v), name), right(tookOf(v), took), figuresOf(v))
		for _, f := range v.Findings {
			fmt.Fprintf(&out, "%s%s\n", s.indent(), findingOf(&f))
		}
		for _, file := range v.Files {
			fmt.Fprintf(&out, "%ssee pictures/%s\n", s.indent(), plain.Text(file, 200))
		}
	}
	fmt.Fprintf(&out, "%s  the run, by %s\n", s.word(j.Word), plain.Plural(len(j.Checkers), "checker", "checkers"))
	_, err := io.WriteString(w, out.String())
	return err
}

func checkerOf(v *check.Verdict) string { return plain.Text(v.Checker, 40) }

func tookOf(v *check.Verdict) string {
	if v.Millis <= 0 {
		return "under 1 ms"
	}
	return plain.Span(v.Millis * 1e6)
}

func figuresOf(v *check.Verdict) string {
	if len(v.Figures) == 0 {
		return "looked at nothing"
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(v.Figures)) {
		said = append(said, plain.Count(v.Figures[name])+" "+plain.Text(name, 40))
	}
	return strings.Join(said, ", ")
}

func findingOf(f *check.Finding) string {
	text := plain.Text(f.Text, 1000)
	if f.At > 0 {
		text += ", at " + plain.Clock(f.At)
	}
	if len(f.Ops) > 0 {
		ops := f.Ops[:min(len(f.Ops), 8)]
		text += fmt.Sprintf(", operations %v", ops)
		if len(ops) < len(f.Ops) {
			text += fmt.Sprintf(" and %d more", len(f.Ops)-len(ops))
		}
	}
	return text
}

func left(text string, wide int) string {
	return text + strings.Repeat(" ", max(0, wide-utf8.RuneCountInString(text)))
}

func right(text string, wide int) string {
	return strings.Repeat(" ", max(0, wide-utf8.RuneCountInString(text))) + text
}

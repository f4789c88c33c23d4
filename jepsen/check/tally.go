package check

import (
	"fmt"
	"time"
)

// tally collects a verdict.
type tally struct {
	verdict Verdict
	doubts  []Finding
	began   time.Time
}

func newTally(checker string) *tally {
	return &tally{began: time.Now(), verdict: Verdict{Checker: checker, Word: Valid, Figures: map[string]int64{}}}
}

// count adds to a figure. A figure of 0 is shown too: it was looked at.
func (t *tally) count(figure string, n int) { t.verdict.Figures[figure] += int64(n) }

// most keeps the largest of a figure.
func (t *tally) most(figure string, n int64) {
	t.verdict.Figures[figure] = max(t.verdict.Figures[figure], n)
}

// find notes something that must not be, at a time of the run, or 0, as some
// operations show.
func (t *tally) find(at int64, ops []uint64, format string, args ...any) {
	t.count("findings", 1)
	if len(t.verdict.Findings) < MaxFindings {
		t.verdict.Findings = append(t.verdict.Findings, Finding{Text: fmt.Sprintf(format, args...), At: at, Ops: ops})
	}
}

// doubt notes why nothing has been shown.
func (t *tally) doubt(at int64, ops []uint64, format string, args ...any) {
	t.count("doubts", 1)
	if len(t.doubts) < MaxFindings {
		t.doubts = append(t.doubts, Finding{Text: fmt.Sprintf(format, args...), At: at, Ops: ops})
	}
}

// end is the verdict: what must not be outweighs what is not known.
func (t *tally) end() Verdict {
	v := t.verdict
	switch {
	case len(v.Findings) > 0:
		v.Word = Invalid
	case len(t.doubts) > 0:
		v.Word = Unclear
	}
	v.Findings = append(v.Findings, t.doubts...)
	v.Millis = time.Since(t.began).Milliseconds()
	return v
}

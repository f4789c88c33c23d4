package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// mark is a verdict for people who see colours and for those who do not.
type mark struct{ Class, Sign, Text string }

func markOf(word check.Word) mark {
	switch word {
	case check.Valid:
		return mark{"valid", "✓", "valid"}
	case check.Invalid:
		return mark{"invalid", "✗", "invalid"}
	case check.Unclear, "":
		return mark{"unclear", "?", "unclear"}
	}
	return mark{"unclear", "?", plain.Text(string(word), 30)}
}

// said is the verdict of the run in a sentence.
func said(word check.Word, verdicts []check.Verdict) string {
	if len(verdicts) == 0 {
		return "Nobody has judged this run."
	}
	named := func(word check.Word) string {
		var names []string
		for i := range verdicts {
			if verdicts[i].Word == word {
				names = append(names, plain.Text(verdicts[i].Checker, 60))
			}
		}
		return strings.Join(names, ", ")
	}
	switch word {
	case check.Valid:
		return fmt.Sprintf("%s found nothing that must not be.", plain.Plural(len(verdicts), "checker", "checkers"))
	case check.Invalid:
		return "There is something that must not be, by: " + named(check.Invalid) + "."
	}
	return "It cannot be said whether the run is good. Unclear is: " + named(check.Unclear) + "."
}

// verdict is what one checker found.
type verdict struct {
	Word     mark
	Checker  string
	Figures  []Fact
	Took     string
	Findings []finding
	Pictures []link
}

// finding is one thing that must not be. Mark is its number on the page.
type finding struct {
	Mark int
	Text string
	At   string // where the timeline has it; empty when nobody knows
	Ops  []shownOp
	More string
}

func verdictsOf(p *Page) []verdict {
	var shown []verdict
	number := 0
	for i := range p.Verdicts {
		given := &p.Verdicts[i]
		v := verdict{Word: markOf(given.Word), Checker: plain.Text(given.Checker, 60), Took: "under 1 ms"}
		if given.Millis > 0 {
			v.Took = plain.Span(given.Millis * 1e6)
		}
		for _, name := range slices.Sorted(maps.Keys(given.Figures)) {
			v.Figures = append(v.Figures, Fact{plain.Text(name, 60), plain.Count(given.Figures[name])})
		}
		for j := range given.Findings {
			number++
			v.Findings = append(v.Findings, findingOf(p.History, &given.Findings[j], number))
		}
		for _, file := range given.Files {
			v.Pictures = append(v.Pictures, linkTo(p.Pictures, file))
		}
		shown = append(shown, v)
	}
	return shown
}

// maxShownOps bounds the operations that are shown of a finding.
const maxShownOps = 12

func findingOf(h *history.History, given *check.Finding, number int) finding {
	f := finding{Mark: number, Text: plain.Text(given.Text, 4000)}
	if at, known := placeOf(h, given); known {
		f.At = plain.Clock(at)
	}
	for i, id := range given.Ops {
		if i == maxShownOps {
			f.More = fmt.Sprintf("and %s", plain.Plural(len(given.Ops)-i, "operation more", "operations more"))
			break
		}
		f.Ops = append(f.Ops, shownOpOf(h, id))
	}
	return f
}

// placeOf is when it happened: as the checker says, or when the first of its
// operations was called.
func placeOf(h *history.History, given *check.Finding) (int64, bool) {
	if given.At > 0 {
		return given.At, true
	}
	for _, id := range given.Ops {
		if op := opOf(h, id); op != nil {
			return op.Called, true
		}
	}
	return 0, false
}

func opOf(h *history.History, id uint64) *history.Op {
	at, found := slices.BinarySearchFunc(h.Ops, id, func(op history.Op, id uint64) int { return cmp.Compare(op.ID, id) })
	if !found {
		return nil
	}
	return &h.Ops[at]
}

// shownOp is an operation in a table.
type shownOp struct {
	ID                               uint64
	Process                          int
	Name, Key, In, Out               string
	Outcome, Called, Returned, Where string
}

func shownOpOf(h *history.History, id uint64) shownOp {
	op := opOf(h, id)
	if op == nil {
		return shownOp{ID: id, Outcome: "not in the history"}
	}
	s := shownOp{
		ID: id, Process: op.Process, Name: plain.Text(op.Workload+" "+op.Name, 80), Key: plain.Text(op.Key, 80),
		In: plain.Text(string(op.In), 200), Out: plain.Text(string(op.Out), 200), Outcome: plain.Text(string(op.Outcome), 20),
		Called: plain.Clock(op.Called), Returned: plain.Clock(op.Returned), Where: plain.Text(op.Node, 40),
	}
	if op.Index != 0 {
		s.Where += fmt.Sprintf(" at %d", op.Index)
	}
	if said := strings.TrimSpace(op.Code + " " + op.Error); said != "" {
		s.Out = strings.TrimSpace(s.Out + " " + plain.Text(said, 200))
	}
	return s
}

package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/check"
)

// Judgement is what all checkers found. It is verdict.json.
type Judgement struct {
	Word     check.Word      `json:"verdict"`
	Checkers []check.Verdict `json:"checkers"`
}

// Judged puts verdicts together. One that is invalid makes the run invalid; it is
// valid only when every checker said so, and at least one did.
func Judged(verdicts []check.Verdict) Judgement {
	j := Judgement{Word: check.Valid, Checkers: verdicts}
	if len(verdicts) == 0 {
		j.Word = check.Unclear
	}
	for i := range verdicts {
		switch verdicts[i].Word {
		case check.Valid:
		case check.Invalid:
			j.Word = check.Invalid
		default:
			if j.Word != check.Invalid {
				j.Word = check.Unclear
			}
		}
	}
	return j
}

// Differs says how another judgement of the same run differs, one sentence for
// each checker; how long they took does not count.
func (j *Judgement) Differs(other *Judgement) []string {
	var said []string
	if j.Word != other.Word {
		said = append(said, fmt.Sprintf("the run was %s and is %s", j.Word, other.Word))
	}
	before, after := byChecker(j.Checkers), byChecker(other.Checkers)
	names := make([]string, 0, len(before)+len(after))
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if how := differs(before[name], after[name]); how != "" {
			said = append(said, name+": "+how)
		}
	}
	return said
}

func byChecker(verdicts []check.Verdict) map[string]*check.Verdict {
	by := make(map[string]*check.Verdict, len(verdicts))
	for i := range verdicts {
		by[verdicts[i].Checker] = &verdicts[i]
	}
	return by
}

func differs(was, is *check.Verdict) string {
	switch {
	case was == nil:
		return "it did not judge then"
	case is == nil:
		return "it does not judge now"
	case was.Word != is.Word:
		return fmt.Sprintf("%s then, %s now", was.Word, is.Word)
	case !sameFigures(was.Figures, is.Figures):
		return "it counts other figures"
	case !sameFindings(was.Findings, is.Findings):
		return "it finds something else"
	case !sameSet(was.Files, is.Files):
		return "it draws other pictures"
	}
	return ""
}

func sameFigures(a, b map[string]int64) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

func sameFindings(a, b []check.Finding) bool {
	return slices.EqualFunc(a, b, func(x, y check.Finding) bool {
		return x.Text == y.Text && x.At == y.At && slices.Equal(x.Ops, y.Ops)
	})
}

func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is one place that breaks a rule.
type Finding struct {
	File string // slash-separated, from the tree's root; a directory where no one file is to blame
	Line int    // from 1; 0 where the whole file is meant
	Text string // what is wrong and what to do
}

// String is the form that editors follow: file:line: text.
func (f Finding) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// inOrder sorts findings by place.
func inOrder(findings []Finding) []Finding {
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(findings)
}

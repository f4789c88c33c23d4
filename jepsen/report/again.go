package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/jepsen/check"
)

// againDir is where the checkers draw when a run is judged once more: what they
// drew the first time stays.
const againDir = "again"

// Rejudged is a run that was judged once more.
type Rejudged struct {
	Run    Run        `json:"run"`
	Whole  bool       `json:"whole"`            // see Report
	Before *Judgement `json:"before,omitempty"` // nil when it was never judged
	Now    Judgement  `json:"now"`
	Differ []string   `json:"differ,omitempty"` // how Now differs from Before; nothing when it does not
}

// Again judges the run of a folder once more, with these checkers. Nothing in the
// folder changes, but for pictures, which go to DIR/again.
func Again(ctx context.Context, dir string, checkers []check.Checker) (*Rejudged, error) {
	r, err := Load(dir)
	if err != nil {
		return nil, err
	}
	pictures := filepath.Join(dir, againDir)
	if err = errors.Join(os.RemoveAll(pictures), os.MkdirAll(pictures, 0o755)); err != nil {
		return nil, err
	}
	evidence := r.Evidence
	evidence.Dir = pictures
	verdicts := make([]check.Verdict, 0, len(checkers))
	for _, checker := range checkers {
		verdicts = append(verdicts, check.Judge(ctx, checker, &evidence))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if entries, err := os.ReadDir(pictures); err == nil && len(entries) == 0 {
		if err = os.Remove(pictures); err != nil {
			return nil, err
		}
	}
	again := &Rejudged{Run: r.Run, Whole: r.Whole, Before: r.Judgement, Now: Judged(verdicts)}
	if again.Before != nil {
		again.Differ = again.Before.Differs(&again.Now)
	}
	return again, nil
}

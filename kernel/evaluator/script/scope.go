package script

import (
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// scope is the calls of main, or of a handler of escalations: those that are
// kept, and the one that waits.
type scope struct {
	kept  []entry
	calls uint64 // those of all entries

	// The entry that waits for its answers; none if count is 0.
	digest  string
	count   uint64
	decides bool // escalations of its children come here

	published uint64 // emits before the call that waits

	next  int    // of kept, in the run at hand
	emits uint64 // of the run at hand
}

// entry is what was asked for at once, by digest, and what it came to.
type entry struct {
	digest  string
	answers []evaluator.Answer
}

func (s *scope) waits() bool { return s.count > 0 }

// keep makes the entry that waits one that is kept.
func (s *scope) keep(answers []evaluator.Answer) {
	kept := entry{digest: s.digest, answers: make([]evaluator.Answer, len(answers))}
	for i, a := range answers {
		if a.Value == nil || !a.OK {
			a.Value = value.Null
		}
		if a.OK {
			a.Code, a.Message = "", ""
		}
		a.Message = failure.Clip(a.Message)
		kept.answers[i] = a
	}
	s.kept = append(s.kept, kept)
	s.calls += s.count
	s.digest, s.count, s.decides = "", 0, false
}

func diverged() *failure.Failure {
	return &failure.Failure{
		Code:    failure.ReplayDivergence,
		Message: "over the results that it had the script did not ask for the same again",
	}
}

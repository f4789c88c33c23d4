package tools

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// The circuit breaker of a revision: after so many calls in a row that nobody
// answered, no call is made for a while; then one is, and what becomes of it decides.
const (
	breakerFailures = 5
	breakerOpen     = 10 * time.Second
)

var (
	errUnanswered = errors.New("nobody answered")
	errNoMatter   = errors.New("it says nothing of the tool")
)

type breaker = gobreaker.TwoStepCircuitBreaker[struct{}]

func newBreaker(tool string) *breaker {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        tool,
		Timeout:     breakerOpen,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNoMatter) },
	})
}

// verdict is what the end of a call says of its tool. A tool that answers, and be it
// that it will not, is there.
func verdict(r Result) error {
	switch {
	case r.OK:
		return nil
	case r.Code == failure.Withdrawn, r.Code == failure.ToolArgsInvalid, r.Code == failure.ToolUnknown:
		return errNoMatter
	case r.Code == failure.ToolFailed, r.Code == failure.ToolResultInvalid, r.Code == failure.ToolResultTooLarge, r.Code == failure.ToolLimitExceeded:
		return nil
	}
	return errUnanswered
}

// broken is the answer while the breaker is open: the call was certainly not made.
func broken() Result {
	return Fail(failure.ToolUnreachable, "the tool's circuit breaker is open: its last calls were not answered; it is tried again within 10 seconds")
}

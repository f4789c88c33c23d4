package tools

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// retry is how often a call is tried, and how long is waited between.
type retry struct {
	attempts   uint32
	first, max time.Duration
	idempotent bool
}

const (
	defaultBackoff    = 200 * time.Millisecond
	defaultMaxBackoff = 5 * time.Second
)

func retryOf(m *kerneltools.Manifest) retry {
	r := retry{
		attempts: m.Retry.MaxAttempts, first: time.Duration(m.Retry.BackoffMillis) * time.Millisecond,
		max: time.Duration(m.Retry.MaxBackoffMillis) * time.Millisecond, idempotent: m.Idempotent,
	}
	if r.first <= 0 {
		r.first = defaultBackoff
	}
	if r.max <= 0 {
		r.max = defaultMaxBackoff
	}
	r.max = max(r.max, r.first)
	return r
}

// again tells whether a call that ended so is worth another attempt: one that was
// certainly not made always is, any other only where it may be made twice.
func (r *retry) again(result Result) bool {
	switch {
	case result.OK:
		return false
	case result.Code == failure.ToolUnreachable:
		return true
	}
	return r.idempotent && result.Passing
}

// run makes attempts until one is not worth another, they are used up, or the
// call's time is over: also if it would be before the service lets another be made.
// What each came to cost is added up; if one that may have done something does not
// say, nothing is said, and the call is charged in full.
func (r *retry) run(ctx context.Context, attempt func() Result) Result {
	wait := backoff.ExponentialBackOff{InitialInterval: r.first, MaxInterval: r.max, Multiplier: 2, RandomizationFactor: 0.2}
	wait.Reset()
	result, untold := attempt(), false
	var open *Result // the last attempt that may have done something
	for made := uint32(1); made < r.attempts && r.again(result); made++ {
		if deadline, some := ctx.Deadline(); some && time.Until(deadline) <= result.After {
			break
		}
		pause := time.NewTimer(max(wait.NextBackOff(), result.After))
		select {
		case <-ctx.Done():
			pause.Stop()
			return asItWas(result, open)
		case <-pause.C:
		}
		if before := result; before.Code != failure.ToolUnreachable {
			open, untold = &before, untold || !before.Usage.Metered
		}
		spent := result.Usage
		result = attempt()
		if spent.Metered {
			result.Usage.Metered = true
			result.Usage.Tokens += spent.Tokens
			result.Usage.USDMicros += spent.USDMicros
		}
		if untold {
			result.Usage = kerneltools.Usage{}
		}
	}
	return asItWas(result, open)
}

// asItWas is the end of a call whose last attempt was certainly not made: it is the end
// of the one before that may have done something, if there was one, at what all came to.
func asItWas(result Result, open *Result) Result {
	if open == nil || result.Code != failure.ToolUnreachable {
		return result
	}
	ended := *open
	ended.Usage = result.Usage
	return ended
}

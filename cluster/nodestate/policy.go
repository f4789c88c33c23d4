package nodestate

import (
	"errors"
	"time"
)

// Policy is how much a node puts up with. Its owner may configure all of it.
type Policy struct {
	StartAttempts  int           // starts that may fail in a row before the node is Crashed
	StartBackoff   time.Duration // wait after the first of them; doubles with each
	MaxBackoff     time.Duration // … up to this
	DegradedAfter  int           // failures of one component in a row that make the node Degraded
	ErrorWindow    time.Duration // time without a failure after which a component's streak is over
	RestartBackoff time.Duration // wait before a component that fails on is started again; doubles, too
	RestartBudget  int           // failures of one component in a row after which it is given up
}

// DefaultPolicy suits a server whose predecessor may still be ending.
var DefaultPolicy = Policy{
	StartAttempts: 5, StartBackoff: 500 * time.Millisecond, MaxBackoff: 10 * time.Second,
	DegradedAfter: 3, ErrorWindow: 30 * time.Second, RestartBackoff: time.Second, RestartBudget: 20,
}

// Check says what is wrong with a policy.
func (p Policy) Check() error {
	switch {
	case p.StartAttempts < 1:
		return errors.New("start attempts: must be 1 or more")
	case p.StartBackoff <= 0 || p.MaxBackoff < p.StartBackoff:
		return errors.New("backoff: must be positive, and its maximum not below it")
	case p.DegradedAfter < 1:
		return errors.New("degraded after: must be 1 failure or more")
	case p.RestartBudget < p.DegradedAfter:
		return errors.New("restart budget: must not be below the failures that make the node Degraded")
	case p.ErrorWindow <= 0 || p.RestartBackoff <= 0:
		return errors.New("error window and restart backoff: must be positive")
	}
	return nil
}

// doubling is the n-th wait of those that begin with one and double up to
// MaxBackoff.
func (p *Policy) doubling(wait time.Duration, n int) time.Duration {
	for range n - 1 {
		if wait >= p.MaxBackoff/2 {
			return p.MaxBackoff
		}
		wait *= 2
	}
	return min(wait, p.MaxBackoff)
}

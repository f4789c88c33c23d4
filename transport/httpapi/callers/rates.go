package callers

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// Mode is what becomes of a request beyond its caller's rate.
type Mode string

// The modes.
const (
	Off     Mode = "off"     // nobody counts
	Warn    Mode = "warn"    // it is served, and the node's log says who asked for too much
	Enforce Mode = "enforce" // it is refused
)

// Modes are all of them, in order of strictness.
var Modes = []Mode{Off, Warn, Enforce}

// Rate is what one caller may ask for. The zero value is the default.
type Rate struct {
	Mode      Mode
	PerSecond float64 // requests; each command of a batch is one
	Burst     int     // how many at once, after a pause
}

// DefaultRate warns, and refuses nothing: what a caller needs is the operator's
// to know, and a node that is updated must not begin to refuse what it served.
// The figures are beyond what a person or an agent's tool asks for, and within
// what a benchmark does.
var DefaultRate = Rate{Mode: Warn, PerSecond: 1000, Burst: 2000}

// WithDefaults fills in what is not given. A burst is two seconds' worth.
func (r Rate) WithDefaults() Rate {
	if r.Mode == "" {
		r.Mode = DefaultRate.Mode
	}
	if r.PerSecond == 0 {
		r.PerSecond = DefaultRate.PerSecond
	}
	if r.Burst == 0 {
		r.Burst = max(1, int(2*r.PerSecond))
	}
	return r
}

// Check names the first thing that is wrong with it.
func (r Rate) Check() error {
	switch {
	case r.Mode != "" && !slices.Contains(Modes, r.Mode):
		return fmt.Errorf("the mode %q: must be %s, %s or %s", r.Mode, Off, Warn, Enforce)
	case !(r.PerSecond >= 0 && r.PerSecond <= maxPerSecond):
		return fmt.Errorf("%v requests a second: must be from 0 to %d", r.PerSecond, maxPerSecond)
	case r.Burst < 0 || r.Burst > maxPerSecond:
		return fmt.Errorf("a burst of %d requests: must be from 0 to %d", r.Burst, maxPerSecond)
	}
	return nil
}

const maxPerSecond = 10_000_000

// MostCallers is how many buckets a Rates keeps, which is its memory.
const MostCallers = 4096

// How often the node's log tells of callers that ask for too much.
const (
	callerAgain = time.Minute     // of the same one
	linesEvery  = 5 * time.Second // of any
)

// Rates holds the callers' buckets.
type Rates struct {
	rate  Rate
	log   hclog.Logger
	lines rate.Sometimes

	mu      sync.Mutex // guards buckets and what is in them
	buckets *simplelru.LRU[string, *bucket]

	over, refused counter
}

// bucket is one caller's.
type bucket struct {
	*rate.Limiter
	told time.Time // when the log told of it
}

// NewRates makes one without callers.
func NewRates(r Rate, log hclog.Logger) *Rates {
	buckets, err := simplelru.NewLRU[string, *bucket](MostCallers, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Rates{rate: r.WithDefaults(), log: log, lines: rate.Sometimes{Interval: linesEvery}, buckets: buckets}
}

// Take asks for n requests of a caller at once. When ok is false they are to be
// refused, and wait is how long until there is room for them.
func (r *Rates) Take(caller string, n int, now time.Time) (wait time.Duration, ok bool) {
	if r.rate.Mode == Off {
		return 0, true
	}
	wait, tell := r.take(caller, n, now)
	if wait == 0 {
		return 0, true
	}
	r.over.Add(1)
	if r.rate.Mode == Enforce {
		r.refused.Add(1)
	}
	if tell {
		r.lines.Do(func() { r.tell(caller) })
	}
	return wait, r.rate.Mode != Enforce
}

// take gives how long the caller would have to wait, and whether it is time to
// say so.
func (r *Rates) take(caller string, n int, now time.Time) (wait time.Duration, tell bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known := r.buckets.Get(caller)
	if !known {
		b = &bucket{Limiter: rate.NewLimiter(rate.Limit(r.rate.PerSecond), r.rate.Burst)}
		r.buckets.Add(strings.Clone(caller), b)
	}
	// What is larger than the whole bucket takes the whole bucket.
	reserved := b.ReserveN(now, min(n, r.rate.Burst))
	if wait = reserved.DelayFrom(now); wait == 0 {
		return 0, false
	}
	reserved.CancelAt(now) // who is refused has taken nothing
	if tell = now.Sub(b.told) >= callerAgain; tell {
		b.told = now
	}
	return wait, tell
}

func (r *Rates) tell(caller string) {
	if r.rate.Mode == Enforce {
		r.log.Error("a caller asks for more than its rate, and is refused", "caller", caller, "per_second", r.rate.PerSecond, "burst", r.rate.Burst)
		return
	}
	r.log.Warn("a caller asks for more than its rate; with --rate-limit enforce it would be refused",
		"caller", caller, "per_second", r.rate.PerSecond, "burst", r.rate.Burst)
}

// Known counts the callers that are remembered, at most MostCallers.
func (r *Rates) Known() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buckets.Len()
}

// Over counts requests beyond their caller's rate; Refused those of them that
// were refused.
func (r *Rates) Over() uint64 { return r.over.Load() }

// Refused counts what was refused.
func (r *Rates) Refused() uint64 { return r.refused.Load() }

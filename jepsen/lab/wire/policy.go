package wire

import (
	"errors"
	"fmt"
	"time"
)

// Link is the way from one host to another, by their ids. The way back is another.
type Link struct {
	From, To string
}

// Rules say what happens to the frames of some links.
type Rules map[Link]Policy

// Policy says what happens to the frames of a link. The zero value is a cable.
type Policy struct {
	Cut            bool          // nothing arrives
	Loss           float64       // probability that a frame is lost
	Duplicate      float64       // that it arrives twice
	Reorder        float64       // that it is held back up to maxHeld while others pass
	Delay          time.Duration // of every frame
	Jitter         time.Duration // up to this more, evenly; the order is kept
	BytesPerSecond int64         // 0: as fast as it goes
}

// maxHeld is how long a frame is held back at most, beside the delay of the link.
const maxHeld = 10 * time.Millisecond

// maxDelay bounds Delay and Jitter: TCP would have given up before.
const maxDelay = time.Minute

// Check says what is wrong with a policy.
func (p Policy) Check() error {
	for name, probability := range map[string]float64{"loss": p.Loss, "duplicate": p.Duplicate, "reorder": p.Reorder} {
		if !(probability >= 0 && probability <= 1) {
			return fmt.Errorf("%s is %v: a probability is 0 to 1", name, probability)
		}
	}
	switch {
	case p.Delay < 0 || p.Delay > maxDelay || p.Jitter < 0 || p.Jitter > maxDelay:
		return fmt.Errorf("delay is %v and jitter %v: each is 0 to %v", p.Delay, p.Jitter, maxDelay)
	case p.BytesPerSecond < 0:
		return errors.New("bytes per second must not be negative")
	}
	return nil
}

// And is what two policies do to a frame that meets one after the other.
func (p Policy) And(q Policy) Policy {
	rate := min(p.BytesPerSecond, q.BytesPerSecond)
	if rate == 0 {
		rate = max(p.BytesPerSecond, q.BytesPerSecond)
	}
	return Policy{
		Cut: p.Cut || q.Cut, Loss: either(p.Loss, q.Loss), Duplicate: either(p.Duplicate, q.Duplicate),
		Reorder: either(p.Reorder, q.Reorder), Delay: p.Delay + q.Delay, Jitter: p.Jitter + q.Jitter, BytesPerSecond: rate,
	}
}

func either(a, b float64) float64 { return 1 - (1-a)*(1-b) }

package workers

import (
	"time"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Reason is why a call is over without a result.
type Reason uint8

// The reasons.
const (
	Unasked    Reason = iota + 1 // no worker asked for it in time: it was certainly not made
	Unanswered                   // the last worker that had it did not answer in time; it may be made again
	Silent                       // the one worker that had it was not heard of; nobody knows what it did
)

// Over is a call whose time here is over.
type Over struct {
	Key  tools.Key
	Tool string
	Why  Reason
	Lent time.Duration // how long the last worker had it
}

// Expire ends leases and calls whose time is over. A call that may be made twice goes
// back to where it was in its line, if it has time left; the others need the result that
// the reason says, and are kept from everybody until they are dropped.
func (b *Broker) Expire(now time.Time) (over []Over) {
	b.mu.Lock()
	defer b.mu.Unlock()
	//lint:ordered each is looked at by itself
	for _, e := range b.entries {
		switch {
		case e.stage == waiting && !now.Before(e.Until):
			over = append(over, b.end(e, now))
		case e.stage == lent && !now.Before(e.until):
			if e.Idempotent && now.Before(e.Until) {
				b.lines[e.Revision].out--
				b.queue(e)
				continue
			}
			over = append(over, b.end(e, now))
		}
	}
	return over
}

func (b *Broker) end(e *entry, now time.Time) Over {
	o := Over{Key: e.Key, Tool: e.Tool, Why: Unasked}
	switch {
	case e.stage == waiting:
		of := b.lines[e.Revision]
		of.queue.Remove(e.place)
		of.out++ // as every entry that is not in the line
		if e.place = nil; !e.since.IsZero() {
			o.Why = Unanswered
		}
	case e.Idempotent:
		o.Why = Unanswered
	default:
		o.Why = Silent
	}
	if !e.since.IsZero() {
		o.Lent = now.Sub(e.since)
	}
	e.stage, e.fence = closing, 0
	return o
}

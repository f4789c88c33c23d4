package wire

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// What waits on one link at most; more is dropped, as by a router.
const (
	maxWaiting = 1000        // frames, for whatever reason
	maxQueue   = time.Second // at the link's rate
)

// link is one direction between two hosts. But for counters and waiting, only the
// reader of the host that sends uses it.
type link struct {
	number   int
	to       *port
	random   *rand.Rand
	rules    *table        // those of the last frame
	free     time.Duration // when the last frame has left, at the link's rate; under these rules
	last     time.Duration // when the last frame arrives; under these rules
	waiting  atomic.Int64  // frames that are under way
	counters counters
}

// send decides about one frame. Who calls it may use the frame again afterwards.
func (s *Switch) send(l *link, frame []byte) {
	l.counters.sent.Add(1)
	rules := s.policies.Load()
	p := rules.of(l)
	if p == (Policy{}) {
		l.deliver(frame)
		return
	}
	if l.rules != rules {
		l.rules, l.free, l.last = rules, 0, 0
	}
	if p.Cut {
		l.counters.cut.Add(1)
		return
	}
	if l.happens(p.Loss) {
		l.counters.lost.Add(1)
		return
	}
	copies := 1
	if l.happens(p.Duplicate) {
		copies = 2
		l.counters.duplicated.Add(1)
	}
	now := time.Since(s.began)
	for range copies {
		if l.waiting.Load() >= maxWaiting || l.free-now > maxQueue {
			l.counters.overflowed.Add(1)
		} else if due := l.arrives(now, len(frame), p); due > now {
			s.waiting.add(l, due, frame)
		} else {
			l.deliver(frame)
		}
	}
}

func (l *link) happens(probability float64) bool {
	return probability > 0 && l.random.Float64() < probability
}

// arrives is when a frame that is sent now reaches the other end.
func (l *link) arrives(now time.Duration, size int, p Policy) time.Duration {
	due := now
	if p.BytesPerSecond > 0 {
		l.free = max(l.free, now) + time.Duration(int64(size)*int64(time.Second)/p.BytesPerSecond)
		due = l.free
	}
	due += p.Delay
	if p.Jitter > 0 {
		due += time.Duration(l.random.Int64N(int64(p.Jitter)))
	}
	if l.happens(p.Reorder) {
		l.counters.reordered.Add(1)
		return due + time.Duration(1+l.random.Int64N(int64(maxHeld)))
	}
	if p.Delay > 0 || p.Jitter > 0 {
		due = max(due, l.last)
		l.last = due
	}
	return due
}

func (l *link) deliver(frame []byte) {
	if _, err := l.to.frames.Write(frame); err != nil {
		l.counters.failed.Add(1)
		return
	}
	l.counters.delivered.Add(1)
	l.counters.bytes.Add(int64(len(frame)))
}

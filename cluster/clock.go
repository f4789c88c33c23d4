package cluster

import (
	"sync"
	"time"
)

// stampClock gives the wall times that events carry. Within a term it advances
// by the monotonic clock from where the term began, so a jump of the wall
// clock does not reach the kernel (EV-7).
type stampClock struct {
	wall func() time.Time

	mu    sync.Mutex // guards base and since
	base  int64      // Unix milliseconds; 0 outside a term
	since time.Time  // monotonic
}

// begin starts a term, not before the kernel's own clock.
func (c *stampClock) begin(kernelMillis int64) {
	now := c.wall()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.since = max(now.UnixMilli(), kernelMillis), time.Now()
}

// end leaves the term.
func (c *stampClock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = 0
}

// running reports whether a term has begun: outside one nothing is stamped, and
// so nothing is proposed.
func (c *stampClock) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base != 0
}

// now is the stamp of an event proposed at this moment, Unix milliseconds.
func (c *stampClock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base == 0 {
		return c.wall().UnixMilli()
	}
	return c.base + time.Since(c.since).Milliseconds()
}

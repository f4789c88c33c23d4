package traffic

import (
	"context"
	"sync"
	"time"
)

// behind is how much of what was not used may be made up for: traffic that hung
// behind a fault comes back at its rate, not as a flood.
const behind = 50 * time.Millisecond

// pacer gives out the right to do an operation, evenly over the time.
type pacer struct {
	every time.Duration // 0: at once

	mu   sync.Mutex // guards next
	next time.Time  // when the next operation may begin
}

func newPacer(rate int) *pacer {
	p := &pacer{next: time.Now()}
	if rate > 0 {
		p.every = time.Second / time.Duration(rate)
	}
	return p
}

// take waits until an operation may begin; false when ctx ends before that.
func (p *pacer) take(ctx context.Context) bool {
	return pause(ctx, time.Until(p.reserve()))
}

func (p *pacer) reserve() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if oldest := time.Now().Add(-behind); p.next.Before(oldest) {
		p.next = oldest
	}
	at := p.next
	p.next = at.Add(p.every)
	return at
}

// more accounts for n operations that were done beyond those that were taken; less
// than none gives back.
func (p *pacer) more(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = p.next.Add(time.Duration(n) * p.every)
}

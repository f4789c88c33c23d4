package cluster

import (
	"context"
	"time"
)

// pace keeps the fetching of history from taking the disks and the network away
// from commands: a token bucket whose rate depends on whether there are any.
type pace struct {
	most    uint64      // bytes a second at any time; 0 is no limit
	beside  uint64      // bytes a second beside commands; 0 is no limit
	working func() bool // whether commands are under way
	tokens  float64
	counted time.Time
}

// paceLook is how soon a change of the load is noticed.
const paceLook = 20 * time.Millisecond

// rate is what holds at the moment.
func (p *pace) rate() uint64 {
	if p.beside != 0 && (p.most == 0 || p.beside < p.most) && p.working() {
		return p.beside
	}
	return p.most
}

// take waits until so many bytes may be fetched; false when the context ended.
func (p *pace) take(ctx context.Context, bytes int) bool {
	for ctx.Err() == nil {
		rate, now := p.rate(), time.Now()
		since := now.Sub(p.counted)
		p.counted = now
		if rate == 0 {
			p.tokens = 0
			return true
		}
		// What a pause has saved up is not spent at once: no more than one
		// chunk, or one look's worth.
		most := max(float64(bytes), float64(rate)*paceLook.Seconds())
		p.tokens = min(p.tokens+float64(rate)*since.Seconds(), most)
		if p.tokens >= float64(bytes) {
			p.tokens -= float64(bytes)
			return true
		}
		lacking := time.Duration((float64(bytes) - p.tokens) / float64(rate) * float64(time.Second))
		pause(ctx, min(max(lacking, time.Millisecond), paceLook))
	}
	return false
}

// sharedPace is one pace for several who take at the same time.
type sharedPace struct {
	pace
	turn chan struct{} // holds one while somebody takes
}

func newSharedPace(p pace) *sharedPace { return &sharedPace{pace: p, turn: make(chan struct{}, 1)} }

func (p *sharedPace) take(ctx context.Context, bytes int) bool {
	select {
	case <-ctx.Done():
		return false
	case p.turn <- struct{}{}:
	}
	defer func() { <-p.turn }()
	return p.pace.take(ctx, bytes)
}

// loadMeter tells whether commands are under way, from what it sees whenever it
// is asked.
type loadMeter struct {
	look  func() (lastIndex, commitIndex uint64, open int)
	index uint64
	moved time.Time
}

// loadLasts is how long after an entry of the log there is load. It is shorter
// than the time between the entries of a cluster that has next to nothing to do.
const loadLasts = 100 * time.Millisecond

// working is true while entries come, or wait to be committed.
func (m *loadMeter) working() bool {
	last, commit, open := m.look()
	if last != m.index {
		m.index, m.moved = last, time.Now()
	}
	return open > 0 || last > commit || time.Since(m.moved) < loadLasts
}

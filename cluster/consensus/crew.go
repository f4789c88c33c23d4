package consensus

import (
	"context"
	"sync"
	"time"
)

// crew counts goroutines that may begin at any time, so that the end can wait
// for them and none begins afterwards.
type crew struct {
	mu     sync.Mutex // guards closed, and work against growing while it is waited for
	closed bool
	work   sync.WaitGroup
}

// start runs f in a goroutine; false when the crew was dismissed.
func (c *crew) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(f)
	}
	return !c.closed
}

func (c *crew) dismiss() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.work.Wait()
}

// gauge counts what is open and tells when nothing is.
type gauge struct {
	mu   sync.Mutex // guards n and zero
	n    int
	zero chan struct{} // closed when n comes to 0; nil when nobody waits
}

func (g *gauge) add() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
}

func (g *gauge) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.n == 0 && g.zero != nil {
		close(g.zero)
		g.zero = nil
	}
}

func (g *gauge) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

// drain waits until nothing is open; false when the context ended first.
func (g *gauge) drain(ctx context.Context) bool {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return true
	}
	if g.zero == nil {
		g.zero = make(chan struct{})
	}
	zero := g.zero
	g.mu.Unlock()
	select {
	case <-zero:
		return true
	case <-ctx.Done():
		return false
	}
}

// pause waits; false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

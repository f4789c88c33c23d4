package supervise

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group runs the goroutines of one component. A panic in one of them ends the
// Group's context, and is Wait's.
type Group struct {
	all    sync.WaitGroup
	cancel context.CancelFunc

	once  sync.Once // guards panic
	panic *groupPanic
}

// groupPanic is what a goroutine panicked with, and where.
type groupPanic struct {
	cause any
	stack []byte
}

func (p *groupPanic) Error() string { return fmt.Sprint(p.cause) }

// NewGroup makes one, and the context that its goroutines work under.
func NewGroup(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &Group{cancel: cancel}, ctx
}

// Go runs f.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		defer func() {
			if cause := recover(); cause != nil {
				g.once.Do(func() { g.panic = &groupPanic{cause, debug.Stack()} })
				g.cancel()
			}
		}()
		f()
	})
}

// Wait waits until all have ended, and panics if one of them did.
func (g *Group) Wait() {
	g.all.Wait()
	g.cancel()
	if g.panic != nil {
		panic(g.panic)
	}
}

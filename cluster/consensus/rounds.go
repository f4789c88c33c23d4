package consensus

import (
	"context"
	"sync"
)

// rounds shares read rounds: one is under way, and everybody who comes
// meanwhile waits for the next one together. A read never joins a round that
// began before it came, since that round's index may be older than the read.
type rounds struct {
	mu      sync.Mutex // guards gathering and running
	waiting *round     // who comes now joins this one; nil when nobody has
	running bool
}

type round struct {
	done  chan struct{} // closed when index and err are set
	index uint64
	err   *Refusal
}

// ReadIndex returns an index such that a state which contains it is not older
// than the moment of the call, whoever leads. It asks a majority for the term
// they are in; a follower lets the leader do so. The error is a *Refusal.
func (g *Group) ReadIndex(ctx context.Context) (uint64, error) {
	r := g.joinRound()
	if r == nil {
		return 0, refusal(Shutdown, "this node is stopping")
	}
	select {
	case <-r.done:
		if r.err != nil {
			return 0, r.err
		}
		return r.index, nil
	case <-ctx.Done():
		return 0, refusal(Timeout, "waiting for a read round")
	case <-g.closing:
		return 0, refusal(Shutdown, "this node is stopping")
	}
}

func (g *Group) joinRound() *round {
	g.rounds.mu.Lock()
	defer g.rounds.mu.Unlock()
	if !g.rounds.running {
		if !g.crew.start(g.runRounds) {
			return nil
		}
		g.rounds.running = true
	}
	if g.rounds.waiting == nil {
		g.rounds.waiting = &round{done: make(chan struct{})}
	}
	return g.rounds.waiting
}

func (g *Group) runRounds() {
	for {
		g.rounds.mu.Lock()
		r := g.rounds.waiting
		g.rounds.waiting = nil
		if r == nil {
			g.rounds.running = false
			g.rounds.mu.Unlock()
			return
		}
		g.rounds.mu.Unlock()
		r.index, r.err = g.readRound()
		close(r.done)
	}
}

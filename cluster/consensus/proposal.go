package consensus

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// proposal waits for its outcome. Exactly one side ends it: the caller, who
// withdraws it while it is queued, or the proposer, who takes it.
type proposal struct {
	data  []byte
	stage atomic.Uint32
	done  chan struct{} // closed when out is set
	out   Outcome
}

const (
	stageQueued uint32 = iota
	stageTaken
	stageWithdrawn
)

func (p *proposal) take() bool     { return p.stage.CompareAndSwap(stageQueued, stageTaken) }
func (p *proposal) withdraw() bool { return p.stage.CompareAndSwap(stageQueued, stageWithdrawn) }

// flight is a proposal that the library has.
type flight struct {
	proposal *proposal
	future   raft.ApplyFuture
}

// Propose replicates data and returns what became of it (CL-2). It blocks until
// the state machine has answered, the context ends, leadership is lost, or the
// group is closed. The caller must not change data afterwards: the log's cache
// keeps it.
func (g *Group) Propose(ctx context.Context, data []byte) Outcome {
	t, p, out := g.submit(data)
	if p == nil {
		return out
	}
	return g.await(ctx, t, p)
}

// ProposeAll proposes in order, each an entry with an outcome of its own. Once
// one is refused at the door, the rest is refused with the same code, so that
// what is replicated is a prefix of what was asked in the order it was asked. A
// batch longer than Limits.Queued ends with QueueFull.
func (g *Group) ProposeAll(ctx context.Context, batch [][]byte) []Outcome {
	type place struct {
		t *tenure
		p *proposal
	}
	out := make([]Outcome, len(batch))
	places := make([]place, 0, len(batch))
	for i, data := range batch {
		t, p, no := g.submit(data)
		if p == nil {
			for j := i; j < len(batch); j++ {
				out[j] = no
			}
			break
		}
		places = append(places, place{t, p})
	}
	for i, at := range places {
		out[i] = g.await(ctx, at.t, at.p)
	}
	return out
}

// submit puts a proposal in the queue of the term that this node leads, or
// says why not.
func (g *Group) submit(data []byte) (*tenure, *proposal, Outcome) {
	limits := &g.config.Limits
	switch {
	case len(data) == 0:
		return nil, nil, refused(Empty)
	case len(data) > limits.EntryBytes:
		return nil, nil, refused(TooLarge)
	case g.isClosing():
		return nil, nil, refused(Shutdown)
	}
	t := g.tenure.Load()
	if t == nil {
		return nil, nil, g.notLeader()
	}
	if t.transferring.Load() {
		return nil, nil, refused(Transferring)
	}
	if g.bytes.Add(int64(len(data))) > limits.Bytes {
		g.bytes.Add(-int64(len(data)))
		return nil, nil, refused(QueueFull)
	}
	p := &proposal{data: data, done: make(chan struct{})}
	g.open.add()
	select {
	case t.queue <- p:
		return t, p, Outcome{}
	default:
		g.forget(p)
		return nil, nil, refused(QueueFull)
	}
}

// await returns the first of: the outcome, the end of the context, the end of
// the group, the end of the term before the proposer took the proposal.
func (g *Group) await(ctx context.Context, t *tenure, p *proposal) Outcome {
	ended := t.ended
	for {
		select {
		case <-p.done:
			return p.out
		case <-ctx.Done():
			return g.giveUp(p, Timeout)
		case <-g.closing:
			return g.giveUp(p, Shutdown)
		case <-ended:
			if p.withdraw() {
				g.forget(p)
				return g.notLeader()
			}
			ended = nil // it was taken: its outcome comes
		}
	}
}

// giveUp stops waiting. What was still queued will never be proposed.
func (g *Group) giveUp(p *proposal, code Code) Outcome {
	if p.withdraw() {
		g.forget(p)
		return refused(code)
	}
	select {
	case <-p.done:
		return p.out
	default:
		return unknown(code)
	}
}

// finish ends a proposal that was taken.
func (g *Group) finish(p *proposal, out Outcome) {
	p.out = out
	g.forget(p)
	close(p.done)
}

// forget frees the room that a proposal took.
func (g *Group) forget(p *proposal) {
	g.bytes.Add(-int64(len(p.data)))
	g.open.done()
}

// notLeader is the answer of a node that does not lead (CL-1).
func (g *Group) notLeader() Outcome {
	leader, known := g.Leader()
	if !known || leader.ID == g.config.NodeID {
		return refused(NoLeader)
	}
	return Outcome{Verdict: Refused, Code: NotLeader, Leader: leader}
}

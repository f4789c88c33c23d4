package consensus

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// SetReady tells that the owner's first event of this term has been applied
// here. From then on the commit index covers everything that earlier leaders
// have acknowledged, and every later entry reaches the state machine.
func (g *Group) SetReady(term uint64) { g.ready.Store(term) }

// quorumRead is one read round on the leader.
//
// Why it is linearizable: the index is taken after the read came. If a newer
// leader had acknowledged a write before that, a majority of voters had entered
// its term by then, and every majority that is asked afterwards has one of them
// in it, who tells. A node raises its term, durably, before it grants a vote,
// so nobody in an older term can have voted. Only answers to this round's
// number count, never one that was under way before.
func (g *Group) quorumRead(ctx context.Context) (uint64, *Refusal) {
	term := g.raft.CurrentTerm()
	if g.raft.State() != raft.Leader {
		return 0, g.readRefusal()
	}
	if g.ready.Load() != term {
		return 0, refusal(NotReady, "the first event of term %d is not applied yet", term)
	}
	index := g.raft.CommitIndex()
	if refused := g.confirmTerm(ctx, term); refused != nil {
		return 0, refused
	}
	if g.raft.State() != raft.Leader || g.raft.CurrentTerm() != term {
		return 0, g.readRefusal()
	}
	return index, nil
}

// confirmTerm asks the other voters and returns nil once a majority of all
// voters, this one included, is in term.
func (g *Group) confirmTerm(ctx context.Context, term uint64) *Refusal {
	voters := g.voters()
	need := len(voters)/2 + 1
	others := make([]Member, 0, len(voters))
	for _, v := range voters {
		if v.ID != g.config.NodeID {
			others = append(others, v)
		}
	}
	own := len(voters) - len(others) // ourselves, if we vote
	agreed := own
	if agreed >= need {
		return nil
	}
	answers := g.askers.ask(g, others)
	failed := 0
	for {
		select {
		case a := <-answers:
			switch {
			case a.err != nil:
				failed++
			case a.peer.term > term:
				return refusal(NewerTerm, "%s is in term %d, ours is %d", a.peer.node, a.peer.term, term)
			case a.peer.term == term:
				agreed++
			default:
				failed++ // it has not heard of our term
			}
			if agreed >= need {
				return nil
			}
			if own+len(others)-failed < need {
				return refusal(NoQuorum, "%d of %d voters answered, want %d", agreed, len(voters), need)
			}
		case <-ctx.Done():
			return refusal(NoQuorum, "%d of %d voters answered in time, want %d", agreed, len(voters), need)
		}
	}
}

// askers asks each voter one question at a time. A voter that is slow or dead
// misses rounds; it does not gather questions.
type askers struct {
	nonce atomic.Uint64
	mu    sync.Mutex // guards busy and next
	busy  map[string]bool
	next  map[string]question
}

type question struct {
	peer    Member
	answers chan<- termAnswer
}

type termAnswer struct {
	peer peerState
	err  error
}

// ask sends a fresh question to every voter in the list. Answers come on a
// channel with room for all of them.
func (a *askers) ask(g *Group, voters []Member) <-chan termAnswer {
	answers := make(chan termAnswer, len(voters))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy == nil {
		a.busy, a.next = make(map[string]bool), make(map[string]question)
	}
	for _, v := range voters {
		q := question{v, answers}
		if a.busy[v.ID] {
			a.next[v.ID] = q // what waited there belonged to a round that is over
			continue
		}
		a.busy[v.ID] = true
		if !g.crew.start(func() { a.run(g, q) }) {
			delete(a.busy, v.ID)
			answers <- termAnswer{err: context.Canceled}
		}
	}
	return answers
}

// run asks one voter, and again while a newer round waits for it.
func (a *askers) run(g *Group, q question) {
	for {
		ctx, cancel := context.WithTimeout(g.ctx, 2*g.config.Timing.Heartbeat)
		peer, err := g.askPeer(ctx, q.peer, a.nonce.Add(1))
		cancel()
		q.answers <- termAnswer{peer, err}
		a.mu.Lock()
		next, more := a.next[q.peer.ID]
		delete(a.next, q.peer.ID)
		if !more {
			delete(a.busy, q.peer.ID)
		}
		a.mu.Unlock()
		if !more {
			return
		}
		q = next
	}
}

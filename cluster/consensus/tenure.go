package consensus

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// tenure is one term that this node leads: one proposer, one queue. When it
// ends, what is queued is refused, and what is in flight gets whatever the
// library says of it, at worst unknown.
type tenure struct {
	term         uint64
	ctx          context.Context
	cancel       context.CancelFunc
	queue        chan *proposal
	transferring atomic.Bool
	spent        map[string]bool // voters that are not asked to lead again; whoever set transferring has it
	ended        chan struct{}   // closed when the proposer has emptied the queue
	led          chan struct{}   // closed when the owner's Lead has returned
}

// observe follows the library's notifications. The library's main loop waits
// until each is taken, so nothing here may block.
func (g *Group) observe(notify <-chan bool) {
	previous := closedChannel()
	for {
		select {
		case leads := <-notify:
			g.endTenure() // also when told twice that we lead: lost and regained in between
			if leads {
				previous = g.beginTenure(previous)
			}
		case <-g.stopped:
			g.endTenure()
			return
		}
	}
}

// beginTenure starts proposing, and the owner's Lead once the one of the
// previous tenure has returned.
func (g *Group) beginTenure(previous <-chan struct{}) <-chan struct{} {
	// The library gives up the state before it raises the term. So if we are
	// still leader after reading the term, it is the one we lead.
	term := g.raft.CurrentTerm()
	if g.raft.State() != raft.Leader {
		return previous
	}
	t := &tenure{
		term:  term,
		queue: make(chan *proposal, g.config.Limits.Queued),
		spent: make(map[string]bool),
		ended: make(chan struct{}),
		led:   make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(g.ctx)
	g.tenure.Store(t)
	g.config.Logger.Info("leading", "term", term)
	if !g.crew.start(func() { g.propose(t) }) {
		close(t.ended)
	}
	if !g.crew.start(func() { g.lead(t, previous) }) {
		close(t.led)
	}
	return t.led
}

func (g *Group) endTenure() {
	t := g.tenure.Swap(nil)
	if t == nil {
		return
	}
	t.cancel()
	g.config.Logger.Info("no longer leading", "term", t.term)
}

func (g *Group) lead(t *tenure, previous <-chan struct{}) {
	defer close(t.led)
	<-previous
	if g.config.Leadership != nil && t.ctx.Err() == nil {
		g.config.Leadership.Lead(t.ctx, t.term)
	}
}

// propose hands proposals to the library, in order, while the tenure lasts.
func (g *Group) propose(t *tenure) {
	defer close(t.ended)
	for {
		select {
		case p := <-t.queue:
			if t.ctx.Err() != nil {
				g.dismiss(p)
				g.dismissQueue(t)
				return
			}
			if p.take() {
				g.launch(t, p)
			}
		case <-t.ctx.Done():
			g.dismissQueue(t)
			return
		}
	}
}

// launch gives one proposal to the library. The library's Apply returns when
// its main loop has room, and at the latest when it shuts down.
func (g *Group) launch(t *tenure, p *proposal) {
	large := len(p.data) > g.config.Limits.LargeBytes
	if large {
		select {
		case g.large <- struct{}{}:
		case <-t.ctx.Done():
			g.finish(p, g.endOfTenure())
			return
		}
	}
	f := flight{p, g.raft.Apply(p.data, 0)}
	select {
	case g.flights <- f:
	case <-g.closing:
		// Whoever waits has been told: unknown. The collector may be gone.
		if large {
			<-g.large
		}
		g.finish(p, unknown(Shutdown))
	}
}

// dismissQueue refuses what is left in the queue of a term that is over. A
// proposal that comes later withdraws itself, see await.
func (g *Group) dismissQueue(t *tenure) {
	for {
		select {
		case p := <-t.queue:
			g.dismiss(p)
		default:
			return
		}
	}
}

func (g *Group) dismiss(p *proposal) {
	if p.take() {
		g.finish(p, g.endOfTenure())
	}
}

// endOfTenure is the definite answer to what was never given to the library.
func (g *Group) endOfTenure() Outcome {
	if g.isClosing() {
		return refused(Shutdown)
	}
	return g.notLeader()
}

// collect waits for the futures in the order they were made, which is the
// order in which the library resolves them.
func (g *Group) collect() {
	for {
		select {
		case f := <-g.flights:
			g.settle(f)
		case <-g.stopped:
			return
		}
	}
}

func (g *Group) settle(f flight) {
	err := f.future.Error()
	var response any
	if err == nil {
		response = f.future.Response()
	}
	out := outcomeOf(err, response)
	if out.Code == NotLeader {
		out = g.notLeader()
	}
	if len(f.proposal.data) > g.config.Limits.LargeBytes {
		<-g.large
	}
	g.finish(f.proposal, out)
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

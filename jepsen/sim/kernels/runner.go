package kernels

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// runner is what a leader does with the outbox (TO-2): it knows what its own
// replica has published, and its results are lost, late and repeated.
type runner struct {
	seen    map[tools.Key]bool // by this leader
	called  map[tools.Key]int  // calls of what must not be called twice, by anybody
	flights []flight
}

// flight is a result that is under way.
type flight struct {
	key   tools.Key
	steps int // until it arrives
}

// begins is a leader's first event; all that its predecessor knew is gone, and
// some of its results with it.
func (r *runner) begins(g *generator, i int) {
	g.h.Node(event.LeaderStarted, event.Leader{Node: string(rune('a' + i)), Term: g.h.Term})
	r.seen = make(map[tools.Key]bool)
	kept := r.flights[:0]
	for _, f := range r.flights {
		if g.pick("lost with the leader", 2) == 0 {
			g.Stats.Lost++
			continue
		}
		kept = append(kept, f)
	}
	r.flights = kept
}

// step hands in a result that has arrived, or makes a call.
func (r *runner) step(g *generator) {
	for i := range r.flights {
		r.flights[i].steps--
	}
	if at := slices.IndexFunc(r.flights, func(f flight) bool { return f.steps <= 0 }); at >= 0 {
		f := r.flights[at]
		again := g.pick("repeated", 5) == 0
		if again {
			g.Stats.Repeated++
			r.flights[at].steps = g.pick("again after", 12)
		} else {
			r.flights = slices.Delete(r.flights, at, at+1)
		}
		g.h.Node(event.ToolResult, event.Result{
			Agent: f.key.Agent, Tick: f.key.Tick, Call: f.key.Call, OK: true, Value: kerneltest.Value(g.t, map[string]any{"n": 7}), Millis: 5,
		})
		return
	}
	leader := g.replicas[g.lead]
	if !leader.up() || leader.applied < g.first {
		g.leads(g.pick("heir", len(g.replicas)))
		return
	}
	if g.pick("behind", 3) > 0 { // else it goes by what it knew
		g.do(Op{Kind: Deliver, Replica: g.lead, Count: len(g.sim.Log)})
	}
	var call *tools.Call
	leader.state.Tools.All(func(c *tools.Call) bool {
		if c.Dispatched == 0 && !r.seen[c.Key] {
			call = c
		}
		return call == nil
	})
	switch {
	case call == nil:
		g.work()
	case g.pick("revoked before", 6) == 0: // the dispatch that comes must not go through (TO-5)
		id := kerneltest.IDOf(g.sim.State().Agents.Get(call.Key.Agent).Identity.ID)
		if g.pick("right", 2) == 0 {
			g.h.Command(event.TokenRevoke, event.RevokeToken{Agent: id})
		} else {
			g.h.Command(event.GrantRevoke, event.RevokeGrant{Agent: id, Grant: uint32(g.pick("grant", 2))})
		}
		r.call(g, call)
	default:
		r.call(g, call)
	}
}

// errands call what must not be called twice, and what may.
var errands = [...]string{
	`{"kind":"CALL","payload":{"tool":"http.request","timeout_ms":3000,"args":{"url":"http://a.test/x"}}}`,
	`{"kind":"CALL","payload":{"tool":"echo","args":{"n":1}}}`,
}

// work starts an agent that has something to do outside.
func (g *generator) work() {
	g.h.Command(event.AgentStart, event.Start{Define: event.Define{
		Grants: kerneltest.Everything(), Program: kerneltest.JSON(g.t, errands[g.pick("errand", len(errands))]),
	}})
}

// call makes one, with its dispatch first where it must not be made twice
// (TO-4). What the leader knows may be old: then the kernel says no.
func (r *runner) call(g *generator, call *tools.Call) {
	if r.seen == nil {
		r.seen = make(map[tools.Key]bool)
	}
	r.seen[call.Key] = true
	if !call.Idempotent {
		g.h.Dispatch(call.Key)
		if g.sim.Count(bus.CallDispatched) == 0 {
			return
		}
		if r.called == nil {
			r.called = make(map[tools.Key]int)
		}
		r.called[call.Key]++
		require.Equal(g.t, 1, r.called[call.Key], "the call %+v was let through twice", call.Key)
	}
	g.Stats.Calls++
	late := [...]int{0, 1, 4, 40}[g.pick("late", 4)]
	if late == 40 {
		g.Stats.Late++
	}
	if g.pick("lost", 5) == 0 {
		g.Stats.Lost++
		return
	}
	r.flights = append(r.flights, flight{call.Key, late})
}

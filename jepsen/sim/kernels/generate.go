package kernels

import (
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// generator decides what happens next.
type generator struct {
	*world
	h      *kerneltest.History
	choose kerneltest.Chooser
	runner runner
	skew   []int64 // of each replica's clock, milliseconds
	lead   int
}

// skews are how far clocks may be from each other. A node that is farther than
// half a second from the others does not lead (EV-7); a kernel bears it.
var skews = [...]int64{0, 0, 400, -400, 4000, -9000}

func newGenerator(t kerneltest.TB, seed uint64, replicas int) *generator {
	choose := kerneltest.NewSeeded(seed)
	h := kerneltest.NewHistory(t, 1, 80, choose)
	g := &generator{h: h, choose: choose, world: newWorld(t, h.Sim, replicas), skew: make([]int64, replicas)}
	g.noted()
	return g
}

// noted takes what the history has committed by itself into the list of what
// happened.
func (g *generator) noted() {
	for at := g.Stats.Events; at < len(g.sim.Log); at++ {
		g.ops = append(g.ops, Op{Kind: Commit, Entry: g.sim.Log[at]})
	}
	g.Stats.Events = len(g.sim.Log)
}

func (g *generator) pick(what string, n int) int { return g.choose.Pick(what, n) }

// step is some event of the log, or something that happens to a replica.
func (g *generator) step() {
	what := g.pick("what", 100)
	i := g.pick("replica", len(g.replicas))
	r := g.replicas[i]
	switch {
	case what < 40:
		g.h.Step()
		g.noted()
	case what < 55:
		g.runner.step(g)
		g.noted()
	case what < 57:
		g.leads(i)
	case what < 59:
		g.jump()
	case what < 62:
		g.do(Op{Kind: Snapshot, Replica: i})
	case what < 63:
		g.do(Op{Kind: Trim, Count: g.pick("kept", 30)})
	case !r.up():
		if g.pick("comes back", 4) == 0 {
			g.do(Op{Kind: Restart, Replica: i})
		}
	case r.applied < g.first:
		if g.pick("installs", 4) == 0 {
			g.do(Op{Kind: Install, Replica: i, Other: g.donor()})
		}
	case what < 65:
		g.do(Op{Kind: Crash, Replica: i})
	case what < 67:
		g.do(Op{Kind: Torn, Replica: i, Count: 1 + g.pick("cut", 20)})
	case what < 68:
		g.do(Op{Kind: HalfShot, Replica: i, Count: g.pick("written", 1024)})
	default:
		g.do(Op{Kind: Deliver, Replica: i, Count: 1 + g.pick("batch", [...]int{1, 3, 20, 60}[g.pick("size", 4)])})
	}
}

// leads makes a replica the leader: it has all of the log first, its clock is the
// one that counts from then on, and it looks at the whole outbox.
func (g *generator) leads(i int) {
	r := g.replicas[i]
	if !r.up() || r.applied < g.first {
		return
	}
	g.do(Op{Kind: Deliver, Replica: i, Count: len(g.sim.Log)})
	g.Stats.Leaders++
	g.h.Wall += g.skew[i] - g.skew[g.lead]
	g.lead = i
	g.h.Term++
	g.runner.begins(g, i)
	g.noted()
}

// jump sets some clock anew.
func (g *generator) jump() {
	g.Stats.Jumps++
	i := g.pick("whose clock", len(g.skew))
	before := g.skew[i]
	g.skew[i] = skews[g.pick("skew", len(skews))]
	if i == g.lead {
		g.h.Wall += g.skew[i] - before
	}
}

package kernels

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// Options of a run.
type Options struct {
	Seed     uint64
	Replicas int // 3 when 0
	Events   int // of the log, before the faults end; 500 when 0
}

func (o Options) withDefaults() Options {
	if o.Replicas == 0 {
		o.Replicas = 3
	}
	if o.Events == 0 {
		o.Events = 500
	}
	return o
}

// Failure is a history that broke a rule.
type Failure struct {
	Options
	Text string
	Ops  []Op
}

// maxShown bounds how many of a failure's last Ops are printed.
const maxShown = 40

// String tells what was broken, after what, and how to see it again.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d replicas: %s\n", f.Seed, f.Replicas, f.Text)
	fmt.Fprintf(&b, "again: go test ./jepsen/sim -run TestKernels -seed %d\n", f.Seed)
	from := max(0, len(f.Ops)-maxShown)
	fmt.Fprintf(&b, "what happened, the last %d of %d:\n", len(f.Ops)-from, len(f.Ops))
	for _, o := range f.Ops[from:] {
		fmt.Fprintf(&b, "  %s\n", o)
	}
	return b.String()
}

// Run makes the history of a seed. It returns what happened, and nil when every
// rule was kept.
func Run(o Options) (Stats, *Failure) {
	o = o.withDefaults()
	var g *generator
	text := caught(func(t *catch) {
		g = newGenerator(t, o.Seed, o.Replicas)
		for g.Stats.Events < o.Events {
			g.step()
		}
		g.heal()
		g.check()
	})
	if text == "" {
		return g.Stats, nil
	}
	if g == nil {
		return Stats{}, &Failure{Options: o, Text: text}
	}
	g.noted()
	return g.Stats, &Failure{Options: o, Text: text, Ops: g.ops}
}

// Replay makes a list of Ops happen, then ends the faults; the text of what was
// broken, or nothing.
func Replay(replicas int, ops []Op) string {
	return caught(func(t *catch) {
		sim := kerneltest.Unbooted(t, 1, kerneltest.Lookup)
		w := newWorld(t, sim, replicas)
		for _, o := range ops {
			if o.Kind == Commit {
				sim.Wall, sim.Term = max(sim.Wall, o.Entry.Event.Wall), max(sim.Term, o.Entry.Term)
			}
			w.do(o)
		}
		w.heal()
		w.check()
	})
}

// catch is a test that can fail without ending the process that runs it.
type catch struct{ text string }

type stopped struct{}

func (*catch) Helper() {}

func (c *catch) Errorf(format string, args ...any) { c.text += fmt.Sprintf(format, args...) }

func (*catch) FailNow() { panic(stopped{}) }

// caught runs a test and returns what it failed with. A panic of the kernel is a
// failure too: it is what would have ended the node.
func caught(test func(*catch)) (text string) {
	t := &catch{}
	defer func() {
		switch problem := recover(); problem.(type) {
		case nil:
			text = t.text
		case stopped:
			text = t.text
			if text == "" {
				text = "failed without a word"
			}
		default:
			text = fmt.Sprintf("panic: %v\n%s", problem, debug.Stack())
		}
	}()
	test(t)
	return ""
}

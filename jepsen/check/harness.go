package check

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// What a run must have to show anything.
const (
	LeastRate  = 100              // operations a second that succeed while nothing is wrong
	ServeAgain = 30 * time.Second // how long a node may take to serve, after the last fault
)

// Harness judges the test itself, before anybody relies on it: that every operation
// was settled, once, that whoever called did one thing at a time and nothing after an
// outcome that is not known, that there was enough traffic before the faults, and
// that the faults were really there and are over. What is missing of that is
// Unclear: the run has shown nothing.
//
// One thing is the product's: that every node serves again soon after the last fault.
type Harness struct {
	Wants map[string]int // kinds of faults that the scenario asks for: how many at least. "" is any kind
}

// Name implements Checker.
func (Harness) Name() string { return "harness" }

// Check implements Checker.
func (c Harness) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	for _, name := range []string{"operations", "ok", "failed", "unknown", "faults"} {
		t.count(name, 0)
	}
	operations(t, e)
	processes(t, e)
	if phases(t, e) {
		calm(t, e)
		c.faults(t, e)
		serving(t, e)
	}
	return t.end()
}

// operations: each is there once, settled, with times that can be.
func operations(t *tally, e *Evidence) {
	var before uint64
	for i := range e.Ops {
		op := &e.Ops[i]
		t.count("operations", 1)
		ids := []uint64{op.ID}
		switch op.ID {
		case before:
			t.doubt(op.Called, ids, "operation %d was settled twice", op.ID)
		case before + 1:
		default:
			t.doubt(op.Called, ids, "of the operations after %d and before %d there is nothing: the history has a hole", before, op.ID)
		}
		before = op.ID
		switch op.Outcome {
		case history.Ok, history.Unknown:
			t.count(string(op.Outcome), 1)
		case history.Failed:
			t.count("failed", 1)
		default:
			t.doubt(op.Called, ids, "operation %d has the outcome %q", op.ID, op.Outcome)
		}
		if op.Error == history.NotSettled {
			t.doubt(op.Called, ids, "operation %d, a %s of %s, was never settled", op.ID, op.Name, op.Workload)
		}
		if op.Called < 0 || op.Returned < op.Called {
			t.doubt(op.Called, ids, "operation %d was called at %d ns, and returned at %d ns", op.ID, op.Called, op.Returned)
		}
		if op.Process <= 0 || op.Workload == "" || op.Name == "" {
			t.doubt(op.Called, ids, "operation %d does not say who did what", op.ID)
		}
	}
}

// processes do one thing at a time, and nothing after what they do not know.
func processes(t *tally, e *Evidence) {
	last := make(map[int]*history.Op)
	for i := range e.Ops {
		op := &e.Ops[i]
		if before := last[op.Process]; before != nil {
			switch ids := []uint64{before.ID, op.ID}; {
			case before.Returned > op.Called:
				t.doubt(op.Called, ids, "process %d does operations %d and %d at the same time", op.Process, before.ID, op.ID)
			case before.Outcome == history.Unknown:
				t.doubt(op.Called, ids, "process %d does operation %d, and may still be at operation %d", op.Process, op.ID, before.ID)
			case before.Workload != op.Workload:
				t.doubt(op.Called, ids, "process %d works for %s and for %s", op.Process, before.Workload, op.Workload)
			}
		}
		last[op.Process] = op
	}
	t.count("processes", len(last))
}

// phases: the run came to its end, in order.
func phases(t *tally, e *Evidence) bool {
	order := []string{history.Setup, history.Calm, history.Faults, history.Heal, history.Final}
	at, since := -1, int64(math.MinInt64)
	for _, p := range e.Phases {
		next := slices.Index(order, p.Name)
		if next <= at || p.At < since {
			t.doubt(p.At, nil, "the phase %q begins out of turn", p.Name)
			return false
		}
		at, since = next, p.At
	}
	for _, name := range []string{history.Calm, history.Heal, history.Final} {
		if _, begun := e.Begins(name); !begun {
			t.doubt(0, nil, "the run did not come to the phase %q", name)
			return false
		}
	}
	return true
}

// calm: there was enough traffic before the first fault.
func calm(t *tally, e *Evidence) {
	from, until := span(e, history.Calm)
	for i := range e.Faults {
		if e.Faults[i].From < until {
			t.doubt(e.Faults[i].From, nil, "fault %d, %s, begins before the calm phase is over", e.Faults[i].ID, e.Faults[i].Kind)
		}
	}
	succeeded := 0
	for i := range e.Ops {
		if op := &e.Ops[i]; op.Outcome == history.Ok && op.Workload != model.Probe && op.Returned >= from && op.Returned < until {
			succeeded++
		}
	}
	lasted := time.Duration(until - from)
	if lasted < time.Second {
		t.doubt(from, nil, "the calm phase lasted %s, not a second", lasted)
		return
	}
	rate := int64(float64(succeeded) / lasted.Seconds())
	t.verdict.Figures["calm operations a second"] = rate
	if rate < LeastRate {
		t.doubt(from, nil, "%d operations a second succeeded before the faults; at least %d must: the run shows nothing", rate, LeastRate)
	}
}

// span is when a phase begins and ends.
func span(e *Evidence, phase string) (from, until int64) {
	until = math.MaxInt64
	from, begun := e.Begins(phase)
	for _, p := range e.Phases {
		if begun && p.At > from {
			until = min(until, p.At)
		}
	}
	return from, until
}

// faults: what was wanted was there, and is over.
func (c Harness) faults(t *tally, e *Evidence) {
	final, _ := e.Begins(history.Final)
	injected := make(map[string]int)
	for i := range e.Faults {
		f := &e.Faults[i]
		t.count("faults", 1)
		switch {
		case f.Error != "":
			t.doubt(f.From, nil, "fault %d, %s of %v: %s", f.ID, f.Kind, f.Nodes, f.Error)
		case f.Until == 0, f.Until > final:
			t.doubt(f.From, nil, "fault %d, %s of %v, was not over in the end", f.ID, f.Kind, f.Nodes)
		default:
			injected[f.Kind]++
			injected[""]++
			real(t, e, f)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Wants)) {
		if injected[kind] < c.Wants[kind] {
			t.doubt(0, nil, "%d faults of the kind %q were there; the scenario wants %d", injected[kind], kind, c.Wants[kind])
		}
	}
}

// leaves says how a fault shows in the life of a process.
var leaves = map[string][]string{
	"kill": {"ended", "killed"}, "stop": {"ended", "stopped"}, "powercut": {"ended", "killed"}, "pause": {"paused"},
}

// real: a fault of a process shows in its life.
func real(t *tally, e *Evidence, f *history.Fault) {
	for _, node := range f.Nodes {
		if leaves[f.Kind] == nil || down(e, node, f.From) {
			continue
		}
		if !slices.ContainsFunc(e.Lives, func(l history.Life) bool {
			return l.Node == node && l.At >= f.From && l.At <= f.Until && slices.Contains(leaves[f.Kind], l.What)
		}) {
			t.doubt(f.From, nil, "fault %d, %s of %s, left no trace in the life of its process", f.ID, f.Kind, node)
		}
	}
}

// down is whether a node's process had ended before.
func down(e *Evidence, node string, at int64) bool {
	ended := false
	for i := range e.Lives {
		if l := &e.Lives[i]; l.Node == node && l.At < at {
			ended = slices.Contains([]string{"ended", "killed", "stopped"}, l.What)
		}
	}
	return ended
}

// healed is when the last fault was over.
func healed(e *Evidence) int64 {
	at, _ := e.Begins(history.Heal)
	for i := range e.Faults {
		at = max(at, e.Faults[i].Until)
	}
	return at
}

// serving: each node answers a read by itself, and a linearizable one, within
// ServeAgain of the last fault, and is well in the end.
func serving(t *tally, e *Evidence) {
	since := healed(e)
	for _, node := range e.Nodes {
		for _, name := range []string{model.Serves, model.Leads} {
			asked, after := 0, int64(math.MaxInt64)
			var last *history.Op
			for i := range e.Ops {
				op := &e.Ops[i]
				if op.Workload != model.Probe || op.Key != node || op.Name != name || op.Returned < since {
					continue
				}
				asked, last = asked+1, op
				if op.Outcome == history.Ok && op.Node == node && op.Called >= since {
					after = min(after, op.Returned-since)
				}
			}
			switch {
			case asked == 0:
				t.doubt(since, nil, "%s was not asked for a %s read after the faults", node, name)
			case after > int64(ServeAgain):
				t.find(since, []uint64{last.ID}, "%s did not answer a %s read within %s after the last fault: %s %s",
					node, name, ServeAgain, last.Code, last.Error)
			default:
				t.most("slowest to serve ms", after/int64(time.Millisecond))
			}
		}
		wellInTheEnd(t, e, node, since)
	}
}

// wellInTheEnd looks at the last that was seen of a node, if that was late enough. It
// may have been seen long ago: what does not change is not recorded again.
func wellInTheEnd(t *tally, e *Evidence, node string, since int64) {
	var last *history.Sight
	for i := range e.Sights {
		if e.Sights[i].Node == node {
			last = &e.Sights[i]
		}
	}
	final, _ := e.Begins(history.Final)
	if last == nil || max(last.At, final) < since+int64(ServeAgain) || !last.Silent && last.Healthy {
		return
	}
	t.find(last.At, nil, "%s is not well in the end: %s", node, cmp.Or(last.Reason, "it does not answer"))
}

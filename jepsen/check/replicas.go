package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// endsAfter is how long after a fault was taken back a process may still end of it.
const endsAfter = 5 * time.Second

// Replicas judges whether the nodes are one machine (LO-3, INV-17): states at one
// index have one digest, of all nodes and at any time, and logs of one length are the
// same; nobody has found anything wrong with the log; no two nodes led in one term;
// and no process ended by itself, unless a fault is there that may end it.
type Replicas struct{}

// Name implements Checker.
func (Replicas) Name() string { return "replicas" }

// Check implements Checker.
func (c Replicas) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	for _, name := range []string{"nodes", "sights", "digests compared", "ended by themselves"} {
		t.count(name, 0)
	}
	digests := make(map[uint64]digestAt)
	ends(t, e, digests)
	for i := range e.Sights {
		s := &e.Sights[i]
		t.count("sights", 1)
		if s.Digest != "" && s.Applied > 0 {
			compare(t, digests, s.Applied, digestAt{s.Digest, fmt.Sprintf("%s at %.3f s", s.Node, float64(s.At)/1e9)}, s.At)
		}
	}
	oneLeader(t, e)
	inOrder(t, e)
	lives(t, e)
	return t.end()
}

// digestAt is a digest, and who said so.
type digestAt struct{ digest, who string }

func compare(t *tally, digests map[uint64]digestAt, applied uint64, d digestAt, at int64) {
	have, known := digests[applied]
	switch {
	case !known:
		digests[applied] = d
		return
	case have.digest != d.digest:
		t.find(at, nil, "at index %d the digest of %s is %s, and that of %s is %s", applied, have.who, short(have.digest), d.who, short(d.digest))
	}
	t.count("digests compared", 1)
}

// ends: what the nodes hold in the end is the same, and known.
func ends(t *tally, e *Evidence, digests map[uint64]digestAt) {
	t.count("nodes", len(e.Nodes))
	logs := make(map[uint64]*End)
	for _, node := range e.Nodes {
		at := slices.IndexFunc(e.Ends, func(end End) bool { return end.Node == node })
		if at < 0 {
			t.doubt(0, nil, "%s: it is not known what it holds in the end", node)
			continue
		}
		end := &e.Ends[at]
		if end.Audit != "" {
			t.find(0, nil, "%s: the audit of its log: %s", node, end.Audit)
		}
		if end.Error != "" || end.Digest == "" || end.Log == "" {
			t.doubt(0, nil, "%s: it is not known what it holds in the end: %s", node, cmp.Or(end.Error, "there is no digest, or no log"))
			continue
		}
		compare(t, digests, end.Applied, digestAt{end.Digest, node + " in the end"}, 0)
		if end.Applied != e.Ends[0].Applied {
			t.doubt(0, nil, "%s stands at index %d in the end, and %s at %d: they cannot be compared", node, end.Applied, e.Ends[0].Node, e.Ends[0].Applied)
		}
		switch other := logs[end.BusSeq]; {
		case other == nil:
			logs[end.BusSeq] = end
		case other.Log != end.Log:
			t.find(0, nil, "the logs of %s and %s end at record %d both, and differ: %s and %s", other.Node, node, end.BusSeq, short(other.Log), short(end.Log))
		}
	}
	if len(logs) > 1 {
		t.doubt(0, nil, "the logs end at %d different records: they cannot be compared", len(logs))
	}
	if len(e.Nodes) == 0 {
		t.doubt(0, nil, "it is not known which nodes there are")
	}
}

func short(sum string) string { return sum[:min(len(sum), 12)] }

// oneLeader: no two nodes lead in one term. A node reads its term and its role one
// after the other, so it may take a new role for one of the term before, once.
func oneLeader(t *tally, e *Evidence) {
	seen, leaders := make(map[string]int), make(map[uint64]string)
	for i := range e.Sights {
		s := &e.Sights[i]
		if s.Role != "leader" {
			continue
		}
		who := fmt.Sprint(s.Node, " in ", s.Term)
		if seen[who]++; seen[who] != 2 {
			continue
		}
		if other, known := leaders[s.Term]; known {
			t.find(s.At, nil, "%s and %s lead in term %d", other, s.Node, s.Term)
		}
		leaders[s.Term] = s.Node
	}
	t.count("terms with a leader", len(leaders))
}

// inOrder: the log has no gap, and neither index nor term ever goes back.
func inOrder(t *tally, e *Evidence) {
	t.count("records", len(e.Log))
	for i := 1; i < len(e.Log); i++ {
		before, r := &e.Log[i-1], &e.Log[i]
		if r.BusSeq != before.BusSeq+1 {
			t.find(0, nil, "record %d of the log follows record %d", r.BusSeq, before.BusSeq)
		}
		if r.Index < before.Index || r.Term < before.Term {
			t.find(0, nil, "record %d of the log stands at index %d of term %d, and the one before at index %d of term %d",
				r.BusSeq, r.Index, r.Term, before.Index, before.Term)
		}
	}
}

// lives: a process that ended by itself has a fault that explains it.
func lives(t *tally, e *Evidence) {
	for i := range e.Lives {
		l := &e.Lives[i]
		if l.Wanted || l.What != "ended" {
			continue
		}
		t.count("ended by themselves", 1)
		if !slices.ContainsFunc(e.Faults, func(f history.Fault) bool { return explains(&f, l) }) {
			t.find(l.At, nil, "%s ended by itself: %s", l.Node, cmp.Or(l.Detail, "nobody knows why"))
		}
	}
}

// explains is whether a fault may have ended a process: it says that faults of its
// kind do, it is about this node, and it was there, or had just been taken back.
func explains(f *history.Fault, l *history.Life) bool {
	may, _ := f.Detail["ends"].(bool)
	return may && slices.Contains(f.Nodes, l.Node) && l.At >= f.From && (f.Until == 0 || l.At <= f.Until+int64(endsAfter))
}

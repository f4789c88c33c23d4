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
	"github.com/omnikernel/omnikernel/transport/api"
)

// Reads judges reads that one node answers by itself (CL-4):
//
//   - what stands in the log at one index is one thing, on every node: of two answers
//     about a key, the one of the higher index never has the older version;
//   - whoever asks for an index gets an answer of at least this index, or none: so
//     what was acknowledged at an index is never NOT_FOUND from there on;
//   - a session never goes back;
//   - an answer holds everything that was acknowledged before the read was called,
//     less the lag that the answer names; and that is not above what was asked for.
//
// Every answer says who gave it and as of which index.
type Reads struct{}

// Name implements Checker.
func (Reads) Name() string { return model.Reads }

// Check implements Checker.
func (c Reads) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	keys, sessions := make(map[string][]readsOp), make(map[string][]readsOp)
	for _, name := range []string{"writes", "session reads", "reads from an index", "bounded reads", "not found", "not caught up"} {
		t.count(name, 0)
	}
	for _, op := range e.Of(model.Reads) {
		if op.Outcome != history.Ok {
			if op.Code == "NOT_CAUGHT_UP" {
				t.count("not caught up", 1)
			}
			continue
		}
		r, err := decodeReads(op)
		if err != nil {
			t.find(op.Called, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
			continue
		}
		keys[op.Key] = append(keys[op.Key], r)
		if r.in.Session != "" {
			sessions[r.in.Session] = append(sessions[r.in.Session], r)
		}
		answer(t, &r)
	}
	t.count("keys", len(keys))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		oneContent(t, key, keys[key])
		t.most("oldest answer ms", freshness(t, key, keys[key]))
	}
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		neverBack(t, name, sessions[name])
	}
	if t.verdict.Figures["writes"] == 0 || t.verdict.Figures["bounded reads"] == 0 {
		t.doubt(0, nil, "nothing was written, or nothing read")
	}
	return t.end()
}

// readsOp is one operation that was answered.
type readsOp struct {
	history.Op
	in  model.ReadsIn
	out model.ReadsOut
}

func decodeReads(op history.Op) (r readsOp, err error) {
	r.Op = op
	if r.in, err = history.Decode[model.ReadsIn](op.In); err != nil {
		return r, err
	}
	r.out, err = history.Decode[model.ReadsOut](op.Out)
	return r, err
}

func (r *readsOp) wrote() bool { return r.Name == model.Write || r.Name == model.Define }

// answer judges what an answer says of itself.
func answer(t *tally, r *readsOp) {
	ids := []uint64{r.ID}
	switch {
	case r.wrote():
		t.count("writes", 1)
	case r.in.Session != "":
		t.count("session reads", 1)
	case r.in.MinIndex > 0:
		t.count("reads from an index", 1)
	default:
		t.count("bounded reads", 1)
	}
	if r.out.Version == 0 {
		t.count("not found", 1)
	}
	switch {
	case r.Index == 0 || r.Node == "":
		t.find(r.Returned, ids, "an answer about %s does not say who gives it, or as of when", r.Key)
	case r.in.Node != "" && r.Node != r.in.Node:
		t.find(r.Returned, ids, "%s was asked for %s, and %s answered", r.in.Node, r.Key, r.Node)
	case r.Index < r.in.MinIndex:
		t.find(r.Returned, ids, "%s was asked for index %d, and answered as of %d", r.Node, r.in.MinIndex, r.Index)
	case r.in.MaxLag > 0 && r.out.Lag > r.in.MaxLag:
		t.find(r.Returned, ids, "%s was asked for a lag of at most %d ms, and answered with one of %d", r.Node, r.in.MaxLag, r.out.Lag)
	}
}

// oneContent: the version of a key never goes down while the index goes up.
func oneContent(t *tally, key string, ops []readsOp) {
	sorted := slices.Clone(ops)
	slices.SortStableFunc(sorted, func(a, b readsOp) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.out.Version, b.out.Version))
	})
	values := make(map[uint64]int64)
	for i := range sorted {
		op := &sorted[i]
		if have, known := values[op.out.Version]; known && have != op.out.Value {
			t.find(op.Returned, []uint64{op.ID}, "%s: version %d has the values %d and %d", key, op.out.Version, have, op.out.Value)
		}
		values[op.out.Version] = op.out.Value
		if i == 0 {
			continue
		}
		before := &sorted[i-1]
		switch ids := []uint64{before.ID, op.ID}; {
		case before.out.Version > op.out.Version && op.out.Version == 0:
			t.find(op.Returned, ids, "%s has version %d at index %d, and at index %d %s does not find it",
				key, before.out.Version, before.Index, op.Index, op.Node)
		case before.out.Version > op.out.Version:
			t.find(op.Returned, ids, "%s has version %d at index %d (%s), and version %d at index %d (%s)",
				key, before.out.Version, before.Index, before.Node, op.out.Version, op.Index, op.Node)
		case before.out.Version != op.out.Version && before.Index == op.Index:
			t.find(op.Returned, ids, "%s has the versions %d (%s) and %d (%s) at index %d",
				key, before.out.Version, before.Node, op.out.Version, op.Node, op.Index)
		}
	}
}

// neverBack: a session's reads see no older state than those before.
func neverBack(t *tally, session string, ops []readsOp) {
	slices.SortFunc(ops, func(a, b readsOp) int { return cmp.Compare(a.Called, b.Called) })
	for i := range ops[1:] {
		if before, op := &ops[i], &ops[i+1]; op.Index < before.Index {
			t.find(op.Returned, []uint64{before.ID, op.ID}, "%s has seen index %d, and then %s answered as of %d", session, before.Index, op.Node, op.Index)
		}
	}
}

// freshness: everything that was acknowledged before a read was called, less the
// lag that its answer names, is in the answer. It gives how old the oldest answer
// was, in milliseconds: how long before its call it was outdated.
func freshness(t *tally, key string, ops []readsOp) (oldest int64) {
	var acked []*readsOp // by the time of the answer, each of a higher version
	for i := range ops {
		if ops[i].wrote() {
			acked = append(acked, &ops[i])
		}
	}
	slices.SortFunc(acked, func(a, b *readsOp) int { return cmp.Compare(a.Returned, b.Returned) })
	highest := acked[:0]
	for _, op := range acked {
		if len(highest) == 0 || op.out.Version > highest[len(highest)-1].out.Version {
			highest = append(highest, op)
		}
	}
	for i := range ops {
		op := &ops[i]
		// The first acknowledged write that the answer does not hold.
		at, _ := slices.BinarySearchFunc(highest, op.out.Version, func(w *readsOp, version uint64) int {
			if w.out.Version <= version {
				return -1
			}
			return 1
		})
		if op.wrote() || at == len(highest) {
			continue
		}
		missed := highest[at]
		age := op.Called - missed.Returned
		oldest = max(oldest, age/int64(time.Millisecond))
		if age > allowed(op) {
			t.find(op.Returned, []uint64{missed.ID, op.ID},
				"%s: version %d was acknowledged %.1f ms before %s was asked, who says to be at most %d ms behind and answered with version %d",
				key, missed.out.Version, float64(age)/1e6, op.Node, op.out.Lag, op.out.Version)
		}
	}
	return oldest
}

// allowed is how long before a read's call something may have been acknowledged that
// its answer does not hold. Lags are told in whole milliseconds, rounded down. A key
// that is not found has no answer that tells one: what was asked for counts.
func allowed(op *readsOp) int64 {
	lag := op.out.Lag
	if lag < 0 {
		if op.in.MaxLag == 0 || op.in.Level != api.Stale {
			return math.MaxInt64
		}
		lag = op.in.MaxLag
	}
	return (lag + 1) * int64(time.Millisecond)
}

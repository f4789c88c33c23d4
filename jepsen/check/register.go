package check

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// Register judges whether the keys of shared memory are linearizable registers,
// each by itself. An operation whose outcome is unknown may take effect at any time
// after its call; a read without an answer says nothing.
//
// Beside the search for an order, which package porcupine does, versions are looked
// at: a version belongs to one value, and who asks later never sees a smaller one.
type Register struct {
	Within   time.Duration // for the search on one key; 0 is 30 s. A search that does not end leaves the run unclear
	Pictures bool          // draw the keys that are fine, too, at most MaxFindings
}

// Name implements Checker.
func (Register) Name() string { return model.Register }

// Check implements Checker.
func (c Register) Check(ctx context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	keys := make(map[string][]registerOp)
	for _, op := range e.Of(model.Register) {
		decoded, err := decodeRegister(op)
		if err != nil {
			t.find(op.Called, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
			continue
		}
		keys[op.Key] = append(keys[op.Key], decoded)
	}
	t.count("keys", len(keys))
	for _, name := range []string{"operations", "unknown", "conflicts", "unknown that happened"} {
		t.count(name, 0)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.key(ctx, t, e.Dir, key, keys[key])
	}
	if t.verdict.Figures["operations"] == 0 {
		t.doubt(0, nil, "no operation on a register was answered")
	}
	return t.end()
}

// registerOp is one operation on a register.
type registerOp struct {
	history.Op
	in       model.RegisterIn
	out      model.RegisterOut
	conflict bool // a Swap that was refused for the version
}

func decodeRegister(op history.Op) (r registerOp, err error) {
	r.Op, r.conflict = op, op.Name == model.Swap && op.Outcome == history.Failed && op.Code == "VERSION_CONFLICT"
	if r.in, err = history.Decode[model.RegisterIn](op.In); err != nil {
		return r, err
	}
	r.out, err = history.Decode[model.RegisterOut](op.Out)
	return r, err
}

// told is whether the operation has an answer that says something of the register.
func (r *registerOp) told() bool { return r.Outcome == history.Ok || r.conflict && len(r.Out) > 0 }

// value that the answer speaks of.
func (r *registerOp) value() int64 {
	if r.Name == model.Read {
		return r.out.Value
	}
	return r.in.Value
}

// key judges one register.
func (c Register) key(ctx context.Context, t *tally, dir, key string, ops []registerOp) {
	values := pairs(t, key, ops)
	backwards(t, key, ops)
	steps := linear(t, ops, values)
	t.count("operations", len(steps))
	if len(steps) == 0 {
		return
	}
	if ctx.Err() != nil {
		t.doubt(0, nil, "key %s was not looked at: %v", key, context.Cause(ctx))
		return
	}
	within := cmp.Or(c.Within, 30*time.Second)
	registers := model.Registers()
	result, info := porcupine.CheckOperationsVerbose(registers, steps, within)
	switch result {
	case porcupine.Illegal:
		t.find(steps[0].Call, unplaced(steps, info, func(step any) uint64 { return step.(model.Step).ID }), "key %s: no order of its %d operations agrees with what everybody was told", key, len(steps))
	case porcupine.Unknown:
		t.doubt(steps[0].Call, nil, "key %s: the search for an order of its %d operations did not end in %s", key, len(steps), within)
	case porcupine.Ok:
		if !c.Pictures {
			return
		}
	}
	t.draw(dir, "register-"+strings.ReplaceAll(key, "/", "-")+".html", registers, info)
}

// draw leaves porcupine's picture of a search behind; nothing without a directory.
func (t *tally) draw(dir, file string, of porcupine.Model, info porcupine.LinearizationInfo) {
	if dir == "" || len(t.verdict.Files) >= MaxFindings {
		return
	}
	if err := porcupine.VisualizePath(of, info, filepath.Join(dir, file)); err != nil {
		t.doubt(0, nil, "%s cannot be written: %v", file, err)
		return
	}
	t.verdict.Files = append(t.verdict.Files, file)
}

// pairs finds which value has which version, and says so when a version has two
// values, a value two versions, or a Swap was refused for the version that it had.
func pairs(t *tally, key string, ops []registerOp) (values map[uint64]int64) {
	values = map[uint64]int64{0: 0}
	versions := map[int64]uint64{0: 0}
	for i := range ops {
		op := &ops[i]
		if op.conflict && len(op.Out) > 0 && op.out.Version == op.in.Version {
			t.find(op.Returned, []uint64{op.ID}, "key %s: a cas was refused although the version was %d, as expected", key, op.out.Version)
		}
		if op.Outcome != history.Ok {
			continue
		}
		value, version := op.value(), op.out.Version
		if have, known := values[version]; known && have != value {
			t.find(op.Returned, []uint64{op.ID}, "key %s: version %d has the values %d and %d", key, version, have, value)
		}
		if have, known := versions[value]; known && have != version {
			t.find(op.Returned, []uint64{op.ID}, "key %s: value %d has the versions %d and %d", key, value, have, version)
		}
		values[version], versions[value] = value, version
	}
	return values
}

// backwards finds operations that saw a smaller version than somebody had seen
// before they were called. A write never sees its own version twice.
func backwards(t *tally, key string, ops []registerOp) {
	byReturn := make([]*registerOp, 0, len(ops))
	for i := range ops {
		if ops[i].told() {
			byReturn = append(byReturn, &ops[i])
		}
	}
	byCall := slices.Clone(byReturn)
	slices.SortFunc(byReturn, func(a, b *registerOp) int { return cmp.Compare(a.Returned, b.Returned) })
	slices.SortFunc(byCall, func(a, b *registerOp) int { return cmp.Compare(a.Called, b.Called) })
	var newest *registerOp
	for _, op := range byCall {
		for len(byReturn) > 0 && byReturn[0].Returned < op.Called {
			if newest == nil || byReturn[0].out.Version > newest.out.Version {
				newest = byReturn[0]
			}
			byReturn = byReturn[1:]
		}
		if newest == nil {
			continue
		}
		wrote := op.Outcome == history.Ok && op.Name != model.Read
		if op.out.Version < newest.out.Version || wrote && op.out.Version == newest.out.Version {
			t.find(op.Returned, []uint64{newest.ID, op.ID}, "key %s: version %d was seen before a %s that saw %d was called",
				key, newest.out.Version, op.Name, op.out.Version)
		}
	}
}

// linear makes the steps to be put in order. Left out is what says nothing: reads
// without an answer, refusals for other reasons, and writes of unknown outcome
// whose value nobody saw, unless a Swap met a value that nobody knows.
func linear(t *tally, ops []registerOp, values map[uint64]int64) (steps []porcupine.Operation) {
	seen, mystery := make(map[int64]bool), false
	for i := range ops {
		switch op := &ops[i]; {
		case op.Outcome == history.Ok && op.Name == model.Read:
			seen[op.out.Value] = true
		case op.Outcome == history.Ok && op.Name == model.Swap:
			seen[op.in.From] = true
		case op.conflict:
			value, known := values[op.out.Version]
			seen[value] = seen[value] || known
			mystery = mystery || !known || len(op.Out) == 0
		}
	}
	for i := range ops {
		op := &ops[i]
		step := model.Step{ID: op.ID, Name: op.Name, Value: op.value(), From: op.in.From}
		switch {
		case op.conflict:
			t.count("conflicts", 1)
			step.Outcome = model.Mismatch
			if value, known := values[op.out.Version]; known && len(op.Out) > 0 {
				step.Outcome, step.Value = model.Refused, value
			}
		case op.Outcome == history.Failed, op.Outcome == history.Unknown && op.Name == model.Read:
			continue
		case op.Outcome == history.Unknown:
			t.count("unknown", 1)
			if step.Outcome = model.Maybe; seen[step.Value] {
				t.count("unknown that happened", 1)
			} else if !mystery {
				continue
			}
		}
		steps = append(steps, porcupine.Operation{ClientId: op.Process, Input: step, Call: op.Called, Return: op.End()})
	}
	return steps
}

// unplaced are the first operations that the longest order which was found does not
// hold.
func unplaced(steps []porcupine.Operation, info porcupine.LinearizationInfo, idOf func(step any) uint64) (ids []uint64) {
	longest := make(map[uint64]bool)
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) <= len(longest) {
				continue
			}
			clear(longest)
			for _, op := range order {
				longest[idOf(op.Input)] = true
			}
		}
	}
	for _, op := range steps {
		id := idOf(op.Input)
		if !longest[id] && len(ids) < 5 {
			ids = append(ids, id)
		}
	}
	return ids
}

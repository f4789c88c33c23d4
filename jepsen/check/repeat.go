package check

import (
	"context"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Repeat judges commands that were sent several times under one name (CL-3, CL-10):
// the log has each once, and its repetitions as such; every answer is the first one,
// and all but one say so; a command that was acknowledged took effect, and one that
// was never asked did not.
type Repeat struct{}

// Name implements Checker.
func (Repeat) Name() string { return model.Repeat }

// repeated is one command, by its name.
type repeated struct {
	judged []*command // with an outcome of its own
	again  []*command
}

// Check implements Checker.
func (c Repeat) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	for _, name := range []string{"commands", "answers", "repetitions", "too late", "unknown", "duplicates on record"} {
		t.count(name, 0)
	}
	commands, err := readCommands(e.Log)
	if err != nil {
		t.doubt(0, nil, "the log cannot be read: %v", err)
		return t.end()
	}
	named := make(map[model.RepeatIn]*repeated)
	for i := range commands.all {
		cmd := &commands.all[i]
		name := model.RepeatIn{Key: cmd.Key, Session: cmd.Session, Sequence: cmd.Sequence}
		if named[name] == nil {
			named[name] = new(repeated)
		}
		switch r := named[name]; {
		case cmd.Again != 0:
			r.again = append(r.again, cmd)
		case cmd.Judged && kernels(cmd.Code):
			r.judged = append(r.judged, cmd)
		}
	}
	byName, order := byKey(e.Of(model.Repeat))
	for _, key := range order {
		c.judge(t, key, byName[key], named)
	}
	if t.verdict.Figures["repetitions"] == 0 {
		t.doubt(0, nil, "no command was answered a second time")
	}
	return t.end()
}

func (Repeat) judge(t *tally, key string, ops []history.Op, named map[model.RepeatIn]*repeated) {
	t.count("commands", 1)
	in, err := history.Decode[model.RepeatIn](ops[0].In)
	if err != nil {
		t.doubt(0, nil, "operation %d cannot be read: %v", ops[0].ID, err)
		return
	}
	in.Node = ""
	r := named[in]
	if r == nil {
		r = new(repeated)
	}
	ids := opIDs(ops)
	if len(r.judged) > 1 {
		t.find(ops[0].Called, ids, "%s was judged %d times, at busSeq %d and %d", key, len(r.judged), r.judged[0].Seq, r.judged[1].Seq)
	}
	for _, again := range r.again {
		t.count("duplicates on record", 1)
		if len(r.judged) == 0 || again.Again != r.judged[0].Index {
			t.find(ops[0].Called, ids, "busSeq %d is a repetition of %s at index %d, and that is not there", again.Seq, key, again.Again)
		}
	}
	var first *command
	if len(r.judged) > 0 {
		first = r.judged[0]
	}
	same(t, key, ops, first)
}

// same demands that every answer is the first one.
func same(t *tally, key string, ops []history.Op, first *command) {
	asked, fresh := false, 0
	var version uint64
	for i := range ops {
		op := &ops[i]
		ids := []uint64{op.ID}
		switch {
		case op.Outcome == history.Unknown:
			t.count("unknown", 1)
			asked = true
		case op.Outcome == history.Ok:
			t.count("answers", 1)
			asked = true
			done, err := history.Decode[api.Done](op.Out)
			switch {
			case err != nil:
				t.doubt(op.Called, ids, "operation %d cannot be read: %v", op.ID, err)
			case first == nil || !first.done():
				t.find(op.Returned, ids, "%s was acknowledged at index %d, and is not in the log", key, done.Index)
			case done.Index != first.Index || done.BusSeq != first.Seq || done.AgentID != first.AgentID || done.State != first.State:
				t.find(op.Returned, ids, "%s was answered with index %d, busSeq %d, agent %q in %q, and the first time with %d, %d, %q in %q",
					key, done.Index, done.BusSeq, done.AgentID, done.State, first.Index, first.Seq, first.AgentID, first.State)
			case version != 0 && done.Version != version:
				t.find(op.Returned, ids, "%s was answered with version %d, and before with %d", key, done.Version, version)
			}
			version = done.Version
			if done.Repeated {
				t.count("repetitions", 1)
			} else if fresh++; fresh > 1 {
				t.find(op.Returned, ids, "%s was said to be new %d times", key, fresh)
			}
		case op.Code == "ALREADY_ACKNOWLEDGED":
			t.count("too late", 1)
		case op.Code == "SEQUENCE_REUSED", op.Code == "SEQUENCE_OUT_OF_WINDOW":
			t.find(op.Returned, ids, "%s was refused with %s, and is the same command every time", key, op.Code)
		case op.Index != 0 && kernels(op.Code):
			asked = true
			if first == nil || first.Code != op.Code || first.Index != op.Index {
				t.find(op.Returned, ids, "%s was refused with %s at index %d, and that is not in the log", key, op.Code, op.Index)
			}
		}
	}
	if first != nil && !asked {
		t.find(ops[0].Called, opIDs(ops), "%s is in the log at busSeq %d, and every attempt failed before it was asked", key, first.Seq)
	}
}

var _ Checker = Repeat{}

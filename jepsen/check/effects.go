package check

import (
	"context"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Effects compares what clients were told with the log, for the commands of every
// workload (CL-2, CL-3): what was acknowledged is in the log where the answer says,
// as it was sent, and once; what was refused by the kernel is there as a refusal
// with the same code, and has no effect; what failed otherwise has none either; and
// of what nobody knows there is one effect at most for each time it was asked for.
//
// It relies on bodies that are unique, or at least that are the same only where the
// same thing was asked for.
type Effects struct{}

// Name implements Checker.
func (Effects) Name() string { return "effects" }

// asked are the operations that sent one and the same command.
type asked struct {
	acknowledged []uint64 // distinct busSeqs
	ids          []uint64
	unknown      int
	applied      []uint64 // busSeqs at which the log has it done
}

// Check implements Checker.
func (Effects) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally("effects")
	log, err := readCommands(e.Log)
	if err != nil {
		t.doubt(0, nil, "the log cannot be read: %v", err)
		return t.end()
	}
	all := make(map[[2]string]*asked)
	var order [][2]string
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.Sent == nil {
			continue
		}
		body, err := canonical(op.Sent.Body)
		if err != nil {
			t.doubt(0, nil, "operation %d: its command cannot be read: %v", op.ID, err)
			continue
		}
		name := [2]string{op.Sent.Event, body}
		if all[name] == nil {
			all[name] = new(asked)
			order = append(order, name)
		}
		all[name].add(op)
		t.placed(op, name, log)
	}
	for i := range log.all {
		c := &log.all[i]
		if a := all[[2]string{c.Event, c.Body}]; a != nil && c.done() {
			a.applied = append(a.applied, c.Seq)
		}
	}
	for _, name := range order {
		t.counted(name, all[name])
	}
	if t.verdict.Figures["acknowledged"] == 0 {
		t.doubt(0, nil, "no command was acknowledged")
	}
	return t.end()
}

func (a *asked) add(op *history.Op) {
	a.ids = append(a.ids, op.ID)
	switch op.Outcome {
	case history.Ok:
		if !slices.Contains(a.acknowledged, op.Seq) {
			a.acknowledged = append(a.acknowledged, op.Seq)
		}
	case history.Unknown:
		a.unknown++
	}
}

// placed looks at the place in the log that an answer names.
func (t *tally) placed(op *history.Op, sent [2]string, log *commandLog) {
	ids := []uint64{op.ID}
	switch {
	case op.Outcome == history.Unknown:
		t.count("unknown", 1)
	case op.Outcome == history.Ok:
		t.count("acknowledged", 1)
		c := log.at(op.Seq)
		switch {
		case c == nil:
			t.find(op.Returned, ids, "%s was acknowledged at busSeq %d, and the log has no command there", sent[0], op.Seq)
		case [2]string{c.Event, c.Body} != sent:
			t.find(op.Returned, ids, "%s %s was acknowledged at busSeq %d, and the log has %s %s there", sent[0], sent[1], op.Seq, c.Event, c.Body)
		case !c.done() || c.Index != op.Index:
			t.find(op.Returned, ids, "%s was acknowledged at index %d, and the log has it at %d with the outcome %q", sent[0], op.Index, c.Index, c.Code)
		default:
			t.answered(op, c)
		}
	case op.Index != 0 && kernels(op.Code):
		t.count("refused", 1)
		switch c := log.index(op.Index); {
		case c == nil || [2]string{c.Event, c.Body} != sent:
			t.find(op.Returned, ids, "%s was refused with %s at index %d, and the log does not have it there", sent[0], op.Code, op.Index)
		case c.Code != op.Code:
			t.find(op.Returned, ids, "%s was refused with %s at index %d, and the log has the outcome %q", sent[0], op.Code, op.Index, c.Code)
		}
	default:
		t.count("not asked", 1)
	}
}

// answered compares an acknowledgement with the outcome on record.
func (t *tally) answered(op *history.Op, c *command) {
	done, err := history.Decode[api.Done](op.Out)
	if err != nil || done.Index == 0 {
		return // the workload's own type
	}
	if done.AgentID != c.AgentID || done.State != c.State {
		t.find(op.Returned, []uint64{op.ID}, "%s was answered with agent %q in state %q, and the log has %q in %q",
			c.Event, done.AgentID, done.State, c.AgentID, c.State)
	}
}

// counted compares how often a command took effect with what was told.
func (t *tally) counted(name [2]string, a *asked) {
	least, most := len(a.acknowledged), len(a.acknowledged)+a.unknown
	switch n := len(a.applied); {
	case n < least:
		t.find(0, a.ids, "%s %s was acknowledged %d times, and took effect %d times", name[0], name[1], least, n)
	case n > most && most == 0:
		t.find(0, a.ids, "%s %s failed, and took effect at %d", name[0], name[1], a.applied)
	case n > most:
		t.find(0, a.ids, "%s %s took effect %d times, at %d, and was asked for %d times", name[0], name[1], n, a.applied, most)
	default:
		t.count("found", n-least)
	}
}

// kernels is whether a refusal with this code and an index was recorded by the
// kernel (api.Error.Recorded). What another try may overcome comes from a node, with
// the index that it had reached; but for a queue that is full.
func kernels(code string) bool {
	info, _ := api.Lookup(code)
	return (&api.Error{Code: code, Index: 1}).Recorded() && (!info.Retry || code == "QUEUE_FULL")
}

var _ Checker = Effects{}

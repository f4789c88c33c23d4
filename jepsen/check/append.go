package check

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// Append judges messages to mailboxes (CL-3, ME-5): each one that was acknowledged
// is in the log once, what failed is not, and nothing else is; their order in the
// log agrees with the order in which they were sent and acknowledged; the agent says
// them again in that order; and whoever reads what it said, at any node, reads the
// beginning of it, with all that was acknowledged before.
type Append struct{}

// Name implements Checker.
func (Append) Name() string { return model.Append }

// box is one mailbox.
type box struct {
	order []string       // messages, in the order of the log
	place map[string]int // in it
	said  []string
}

// Check implements Checker.
func (c Append) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	for _, name := range []string{"messages", "acknowledged", "unknown", "unknown that happened", "said", "lists"} {
		t.count(name, 0)
	}
	ops := e.Of(model.Append)
	byAgent, order := byKey(ops)
	all, err := readBoxes(e, byAgent)
	if err != nil {
		t.doubt(0, nil, "the log cannot be read: %v", err)
		return t.end()
	}
	for _, id := range order {
		c.judge(t, id, byAgent[id], all[id])
	}
	if t.verdict.Figures["acknowledged"] == 0 || t.verdict.Figures["lists"] == 0 {
		t.doubt(0, nil, "no message was acknowledged, or nothing that was said was read")
	}
	return t.end()
}

// readBoxes takes what was sent to each agent, and what it said, out of the log.
func readBoxes(e *Evidence, ours map[string][]history.Op) (map[string]*box, error) {
	all := make(map[string]*box, len(ours))
	for id := range ours {
		all[id] = &box{place: make(map[string]int)}
	}
	commands, err := readCommands(e.Log)
	if err != nil {
		return nil, err
	}
	for i := range commands.all {
		cmd := &commands.all[i]
		if b := all[cmd.AgentID]; b != nil && cmd.Event == "AGENT_SEND" && cmd.done() {
			text, err := messageOf([]byte(cmd.Body))
			if err != nil {
				return nil, err
			}
			b.order = append(b.order, text)
		}
	}
	for i := range e.Log {
		r := &e.Log[i]
		if b := all[r.AgentID]; b != nil && r.Kind == "EMITTED" {
			body, err := bodyOf[struct {
				Value string `json:"value"`
			}](r)
			if err != nil {
				return nil, err
			}
			b.said = append(b.said, body.Value)
		}
	}
	return all, nil
}

func messageOf(body []byte) (string, error) {
	var sent struct {
		Message string `json:"message"`
	}
	err := json.Unmarshal(body, &sent)
	return sent.Message, err
}

func (Append) judge(t *tally, id string, ops []history.Op, b *box) {
	t.count("messages", len(b.order))
	t.count("said", len(b.said))
	for i, text := range b.order {
		if first, twice := b.place[text]; twice {
			t.find(0, nil, "agent %s got the message %s twice, at places %d and %d", id, text, first, i)
			continue
		}
		b.place[text] = i
	}
	if want := b.order[:min(len(b.order), model.Echoed)]; !slices.Equal(b.said, want) {
		t.find(0, nil, "agent %s said %s, and got %s", id, b.said, want)
	}
	inTurn(t, ops, "mailbox "+id)
	sent := make(map[string]bool)
	for i := range ops {
		if op := &ops[i]; op.Name == "send" && op.Sent != nil {
			sent[b.sent(t, op)] = true
		}
	}
	for _, text := range b.order {
		if !sent[text] {
			t.find(0, nil, "agent %s got the message %q, and nobody sent it", id, text)
		}
	}
	b.lists(t, id, ops)
}

// sent looks for one message, and gives its text.
func (b *box) sent(t *tally, op *history.Op) string {
	text, err := messageOf(op.Sent.Body)
	if err != nil {
		t.doubt(op.Called, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
		return ""
	}
	_, there := b.place[text]
	switch {
	case op.Outcome == history.Ok:
		t.count("acknowledged", 1)
		if !there {
			t.find(op.Returned, []uint64{op.ID}, "the message %s to agent %s was acknowledged, and is lost", text, op.Key)
		}
	case op.Outcome == history.Unknown:
		t.count("unknown", 1)
		if there {
			t.count("unknown that happened", 1)
		}
	case there:
		t.find(op.Returned, []uint64{op.ID}, "the message %s to agent %s was refused with %s, and is there", text, op.Key, op.Code)
	}
	return text
}

// lists judges what was read of what the agent said.
func (b *box) lists(t *tally, id string, ops []history.Op) {
	for i := range ops {
		op := &ops[i]
		if op.Name != "list" || op.Outcome != history.Ok {
			continue
		}
		t.count("lists", 1)
		out, err := history.Decode[model.ListOut](op.Out)
		if err != nil {
			t.doubt(op.Called, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
			continue
		}
		if len(out.Said) > len(b.said) || !slices.Equal(out.Said, b.said[:len(out.Said)]) {
			t.find(op.Returned, []uint64{op.ID}, "agent %s was read at %s to have said %s, and said %s", id, op.Node, out.Said, b.said)
			continue
		}
		for j := range ops {
			before := &ops[j]
			if before.Name != "send" || before.Outcome != history.Ok || before.Returned >= op.Called {
				continue
			}
			text, err := messageOf(before.Sent.Body)
			if place, there := b.place[text]; err == nil && there && place < model.Echoed && place >= len(out.Said) {
				t.find(op.Returned, []uint64{before.ID, op.ID}, "%s was acknowledged to agent %s, and a read at %s afterwards did not see it",
					text, id, op.Node)
				break
			}
		}
	}
}

var _ Checker = Append{}

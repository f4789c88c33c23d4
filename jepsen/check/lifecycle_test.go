package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// goes writes a transition.
func (b *book) goes(agent string, from, to model.State, trigger, caller string) uint64 {
	return b.record("LIFECYCLE", agent, map[string]any{"from": from, "to": to, "trigger": trigger, "caller": caller})
}

func trigger(name string) map[string]any { return map[string]any{"agent": "a1", "trigger": name} }

// lifecycleWritten is the life of an agent that is defined, spawned, activated twice,
// suspended, read, and killed.
func lifecycleWritten(b *book) {
	w := model.Lifecycle
	done := func(do, kind string, body any, state model.State, moves func()) {
		b.send(w, do, "a1", model.Ask{Do: do}, kind, body, "a1", string(state))
		moves()
	}
	done("define", "AGENT_DEFINE", map[string]any{"id": "a1"}, model.Defined, func() {
		b.record("AGENT_DEFINED", "a1", map[string]any{"agent_id": "a1"})
	})
	b.event("AGENT_TRIGGER", trigger("spawn"), nil) // its session had expired: the client sends it again in another
	b.outcome("", "", "SESSION_EXPIRED")
	done("spawn", "AGENT_TRIGGER", trigger("spawn"), model.Spawned, func() {
		b.goes("a1", model.Defined, model.Spawned, "spawn", "client")
	})
	done("activate", "AGENT_TRIGGER", trigger("activate"), model.Active, func() {
		b.goes("a1", model.Spawned, model.Active, "activate", "client")
	})
	again := map[string]any{"agent": "a1", "trigger": "activate", "reason": "again"}
	b.refuse(w, "activate", "a1", model.Ask{Do: "activate"}, "AGENT_TRIGGER", again, "a1", "ACTIVE", "INVALID_TRANSITION")
	b.record("INVALID_TRANSITION", "a1", map[string]any{"from": "ACTIVE", "trigger": "activate", "caller": "client"})
	unknown := func(name string) {
		b.op(history.Op{
			Workload: w, Name: name, Key: "a1", In: b.json(model.Ask{Do: name}), Outcome: history.Unknown,
			Sent: &history.Sent{Event: "AGENT_TRIGGER", Body: b.json(trigger(name))},
		})
	}
	unknown("resume") // it never happened
	b.event("AGENT_TRIGGER", trigger("suspend"), nil)
	b.outcome("a1", string(model.Resumable), "")
	b.goes("a1", model.Active, model.Resumable, "suspend", "client")
	unknown("suspend") // it did
	b.event("AGENT_TRIGGER", map[string]any{"agent": "a1", "trigger": "resume", "reason": "known"}, nil)
	b.outcome("a1", string(model.Active), "")
	b.goes("a1", model.Resumable, model.Active, "resume", "client")
	b.op(history.Op{
		Workload: w, Name: "resume", Key: "a1", In: b.json(model.Ask{Do: "resume"}), Outcome: history.Ok, Index: b.index, Seq: b.last("EVENT"),
		Sent: &history.Sent{Event: "AGENT_TRIGGER", Body: b.json(map[string]any{"agent": "a1", "trigger": "resume", "reason": "known"})},
		Out:  b.json(model.Seen{State: model.Active}),
	})
	done("suspend", "AGENT_TRIGGER", map[string]any{"agent": "a1", "trigger": "suspend", "reason": "known"}, model.Resumable, func() {
		b.goes("a1", model.Active, model.Resumable, "suspend", "client")
	})
	b.op(history.Op{
		Workload: w, Name: "get", Key: "a1", In: b.json(model.Ask{Do: "get"}), Outcome: history.Ok, Index: b.index,
		Out: b.json(model.Seen{State: model.Resumable}),
	})
	done("kill", "AGENT_KILL", map[string]any{"agent": "a1"}, model.Terminated, func() {
		b.goes("a1", model.Resumable, model.Terminated, "expire", "kernel")
	})
	b.op(history.Op{
		Workload: w, Name: "get", Key: "a2", In: b.json(model.Ask{Do: "get"}), Outcome: history.Failed, Index: b.index, Code: "NOT_FOUND",
	})
}

// LC-1, LC-2, LC-3
func TestLifecycle(t *testing.T) {
	op := func(b *book, name string) *history.Op {
		for i := range b.e.Ops {
			if b.e.Ops[i].Name == name {
				return &b.e.Ops[i]
			}
		}
		return nil
	}
	finds(t, check.Lifecycle{}, lifecycleWritten, []wrong{
		{"a row that is not in the table", func(b *book) { b.change(b.last("LIFECYCLE"), "trigger", "abandon") }, "no such row"},
		{"a row of somebody else", func(b *book) { b.change(b.last("LIFECYCLE"), "caller", "parent") }, "no such row"},
		{"another end of the row", func(b *book) { b.change(b.last("LIFECYCLE"), "to", "ACTIVE") }, "no such row"},
		{"from elsewhere", func(b *book) { b.change(b.last("LIFECYCLE"), "from", "ACTIVE") }, "and it is RESUMABLE"},
		{"refused although it may", func(b *book) { b.change(b.last("INVALID_TRANSITION"), "trigger", "suspend") }, "the table has it"},
		{"refused from elsewhere", func(b *book) { b.change(b.last("INVALID_TRANSITION"), "from", "SPAWNED") }, "and it is ACTIVE"},
		{"a transition after the end", func(b *book) { b.goes("a1", model.Terminated, model.Active, "resume", "client") }, "no such row"},
		{"a transition of nobody", func(b *book) { b.goes("a9", model.Defined, model.Spawned, "spawn", "client") }, "is not defined"},
		{"defined twice", func(b *book) { b.record("AGENT_DEFINED", "a1", nil) }, "a second time"},
		{"a transition without its command", func(b *book) {
			b.event("PULSE", nil, nil)
			b.record("AGENT_DEFINED", "a3", nil)
			b.send(model.Lifecycle, "define", "a3", model.Ask{Do: "define"}, "AGENT_DEFINE", map[string]any{"id": "a3"}, "a3", "DEFINED")
			b.goes("a3", model.Defined, model.Spawned, "spawn", "client")
		}, "is SPAWNED instead of DEFINED"},
		{"accepted although it may not", func(b *book) {
			b.send(model.Lifecycle, "resume", "a1", model.Ask{Do: "resume"}, "AGENT_TRIGGER", trigger("resume"), "a1", "ACTIVE")
		}, `came to "" instead of "INVALID_TRANSITION"`},
		{"refused with another code", func(b *book) {
			body := map[string]any{"agent": "a1", "reason": "again"}
			b.refuse(model.Lifecycle, "kill", "a1", model.Ask{Do: "kill"}, "AGENT_KILL", body, "a1", "TERMINATED", "NOT_FOUND")
		}, `came to "NOT_FOUND" instead of "INVALID_TRANSITION"`},
		{"answered with another state", func(b *book) { op(b, "spawn").Out = b.json(model.Seen{State: model.Active}) }, "there is no order"},
		{"refused for another state", func(b *book) {
			for i := range b.e.Ops {
				if b.e.Ops[i].Outcome == history.Failed && b.e.Ops[i].Name == "activate" {
					b.e.Ops[i].Out = b.json(model.Seen{State: model.Spawned})
				}
			}
		}, "there is no order"},
		{"read another state", func(b *book) { op(b, "get").Out = b.json(model.Seen{State: model.Active}) }, `was read as "ACTIVE"`},
		{"not found and there", func(b *book) { b.e.Ops[len(b.e.Ops)-1].Key = "a1" }, `was read as ""`},
		{"read an older state", func(b *book) {
			late := op(b, "get")
			late.Out, late.Index = b.json(model.Seen{State: model.Spawned}), 2
		}, "was asked for after"},
		{"an unknown one that must have happened, and did not", func(b *book) {
			for i := range b.e.Ops {
				if b.e.Ops[i].Outcome == history.Unknown && b.e.Ops[i].Name == "suspend" {
					b.e.Ops[i].Sent.Body = b.json(trigger("elsewhere"))
				}
			}
		}, "there is no order"},
		{"answered out of turn", func(b *book) { op(b, "spawn").Index = op(b, "activate").Index }, "was asked for after"},
	})
}

// A table that is not the specification's is noticed: every row of the document is
// there, and no other leads anywhere.
func TestTable(t *testing.T) {
	require := func(from model.State, trigger, caller string, to model.State) {
		t.Helper()
		if got, ok := model.Next(from, trigger, caller); !ok || got != to {
			t.Errorf("%s %s by %s leads to %q", from, trigger, caller, got)
		}
	}
	require(model.Defined, "spawn", "client", model.Spawned)
	require(model.Active, "suspend", "parent", model.Resumable)
	require(model.Waiting, "timeout", "scheduler", model.Faulted)
	for _, row := range model.Table {
		if row.From == model.Terminated {
			t.Errorf("%v leaves the end", row)
		}
	}
	if _, ok := model.Next(model.Waiting, "resume", "client"); ok {
		t.Error("row 7 is the scheduler's only")
	}
}

// A finding of the log has the time of the operation that shows it, and where there is
// no order of operations, the search is drawn.
func TestFindingsCanBeSeen(t *testing.T) {
	b := newBook(t)
	lifecycleWritten(b)
	b.e.Dir = t.TempDir()
	var spawn *history.Op
	for i := range b.e.Ops {
		if b.e.Ops[i].Name == "spawn" {
			spawn = &b.e.Ops[i]
		}
	}
	spawn.Out = b.json(model.Seen{State: model.Active})
	v := check.Judge(t.Context(), check.Lifecycle{}, b.e)
	require.Equal(t, []string{"agent-a1.html"}, v.Files)
	picture, err := os.ReadFile(filepath.Join(b.e.Dir, "agent-a1.html"))
	require.NoError(t, err)
	require.Contains(t, string(picture), "spawn")
	require.NotZero(t, v.Findings[0].Ops)

	b = newBook(t)
	lifecycleWritten(b)
	body := map[string]any{"agent": "a1", "reason": "again"}
	b.refuse(model.Lifecycle, "kill", "a1", model.Ask{Do: "kill"}, "AGENT_KILL", body, "a1", "TERMINATED", "NOT_FOUND")
	v = check.Judge(t.Context(), check.Lifecycle{}, b.e)
	require.NotEmpty(t, v.Findings)
	kill := b.e.Ops[len(b.e.Ops)-1]
	require.Equal(t, kill.Called, v.Findings[0].At, "%+v", v.Findings)
	require.NotZero(t, kill.Called)
}

package kerneltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// Agrees lets the model take the newest event of the simulation in, and fails
// the test when the model and the kernel do not agree on anything that both
// know.
func (n *Naive) Agrees(s *Sim, outcome event.Outcome) {
	s.T.Helper()
	index := len(s.Log)
	e := s.Log[index-1].Event
	told := Told{}
	if index > 1 {
		before, err := logging.Decode(s.Blocks[index-2])
		require.NoError(s.T, err)
		told.Before = logging.Point{LastIndex: before.Index, Chain: before.Chain()}
	}
	told.Records, told.Marks = make(map[uint32]uint64), make(map[uint32]uint64)
	counts := n.config != nil && n.config.Version >= 2
	for _, r := range s.Last() {
		switch kind := bus.Kind(r.Kind); {
		case kind == bus.KernelUpgraded:
			counts = true
		case !counts || r.Agent == 0:
		case kind == bus.AgentLogWarning || kind == bus.AgentLogExceeded:
			told.Marks[r.Agent] += uint64(r.Size())
		default:
			told.Records[r.Agent] += uint64(r.Size())
		}
		switch b := r.Content.(type) {
		case *memory.Access:
			if b.Op == memory.OpWrite {
				told.Versions = append(told.Versions, r.Seq)
			}
		case *permissions.Escalated:
			told.Escalations = append(told.Escalations, r.Seq)
		case *tools.RegisteredBody:
			told.Revision = r.Seq
		}
	}
	answer := n.Apply(&e, told)
	where := fmt.Sprintf("index %d, %s", index, e.Kind)
	if outcome.Done() {
		require.Empty(s.T, answer.Refusals, "%s: the kernel did it", where)
	} else {
		require.Contains(s.T, answer.Refusals, outcome.Refusal.Code, "%s: the kernel says %s: %s", where, outcome.Refusal.Field, outcome.Refusal.Rule)
	}
	if outcome.Done() && answer.Agent != nil && e.Kind.IsCommand() {
		require.Equal(s.T, [16]byte(*answer.Agent), outcome.Agent, where)
		require.Equal(s.T, answer.State, lifecycle.State(outcome.State), where)
	}
	require.Empty(s.T, n.versions, "%s: writes that the model did not expect", where)
	require.Zero(s.T, n.revision, "%s: a registration that the model did not expect", where)
	require.Empty(s.T, n.numbers, "%s: escalations that the model did not expect", where)
	st := s.State()
	_, cascading := st.Delegation.FirstCascade()
	require.False(s.T, cascading || st.Running.Len() > 0 && !n.stopped, "%s: the event had more work than its budget", where)
	model, real := n.lines(), linesOf(st)
	if !slices.Equal(model, real) {
		require.FailNow(s.T, "the model and the kernel disagree", "%s\nonly the model:\n%s\nonly the kernel:\n%s", where,
			strings.Join(without(model, real), "\n"), strings.Join(without(real, model), "\n"))
	}
}

func without(a, b []string) (left []string) {
	for _, line := range a {
		if !slices.Contains(b, line) {
			left = append(left, line)
		}
	}
	return left
}

// lines is all that the model knows, in words.
func (n *Naive) lines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	archived := 0
	for _, a := range n.agents {
		if a.archived {
			archived++
			continue
		}
		from := "root"
		if a.parent != nil {
			from = fmt.Sprintf("child of %d by %d/%d", a.parent.no, a.from.tick, a.from.call)
		}
		add("agent %d %s %s %s fault %s suspending %v, %s", a.no, IDOf(a.id), a.state, a.code, a.fault, a.suspending, from)
		if r := a.result; r != nil {
			add("agent %d result %v %s %x", a.no, r.ok, r.code, bare(r.value))
		}
		if code, void := n.void(a); a.state != lifecycle.Terminated { // of what is over nobody asks
			add("agent %d token void %v %s depth %d expires %d torn %v", a.no, void, code, a.depth, a.expires, a.torn)
		}
		add("agent %d ticks %d queued %d mail %d log %d warned %v exceeded %v", a.no, a.lastTick, len(a.instructions), len(a.messages), a.logged, a.warned, a.exceeded)
		for i, m := range a.messages {
			add("agent %d message %d %x", a.no, i, []byte(m))
		}
		for _, key := range slices.Sorted(maps.Keys(a.memory)) {
			add("agent %d memory %s %d %x", a.no, key, a.memory[key].version, []byte(a.memory[key].value))
		}
		if a.tick != nil {
			add("agent %d tick %d steps %d calls %d", a.no, a.tick.seq, a.tick.steps, a.tick.calls)
			for _, c := range a.tick.waits {
				if c.outbox {
					add("outbox %d/%d/%d %s@%d %s dispatched %v", a.no, a.tick.seq, c.no, c.tool, c.revision, c.resource, c.dispatched)
				}
			}
		}
		for _, r := range a.requests {
			add("request %d/%d/%d open %d cancelled %v", a.no, r.tick, r.call, r.open, r.cancelled)
		}
	}
	for _, e := range n.escalations {
		var handler uint32
		if e.handler != nil {
			handler = e.handler.no
		}
		add("escalation %d of %d/%d/%d %s handler %d offered %v", e.number, e.agent.no, e.tick, e.call.no, e.resource, handler, e.offered)
	}
	for namespace, memory := range n.shared {
		for key, s := range memory {
			add("shared %s %s %d %x", namespace, key, s.version, []byte(s.value))
		}
	}
	for _, t := range n.timers {
		add("timer %d of %d for %d", t.purpose, t.agent.no, t.deadline)
	}
	for no := range n.revisions() {
		add("revision %d", no)
	}
	n.runLines(add)
	add("archived %d, suspended %v", archived, n.stopped)
	slices.Sort(lines)
	return lines
}

// linesOf is the same of a kernel's state.
func linesOf(st *state.State) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	rows := tokens(st)
	archived := 0
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := st.Agents.Get(no)
		if row.Identity.Archived {
			archived++
			continue
		}
		d := &row.Delegation
		from := "root"
		if d.Parent != 0 {
			from = fmt.Sprintf("child of %d by %d/%d", d.Parent, d.Tick, d.Call)
		}
		add("agent %d %s %s %s fault %s suspending %v, %s", no, IDOf(row.Identity.ID), row.Lifecycle.State, row.Lifecycle.Code,
			row.Lifecycle.Fault, row.Lifecycle.Suspending != 0, from)
		if r := row.Execution.Result; r != nil {
			add("agent %d result %v %s %x", no, r.OK, r.Code, bare(r.Value))
		}
		if inForce, code, _ := delegation.InForce(rows, no, st.Clock); row.Lifecycle.State != lifecycle.Terminated {
			add("agent %d token void %v %s depth %d expires %d torn %v", no, !inForce, code, d.Depth, d.Expires, row.Execution.Torn)
		}
		add("agent %d ticks %d queued %d mail %d log %d warned %v exceeded %v", no, row.Execution.LastTick, len(row.Execution.Queue), len(row.Mailbox.Messages),
			row.Logged.Bytes, row.Logged.Warned, row.Logged.Exceeded)
		for i, m := range row.Mailbox.Messages {
			add("agent %d message %d %x", no, i, []byte(m))
		}
		if t := row.Execution.Current; t != nil {
			add("agent %d tick %d steps %d calls %d", no, t.Seq, t.Steps, t.Calls)
		}
	}
	st.Memory.All(func(e *memory.Entry) bool {
		add("agent %d memory %s %d %x", e.Agent, e.Key, e.Version, []byte(e.Value))
		return true
	})
	st.Memory.AllShared(func(e *memory.Entry) bool {
		add("shared %s %s %d %x", e.Namespace, e.Key, e.Version, []byte(e.Value))
		return true
	})
	st.Tools.All(func(c *tools.Call) bool {
		add("outbox %d/%d/%d %s@%d %s dispatched %v", c.Key.Agent, c.Key.Tick, c.Key.Call, c.Tool, c.Revision, c.Resource, c.Dispatched != 0)
		return true
	})
	st.Delegation.All(func(o *delegation.Open) bool {
		add("request %d/%d/%d open %d cancelled %v", o.Parent, o.Tick, o.Call, o.Open, o.Cancelled)
		return true
	})
	st.Escalations.All(func(e *permissions.Escalation) bool {
		add("escalation %d of %d/%d/%d %s handler %d offered %v", e.ID, e.Agent, e.Tick, e.Call, e.Resource, e.Handler, e.Offered)
		return true
	})
	st.Timers.All(func(t timers.Timer) bool {
		add("timer %d of %d for %d", t.Purpose, t.Agent, t.Deadline)
		return true
	})
	st.Tools.AllRevisions(func(r *tools.Revision) bool { add("revision %d", r.No); return true })
	runLinesOf(st, add)
	add("archived %d, suspended %v", archived, st.Estop.Suspended())
	slices.Sort(lines)
	return lines
}

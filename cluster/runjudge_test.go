package cluster_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// judge holds a run against what it must have come to, whoever died: on every node
// alike, by the state, by the log, and by what the shop has seen.
func (b *bought) judge(t *testing.T, unknown *atomic.Int32) {
	t.Helper()
	b.sameLogs(t)
	auditor := logaudit.New("default")
	for _, raw := range b.blocks(0) {
		require.NoError(t, auditor.Feed(raw))
	}
	require.Empty(t, auditor.Report().Findings)
	log := b.log(t)
	b.judgeRun(t, log)
	b.judgeMoney(t, log, unknown)
}

// judgeRun: every task ran once, in order, and the run was paused once, by its
// budget, after the second.
func (b *bought) judgeRun(t *testing.T, log []decoded) {
	t.Helper()
	var path, tasks []string
	ticks := make(map[uint64]int)
	for _, r := range log {
		switch body := r.Content.(type) {
		case *runs.Event:
			path = append(path, body.Trigger.String()+" by "+body.Cause.String())
		case *runs.TaskBody:
			tasks = append(tasks, r.Name+" "+string(rune('a'+body.Task)))
		}
		switch bus.Kind(r.Kind) {
		case bus.InstructionQueued, bus.TickCompleted, bus.Emitted:
			ticks[r.Tick]++
		case bus.TickFailed, bus.RunTaskFailed:
			require.Fail(t, "a task failed", "%s", r.Name)
		}
	}
	require.Equal(t, []string{"ready by operator", "start by kernel", "pause by budget", "resume by operator", "complete by kernel"}, path)
	require.Equal(t, []string{
		"RUN_TASK_STARTED a", "RUN_TASK_COMPLETED a", "RUN_TASK_STARTED b", "RUN_TASK_COMPLETED b", "RUN_TASK_STARTED c", "RUN_TASK_COMPLETED c",
	}, tasks)
	require.Equal(t, map[uint64]int{0: 3, 1: 2, 2: 2, 3: 2}, ticks, "three instructions, each one tick that ends and says once what it did")
	run, row := b.run(), b.state().Agents.Get(1)
	require.Equal(t, runs.Completed, run.State)
	require.Equal(t, lifecycle.Terminated, row.Lifecycle.State)
	for i, n := range []string{"4", "9", "19"} {
		require.Contains(t, shown(run.Tasks[i].Result), `{"n":`+n+`,`, "with the results of the tasks before")
		require.EqualValues(t, i+1, run.Tasks[i].Tick)
	}
}

// deal is one call, as the log tells it.
type deal struct {
	path     string // of the shop's
	cost     budgets.Amounts
	term     uint64 // of its dispatch
	ended    uint64 // term of its answer
	code     failure.Code
	settled  []budgets.Settled
	reserved int
}

func dealsOf(t *testing.T, log []decoded) map[tools.Key]*deal {
	t.Helper()
	deals := make(map[tools.Key]*deal)
	for _, r := range log {
		at := func(call uint32) *deal {
			d := deals[tools.Key{Agent: r.Agent, Tick: r.Tick, Call: call}]
			require.NotNil(t, d, "%s of a call that was not asked for", r.Name)
			return d
		}
		switch body := r.Content.(type) {
		case *budgets.Reserved:
			key := tools.Key{Agent: r.Agent, Tick: r.Tick, Call: body.Call}
			require.Nil(t, deals[key], "a call is charged twice")
			deals[key] = &deal{cost: body.Cost, reserved: 1}
		case *tools.RequestedBody:
			url, _ := text(body.Args, "url")
			at(body.Call).path = strings.TrimPrefix(url, "http://shop.test/")
		case *tools.DispatchedBody:
			require.Zero(t, at(body.Call).term, "dispatched twice")
			at(body.Call).term = r.term
		case *tools.ActionBody:
			require.Zero(t, at(body.Call).ended, "answered twice")
			at(body.Call).ended, at(body.Call).code = r.term, body.Code
		case *budgets.Settled:
			at(body.Call).settled = append(at(body.Call).settled, *body)
		}
	}
	return deals
}

// judgeMoney: every call is charged what the shop said, or, when nobody knows what
// became of an order, what it had declared; and the shop was asked once for each
// order that is on record as made.
func (b *bought) judgeMoney(t *testing.T, log []decoded, unknown *atomic.Int32) {
	t.Helper()
	deals := dealsOf(t, log)
	require.Len(t, deals, 6)
	var spent budgets.Amounts
	for _, d := range deals {
		kind, name, _ := strings.Cut(d.path, "/")
		charged := budgets.Amounts{Tokens: price[d.path], USDMicros: price[d.path] * 10}
		how := budgets.Reported
		switch {
		case kind == "items":
			require.Empty(t, d.code, d.path)
			require.Zero(t, d.term, "what may be asked twice is not dispatched")
		case d.code == "":
			require.Positive(t, d.term, "%s was not dispatched", d.path)
			require.Equal(t, 1, b.shop.ordered(name), d.path)
		default:
			require.Equal(t, failure.OutcomeUnknown, d.code, d.path)
			require.Less(t, d.term, d.ended, "%s is unknown, and nobody died with it", d.path)
			require.LessOrEqual(t, b.shop.ordered(name), 1, d.path)
			charged, how = d.cost, budgets.Assumed
			unknown.Add(1)
		}
		require.Len(t, d.settled, 1, d.path)
		require.Equal(t, how, d.settled[0].How, d.path)
		require.Equal(t, charged, d.settled[0].Used, d.path)
		spent = spent.Plus(charged)
	}
	for i := range 3 {
		view, err := b.node(i).Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
		require.NoError(t, err)
		a, ok := view.Budgets.Get(1)
		require.True(t, ok)
		require.Equal(t, spent, a.Settled, "node %d", i)
		require.True(t, a.Reserved.Zero())
		require.True(t, a.Overrun.Zero())
		require.EqualValues(t, secondLimit, a.Limits.Tokens)
	}
}

package client_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// aRun has three tasks: one that is done at once, one that waits for a tool, and one
// that sees what both came to.
func aRun(t *testing.T, labels map[string]string) event.PlanRun {
	define := echo(t)
	define.Labels, define.Budget = labels, &event.Budget{Tokens: 500}
	return event.PlanRun{
		Name: "nightly", Goal: "a report", Config: program(t, `{"region":"eu"}`), Agent: define,
		Tasks: []event.RunTask{
			{Name: "a", Program: program(t, `{"kind":"LITERAL","payload":{"value":"${input.config.region}"}}`)},
			{Name: "b"},
			{Name: "c", Uses: []string{"a", "b"}, Program: program(t, `{"kind":"LITERAL","payload":{"value":"${input.results}"}}`)},
		},
	}
}

// answered is the tool's answer to the call of a root agent's tick.
func answered(t *testing.T, g *solo.Group, agent uint32, tick uint64) {
	t.Helper()
	result := event.Result{Agent: agent, Tick: tick, Call: 1, OK: true, Value: value.Raw(value.AppendString(nil, "world")), Millis: 3}
	g.Nodes[0].Propose(t.Context(), event.Event{Kind: event.ToolResult, Principal: "node:n1", Body: event.Encode(&result)})
}

// RU-1, RU-2: a run by the client: planned, started, paused both ways, resumed,
// killed, read and listed.
func TestRuns(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.PlanRun(ctx, aRun(t, map[string]string{"team": "blue"}))
	require.NoError(t, err)
	id := done.AgentID
	run, err := c.Run(ctx, id)
	require.NoError(t, err)
	assert.Equal(t, []any{"PLANNED", "nightly", "a report", uint32(3)}, []any{run.State, run.Name, run.Goal, run.Total})
	assert.JSONEq(t, `{"region":"eu"}`, string(run.Config.AppendJSON(nil)))
	require.NotNil(t, run.Budget)
	assert.Equal(t, api.Spent{Limit: 500}, run.Budget.Tokens)
	_, err = c.ResumeRun(ctx, event.ResumeRun{Run: id})
	assert.Contains(t, says(t, err, "INVALID_RUN_TRANSITION", "run").Hint, "omni run get "+id)

	_, err = c.StartRun(ctx, event.StartRun{Run: id, Reason: "go"})
	require.NoError(t, err)
	run, err = c.Run(ctx, id)
	require.NoError(t, err)
	assert.Equal(t, []string{"APPLYING", "operator", "go"}, []string{run.State, run.Last.Cause, run.Last.Reason})
	assert.Equal(t, []string{"DONE", "RUNNING", "WAITING"}, []string{run.Tasks[0].State, run.Tasks[1].State, run.Tasks[2].State})
	require.Len(t, run.Waits, 1)
	assert.Equal(t, "echo", run.Waits[0].Tool)

	_, err = c.PauseRun(ctx, event.PauseRun{Run: id, Trigger: "governance"})
	require.NoError(t, err)
	run, err = c.Run(ctx, id)
	require.NoError(t, err)
	assert.Equal(t, "governance", run.Pausing)
	_, err = c.PauseRun(ctx, event.PauseRun{Run: id, Force: true, Reason: "now"})
	require.NoError(t, err)
	run, err = c.Run(ctx, id)
	require.NoError(t, err)
	assert.Equal(t, []string{"PAUSED", "now", ""}, []string{run.State, run.Last.Reason, run.Pausing})
	_, err = c.ResumeRun(ctx, event.ResumeRun{Run: id, Trigger: "budget"})
	require.NoError(t, err)
	_, err = c.KillRun(ctx, event.KillRun{Run: id, Trigger: "security", Reason: "enough"})
	require.NoError(t, err)
	run, err = c.Run(ctx, id, client.Consistency(api.SessionLevel))
	require.NoError(t, err)
	assert.Equal(t, []string{"KILLED", "security", "enough"}, []string{run.State, run.Last.Cause, run.Last.Reason})
	assert.Equal(t, []string{"FAILED", "KILLED"}, []string{run.Tasks[1].State, run.Tasks[1].Code})
	assert.Empty(t, run.Waits)
}

// Lists by state and label, page by page; what needs an id is not sent without one.
func TestRunLists(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	var ids []string
	for _, team := range []string{"blue", "red", "blue"} {
		done, err := c.PlanRun(ctx, aRun(t, map[string]string{"team": team}))
		require.NoError(t, err)
		ids = append(ids, done.AgentID)
	}
	_, err := c.KillRun(ctx, event.KillRun{Run: ids[1]})
	require.NoError(t, err)
	list := func(q api.RunQuery) (got []string, next string) {
		page, err := c.Runs(ctx, q)
		require.NoError(t, err)
		for _, r := range page.Runs {
			got = append(got, r.RunID)
		}
		return got, page.Next
	}
	all, _ := list(api.RunQuery{})
	assert.Equal(t, ids, all)
	killed, _ := list(api.RunQuery{State: "KILLED"})
	assert.Equal(t, ids[1:2], killed)
	blue, _ := list(api.RunQuery{Labels: map[string]string{"team": "blue"}})
	assert.Equal(t, []string{ids[0], ids[2]}, blue)
	first, next := list(api.RunQuery{Limit: 2})
	assert.Equal(t, ids[:2], first)
	rest, next := list(api.RunQuery{After: next})
	assert.Equal(t, ids[2:], rest)
	assert.Empty(t, next)

	_, err = c.Run(ctx, "018f4e5c-0000-7000-8000-0000000000ff")
	assert.Contains(t, says(t, err, "NOT_FOUND", "run").Hint, "GET /v1/kernels/default/runs")
	var usage *client.Usage
	for _, ask := range []func() error{
		func() error { _, err := c.Run(ctx, ""); return err },
		func() error { _, err := c.StartRun(ctx, event.StartRun{}); return err },
		func() error { _, err := c.PauseRun(ctx, event.PauseRun{}); return err },
		func() error { _, err := c.ResumeRun(ctx, event.ResumeRun{}); return err },
		func() error { _, err := c.KillRun(ctx, event.KillRun{}); return err },
	} {
		assert.True(t, errors.As(ask(), &usage))
	}
}

// Whoever awaits a run gets it as soon as it is so far.
func TestAwaitRun(t *testing.T) {
	g, c := one(t)
	ctx := within(t, 20*time.Second)
	cmd := aRun(t, nil)
	cmd.Start = true
	done, err := c.PlanRun(ctx, cmd)
	require.NoError(t, err)
	awaited := make(chan api.Run, 1)
	go func() {
		run, err := c.AwaitRun(ctx, done.AgentID, func(r api.Run) bool { return r.State == "COMPLETED" }, client.MinIndex(done.Index))
		assert.NoError(t, err)
		awaited <- run
	}()
	answered(t, g, 1, 2)
	run := <-awaited
	assert.JSONEq(t, `{"a":"eu","b":"world"}`, string(run.Tasks[2].Result.AppendJSON(nil)))

	_, err = c.AwaitRun(ctx, "018f4e5c-0000-7000-8000-0000000000ff", func(api.Run) bool { return true })
	says(t, err, "NOT_FOUND", "run")
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = c.AwaitRun(short, done.AgentID, func(r api.Run) bool { return false })
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// CL-5: following a run shows it first as it is, and then each record once, in order, even
// when every connection breaks on the way.
func TestFollowRun(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	p := newProxy(t, g.Serve(t, httpapi.Options{})[0])
	c := connect(t, client.Options{}, p.url)
	ctx := within(t, 20*time.Second)
	done, err := c.PlanRun(ctx, aRun(t, nil))
	require.NoError(t, err)
	var kinds []string
	var last uint64
	looks := 0
	for news, err := range c.FollowRun(ctx, done.AgentID) {
		require.NoError(t, err)
		if news.Record == nil {
			if looks++; looks == 1 {
				assert.Equal(t, "PLANNED", news.Run.State)
				_, err := c.StartRun(ctx, event.StartRun{Run: done.AgentID})
				require.NoError(t, err)
			}
			continue
		}
		assert.Greater(t, news.Record.BusSeq, last)
		last = news.Record.BusSeq
		assert.GreaterOrEqual(t, news.Run.Index, news.Record.Index)
		if kind := news.Record.Kind; kind != "LIFECYCLE" {
			kinds = append(kinds, kind)
		}
		if news.Record.Kind == "RUN_TASK_COMPLETED" && looks == 1 {
			p.cut()
		}
		if news.Record.Kind == "BUDGET_RESERVED" {
			answered(t, g, 1, 2)
		}
		if news.Run.State == "COMPLETED" && news.Record.Kind == "RUN_TRANSITION" {
			break
		}
	}
	assert.Equal(t, []string{
		"RUN_TRANSITION", "RUN_TASK_STARTED", "RUN_TASK_COMPLETED", "RUN_TASK_STARTED", "BUDGET_RESERVED",
		"BUDGET_SETTLED", "RUN_TASK_COMPLETED", "RUN_TASK_STARTED", "RUN_TASK_COMPLETED", "RUN_TRANSITION",
	}, kinds)
	assert.Greater(t, looks, 1, "it went on over another connection")
}

// before does something before each request that it lets through.
type before func(r *http.Request)

func (b before) RoundTrip(r *http.Request) (*http.Response, error) {
	b(r)
	return http.DefaultTransport.RoundTrip(r)
}

// CL-5: what happened between the watch's beginning and the look at the run is in what is
// shown first, and not told again.
func TestFollowRunTellsNothingTwice(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	servers := g.Serve(t, httpapi.Options{})
	other := connect(t, client.Options{}, servers...)
	ctx := within(t, 20*time.Second)
	done, err := other.PlanRun(ctx, aRun(t, nil))
	require.NoError(t, err)
	looks := 0
	c := connect(t, client.Options{Transport: before(func(r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/runs/"+done.AgentID) {
			return
		}
		if looks++; looks == 2 { // the watch is open
			_, err := other.StartRun(ctx, event.StartRun{Run: done.AgentID})
			assert.NoError(t, err)
		}
	})}, servers...)
	var told []string
	for news, err := range c.FollowRun(ctx, done.AgentID) {
		require.NoError(t, err)
		if news.Record == nil {
			assert.Equal(t, []any{"APPLYING", uint32(1)}, []any{news.Run.State, news.Run.Done})
			answered(t, g, 1, 2)
			continue
		}
		if told = append(told, news.Record.Kind); news.Run.State == "COMPLETED" && news.Record.Kind == "RUN_TRANSITION" {
			break
		}
	}
	assert.NotContains(t, told, "BUDGET_RESERVED")
	assert.Equal(t, 1, len(told)-len(slices.DeleteFunc(slices.Clone(told), func(kind string) bool { return kind == "RUN_TRANSITION" })))
}

package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// CL-4: a session read sees what this client wrote, wherever it is asked; a
// node that is behind is passed over, unless it is the one that was named.
func TestReads(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{ReadTimeout: 50 * time.Millisecond})
	c := connect(t, client.Options{}, urls...)
	ctx := within(t, 20*time.Second)
	g.Nodes[1].Hold()
	done, err := c.Define(ctx, event.Define{Labels: map[string]string{"team": "red"}})
	require.NoError(t, err)
	for range 4 { // in turn
		for _, level := range api.Levels {
			if level == api.Stale {
				continue
			}
			agent, err := c.Agent(ctx, done.AgentID, client.Consistency(level))
			require.NoError(t, err)
			assert.Equal(t, "n1", agent.Node)
		}
	}
	_, err = c.Agent(ctx, done.AgentID, client.Node("n2"), client.Consistency(api.SessionLevel), client.Timeout(time.Second))
	assert.ErrorContains(t, err, "NOT_CAUGHT_UP")
	_, err = c.Agent(ctx, done.AgentID, client.Node(urls[1]), client.Consistency(api.Stale))
	assert.ErrorContains(t, err, "NOT_FOUND")
	_, err = c.Agent(ctx, done.AgentID, client.Node("n2"), client.Consistency(api.Stale), client.MaxLag(time.Second), client.Timeout(time.Second))
	assert.ErrorContains(t, err, "NOT_CAUGHT_UP")
	_, err = c.Agent(ctx, done.AgentID, client.Consistency("strong"))
	assert.ErrorContains(t, err, "linearizable, session, stale")
	g.Nodes[1].Release()
	agent, err := c.Agent(ctx, done.AgentID, client.Node("n2"), client.MinIndex(done.Index))
	require.NoError(t, err)
	assert.Equal(t, "n2", agent.Node)
	assert.Equal(t, map[string]string{"team": "red"}, agent.Labels)

	_, err = c.Agent(ctx, done.AgentID, client.Node("n9"))
	assert.ErrorContains(t, err, "n1, n2")
	page, err := c.Agents(ctx, api.AgentQuery{Labels: map[string]string{"team": "red"}, State: "DEFINED", Limit: 5})
	require.NoError(t, err)
	assert.Len(t, page.Agents, 1)
	status, err := c.Status(ctx, client.Node("n2"))
	require.NoError(t, err)
	assert.Equal(t, "n1", status.Leader)
	assert.Equal(t, status.Nodes[0].Digest, status.Nodes[1].Digest)
	own, err := c.Status(ctx, client.Node("n2"), client.Alone())
	require.NoError(t, err)
	require.Len(t, own.Nodes, 1)
	assert.Equal(t, status.Nodes[1].Digest, own.Nodes[0].Digest)
	moved, err := c.Transfer(ctx, "n2")
	require.NoError(t, err)
	assert.Equal(t, api.Transferred{Leader: "n2", Node: "n1", BusSeq: moved.BusSeq}, moved)
	assert.NotZero(t, moved.BusSeq)
	_, err = c.Transfer(ctx, "n9")
	assert.ErrorContains(t, err, "INVALID_ARGUMENT")
	health, err := c.Health(ctx, client.Node("n1"))
	require.NoError(t, err)
	assert.Equal(t, "ok", health.Status)
}

func TestWholeHistoryAndLog(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.Define(ctx, event.Define{Mode: "service", Program: literal(t)})
	require.NoError(t, err)
	for _, trigger := range []string{"spawn", "activate", "suspend", "resume", "suspend", "expire"} {
		_, err := c.Trigger(ctx, event.Trigger{Agent: done.AgentID, Trigger: trigger})
		require.NoError(t, err)
	}
	history, err := c.AllHistory(ctx, done.AgentID, api.HistoryQuery{Limit: 4})
	require.NoError(t, err)
	assert.Len(t, history.Transitions, 6)
	assert.Zero(t, history.Next)
	next := uint64(1)
	for r, err := range c.Records(ctx, api.LogQuery{Limit: 10}) {
		require.NoError(t, err)
		require.Equal(t, next, r.BusSeq)
		next++
	}
	status, err := c.Status(ctx)
	require.NoError(t, err)
	assert.Equal(t, status.Nodes[0].BusSeq+1, next)
	var mine int
	for r, err := range c.Records(ctx, api.LogQuery{Agent: done.AgentID, Limit: 7}) {
		require.NoError(t, err)
		assert.Equal(t, done.AgentID, r.AgentID)
		mine++
	}
	assert.Greater(t, mine, 6)
	for _, err := range c.Records(ctx, api.LogQuery{Agent: "x"}) {
		assert.ErrorContains(t, err, "INVALID_ARGUMENT")
	}
}

func TestExport(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	p := newProxy(t, g.Serve(t, httpapi.Options{})[0])
	c := connect(t, client.Options{}, p.url)
	ctx := within(t, 20*time.Second)
	for range 10 {
		_, err := c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
		require.NoError(t, err)
	}
	var file bytes.Buffer
	sum, err := c.Export(ctx, 0, &file)
	require.NoError(t, err)
	status, err := c.Status(ctx)
	require.NoError(t, err)
	assert.Equal(t, status.Nodes[0].Digest, sum.Chain)
	again, err := logexport.Verify(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, sum, again)
	_, err = c.Export(ctx, 1<<40, &file)
	assert.ErrorContains(t, err, "beyond the end")

	done, err := c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
	file.Reset()
	agent, err := c.ExportAgent(ctx, done.AgentID, &file)
	require.NoError(t, err)
	assert.Equal(t, done.AgentID, agent.AgentID)
	assert.Equal(t, done.Index, agent.LastIndex)
	sameAgent, err := logexport.VerifyAgent(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, agent, sameAgent)
	_, err = c.ExportAgent(ctx, "018f4e5c-0000-7000-8000-00000000dead", &file)
	assert.ErrorContains(t, err, "NOT_FOUND")

	run, err := c.PlanRun(ctx, event.PlanRun{Tasks: []event.RunTask{{Name: "only", Program: literal(t)}}})
	require.NoError(t, err)
	file.Reset()
	ledger, err := c.ExportLedger(ctx, run.AgentID, &file)
	require.NoError(t, err)
	assert.Equal(t, run.AgentID, ledger.RunID)
	sameLedger, err := logexport.CopyLedger(io.Discard, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, ledger, sameLedger)
	_, err = c.ExportLedger(ctx, done.AgentID, &file)
	assert.ErrorContains(t, err, "NOT_FOUND", "it has no run")
	page, err := c.Log(ctx, api.LogQuery{Run: run.AgentID})
	require.NoError(t, err)
	assert.Equal(t, ledger.Head, page.Ledger.Head)
	for r, err := range c.Watch(ctx, api.WatchQuery{From: 1, Run: run.AgentID}) {
		require.NoError(t, err)
		assert.Equal(t, page.Records[0], r, "the first that is the run's")
		break
	}
}

// CL-5 through failures: records in order, each once, without gaps, while
// connections are cut and nodes are gone.
func TestWatchGoesOn(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	var urls []string
	var proxies []*proxy
	for _, url := range g.Serve(t, httpapi.Options{Heartbeat: 10 * time.Millisecond}) {
		p := newProxy(t, url)
		urls, proxies = append(urls, p.url), append(proxies, p)
	}
	writer := connect(t, client.Options{}, urls[0])
	reader := connect(t, client.Options{Attempt: time.Second}, urls...)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	seen := make(chan api.Record)
	ended := make(chan error, 1)
	go func() {
		for r, err := range reader.Watch(ctx, api.WatchQuery{From: 1}) {
			if err != nil {
				ended <- err
				return
			}
			seen <- r
		}
	}()
	next := uint64(1)
	for i := range 60 {
		done, err := writer.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
		require.NoError(t, err)
		switch i % 4 {
		case 1:
			proxies[1].cut()
		case 3:
			proxies[i/4%2].cut()
		}
		if i == 30 {
			proxies[1].refuse.Store(true)
		}
		for next <= done.BusSeq {
			r := <-seen
			require.Equal(t, next, r.BusSeq)
			next++
		}
	}
	cancel()
	for {
		select {
		case <-seen:
			continue
		case err := <-ended:
			assert.ErrorIs(t, err, context.Canceled)
		}
		break
	}
	assert.Equal(t, api.ExitUnknown, client.ExitOf(context.Canceled), "a context's end tells nothing of a command")
}

// A watch that begins with what comes next does not lose what comes while it
// goes from one node to another, even before its first record.
func TestWatchFromNowKeepsItsPlace(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	p := newProxy(t, urls[0])
	other := connect(t, client.Options{}, urls[0])
	c := connect(t, client.Options{}, p.url, urls[1])
	ctx := within(t, 20*time.Second)
	_, err := other.Define(ctx, event.Define{})
	require.NoError(t, err)
	status, err := other.Status(ctx)
	require.NoError(t, err)
	from := status.Nodes[0].BusSeq + 1

	got := make(chan api.Record)
	go func() {
		for r, err := range c.Watch(ctx, api.WatchQuery{}) {
			if err != nil {
				return
			}
			got <- r
		}
	}()
	open := func() bool { return p.open() > 0 }
	require.Eventually(t, open, 10*time.Second, time.Millisecond)
	select { // the stream is open and its first event has come through, or will
	case <-got:
		t.Fatal("nothing has happened yet")
	case <-time.After(100 * time.Millisecond):
	}
	p.refuse.Store(true)
	_, err = other.Define(ctx, event.Define{})
	require.NoError(t, err)
	p.cut()
	for next := from; next < from+3; next++ {
		assert.Equal(t, next, (<-got).BusSeq)
	}
}

func TestWatchSaysWhatIsWrong(t *testing.T) {
	_, c := one(t)
	for _, err := range c.Watch(within(t, 20*time.Second), api.WatchQuery{Kinds: []string{"LEAP"}}) {
		assert.ErrorContains(t, err, "LEAP")
	}
	for _, err := range c.Watch(within(t, 20*time.Second), api.WatchQuery{}, client.Timeout(50*time.Millisecond)) {
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// A reader that has seen enough ends the watch.
func TestWatchThatIsLeft(t *testing.T) {
	_, c := one(t)
	n := 0
	for r, err := range c.Watch(within(t, 20*time.Second), api.WatchQuery{From: 1, Kinds: []string{"KERNEL_BOOTED"}}) {
		require.NoError(t, err)
		assert.Equal(t, "KERNEL_BOOTED", r.Kind)
		n++
		break
	}
	assert.Equal(t, 1, n)
}

// Await sees an agent come to rest, whether it does before, between or after.
func TestAwait(t *testing.T) {
	g, c := one(t)
	ctx := within(t, 20*time.Second)
	quick, err := c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
	agent, err := c.Await(ctx, quick.AgentID, client.Finished)
	require.NoError(t, err)
	assert.Equal(t, "TERMINATED", agent.State)

	slow, err := c.Start(ctx, event.Start{Define: echo(t)})
	require.NoError(t, err)
	awaited := make(chan api.Agent)
	go func() {
		agent, err := c.Await(ctx, slow.AgentID, client.Finished)
		assert.NoError(t, err)
		awaited <- agent
	}()
	result := event.Result{Agent: 2, Tick: 1, Call: 1, OK: true, Value: value.Raw(value.AppendString(nil, "hello"))}
	answer := g.Nodes[0].Propose(ctx, event.Event{Kind: event.ToolResult, Principal: "node:n1", Body: event.Encode(&result)})
	require.True(t, answer.Outcome.Done(), "%+v", answer.Outcome)
	agent = <-awaited
	assert.Equal(t, "TERMINATED", agent.State)
	said, _ := agent.Result.Text()
	assert.Equal(t, "hello", said)

	failing, err := c.Start(ctx, event.Start{Define: event.Define{Program: program(t, `{"kind":"FAIL","payload":{"message":"no"}}`)}})
	require.NoError(t, err)
	agent, err = c.Await(ctx, failing.AgentID, client.Finished)
	require.NoError(t, err)
	assert.Equal(t, "PROGRAM_FAILED", agent.Failure.Code)
	_, err = c.Await(ctx, "018f4e5c-0000-7000-8000-00000000000f", client.Finished)
	assert.ErrorContains(t, err, "NOT_FOUND")
	waiting, err := c.Start(ctx, event.Start{Define: echo(t)})
	require.NoError(t, err)
	_, err = c.Await(ctx, waiting.AgentID, client.Finished, client.Timeout(500*time.Millisecond))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// An agent's JSON is what the server sent: the client loses nothing of it.
func TestAgentSurvivesTheClient(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.Start(ctx, event.Start{Define: event.Define{Name: "a<b>", Program: program(t, `{"kind":"LITERAL","payload":{"value":{"x":[1.5,null,"é"]}}}`)}})
	require.NoError(t, err)
	agent, err := c.Agent(ctx, done.AgentID)
	require.NoError(t, err)
	text, err := json.Marshal(agent)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	assert.Equal(t, map[string]any{"x": []any{1.5, nil, "é"}}, fields["result"])
	for _, name := range []string{"agent_id", "state", "index", "node", "lag_ms", "result"} {
		assert.Contains(t, fields, name)
	}
	ids := agents(t, c)
	assert.True(t, slices.IsSorted(ids), fmt.Sprint(ids))
}

// CL-5: a node without the history is passed over; when none has it, the client
// says so, and from where on there is something.
func TestWatchWhereHistoryIs(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{})...)
	ctx := within(t, 20*time.Second)
	_, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	require.NoError(t, g.Nodes[0].Forget())
	for range 3 {
		for r, err := range c.Watch(ctx, api.WatchQuery{From: 1}) {
			require.NoError(t, err)
			assert.Equal(t, uint64(1), r.BusSeq)
			break
		}
		_, err := c.Log(ctx, api.LogQuery{})
		require.NoError(t, err)
		_, err = c.Export(ctx, 0, new(bytes.Buffer))
		require.NoError(t, err)
	}
	require.NoError(t, g.Nodes[1].Forget())
	for _, err := range c.Watch(ctx, api.WatchQuery{From: 1}) {
		var said *api.Error
		require.ErrorAs(t, err, &said)
		assert.Equal(t, "HISTORY_BEHIND", said.Code)
		assert.Positive(t, said.First)
	}
	began := time.Now()
	_, err = c.Log(ctx, api.LogQuery{})
	assert.ErrorContains(t, err, "HISTORY_BEHIND")
	_, err = c.Export(ctx, 0, new(bytes.Buffer))
	assert.ErrorContains(t, err, "HISTORY_BEHIND")
	assert.Less(t, time.Since(began), 5*time.Second, "asking again is of no use")
}

// Who was told that there is nothing has seen as of when: a later read of the same
// session is at least as new (CL-4).
func TestNothingIsSeenToo(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	ctx := within(t, 20*time.Second)
	writer, reader := connect(t, client.Options{}, urls[0]), connect(t, client.Options{}, urls...)
	done, err := writer.PutShared(ctx, event.PutShared{Namespace: "seen", Key: "other", Value: value.Null})
	require.NoError(t, err)
	_, err = reader.SharedValue(ctx, "seen", "key", client.Consistency(api.SessionLevel), client.Node(urls[0]))
	require.ErrorContains(t, err, "NOT_FOUND")
	require.GreaterOrEqual(t, reader.LastIndex(), done.Index)
}

package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

func definitions(n int) []api.Command {
	commands := make([]api.Command, n)
	for i := range commands {
		commands[i] = api.NewCommand(event.Define{})
	}
	return commands
}

// A batch larger than a session's window goes in several requests; every
// command has its own outcome, in order.
func TestBatch(t *testing.T) {
	_, c := one(t)
	results, err := c.Batch(within(t, 20*time.Second), definitions(1100))
	require.NoError(t, err)
	require.Len(t, results, 1100)
	last := uint64(0)
	for _, r := range results {
		require.NoError(t, r.Err)
		assert.Greater(t, r.Done.Index, last)
		last = r.Done.Index
	}
	assert.Equal(t, last, c.LastIndex())
	assert.Equal(t, 1100, len(agents(t, c)))

	results, err = c.Batch(within(t, 20*time.Second), []api.Command{
		api.NewCommand(event.Start{Define: event.Define{Program: literal(t)}}),
		api.NewCommand(event.Kill{Agent: "018f4e5c-0000-7000-8000-00000000000a"}),
		api.NewCommand(event.Define{Mode: "eternal"}),
		api.NewCommand(event.Trigger{Agent: results[0].Done.AgentID, Trigger: "spawn"}),
		api.NewCommand(event.Submit{Agent: results[0].Done.AgentID, Program: literal(t)}),
	})
	require.NoError(t, err)
	require.NoError(t, results[0].Err)
	assert.Equal(t, "ACTIVE", results[0].Done.State)
	assert.ErrorContains(t, results[1].Err, "NOT_FOUND")
	assert.ErrorContains(t, results[2].Err, "mode")
	assert.NoError(t, results[3].Err)
	assert.NoError(t, results[4].Err)

	results, err = c.Batch(within(t, 20*time.Second), nil)
	require.NoError(t, err)
	assert.Empty(t, results)
}

// CL-3, for each command of a batch: lost answers, lost leadership in the
// middle, a leader elsewhere.
func TestBatchIsAppliedOnce(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	var urls []string
	var proxies []*proxy
	for i, url := range g.Serve(t, httpapi.Options{}) {
		p := newProxy(t, url)
		g.Nodes[i].Listens(p.url)
		urls, proxies = append(urls, p.url), append(proxies, p)
	}
	c := connect(t, client.Options{}, urls...)
	var asked atomic.Int64
	for _, n := range g.Nodes {
		n.Answer = func(event.Event) *cluster.Answer {
			switch n := asked.Add(1); {
			case n%40 == 0:
				g.Lead(int(n/40) % 2)
			case n%13 == 0:
				return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost, Detail: "lost"}
			}
			return nil
		}
	}
	proxies[0].drop.Store(1)
	proxies[1].drop.Store(1)
	results, err := c.Batch(within(t, 60*time.Second), definitions(300))
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, r := range results {
		require.NoError(t, r.Err)
		ids[r.Done.AgentID] = true
	}
	assert.Equal(t, 300, len(ids))
	assert.Equal(t, 300, len(agents(t, c)))
	assert.Equal(t, int64(2), proxies[0].dropped.Load()+proxies[1].dropped.Load())
}

// When the time is over, each command is told as its last attempt left it.
func TestBatchThatRunsOutOfTime(t *testing.T) {
	g, c := one(t)
	ctx := within(t, 20*time.Second)
	_, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	var asked atomic.Int64
	g.Nodes[0].Answer = func(event.Event) *cluster.Answer {
		switch asked.Add(1) {
		case 1:
			return nil
		case 2:
			return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost, Detail: "lost"}
		}
		return &cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeQueueFull, Detail: "full"}
	}
	results, err := c.Batch(ctx, definitions(3), client.Timeout(time.Second))
	require.NoError(t, err)
	assert.NoError(t, results[0].Err)
	assert.Equal(t, api.ExitUnknown, client.ExitOf(results[1].Err), "%v", results[1].Err)
	assert.Equal(t, api.ExitRefused, client.ExitOf(results[2].Err), "%v", results[2].Err)
}

// A batch without a session is sent once.
func TestPlainBatch(t *testing.T) {
	g, c := one(t)
	g.Nodes[0].Answer = func() func(event.Event) *cluster.Answer {
		var asked atomic.Int64
		return func(event.Event) *cluster.Answer {
			if asked.Add(1) == 2 {
				return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeTimeout, Detail: "slow"}
			}
			return nil
		}
	}()
	results, err := c.Batch(within(t, 20*time.Second), definitions(3), client.NoSession())
	require.NoError(t, err)
	assert.NoError(t, results[0].Err)
	assert.Equal(t, api.ExitUnknown, client.ExitOf(results[1].Err))
	assert.NoError(t, results[2].Err)
	assert.Equal(t, 2, len(agents(t, c)))
}

func TestBatchInAnExpiredSession(t *testing.T) {
	now := newClock()
	g := solo.New(t, 1, solo.Setup{Wall: now.ms.Load})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{})...)
	ctx := within(t, 20*time.Second)
	_, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	for range 2 {
		now.ms.Add(2 * 3_600_000)
		g.Nodes[0].Propose(ctx, event.Event{Kind: event.Pulse, Principal: "node:n1"})
	}
	results, err := c.Batch(ctx, definitions(5))
	require.NoError(t, err)
	for _, r := range results {
		assert.NoError(t, r.Err)
	}
	assert.Equal(t, 6, len(agents(t, c)))
}

// Forks share what is known and not their sessions; a client may be used by
// many at once, more than its session's window holds.
func TestManyAtOnce(t *testing.T) {
	_, c := one(t)
	forks := []*client.Client{c, c.Fork(), c.Fork()}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var work sync.WaitGroup
	for i := range 600 {
		work.Go(func() {
			_, err := forks[i%3].Define(ctx, event.Define{})
			assert.NoError(t, err)
		})
	}
	work.Wait()
	assert.Equal(t, 600, len(agents(t, c)))
	assert.Equal(t, forks[1].LastIndex(), c.LastIndex())
}

// answers are what a server says, one after the other; an error is an answer that
// got lost.
type answers struct {
	t    *testing.T
	list []any
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/sessions") {
		return a.answer(api.Session{Session: strings.Repeat("ab", 16), Node: "n1"}), nil
	}
	require.NotEmpty(a.t, a.list)
	next := a.list[0]
	a.list = a.list[1:]
	if lost, isLost := next.(error); isLost {
		return nil, lost
	}
	return a.answer(next), nil
}

func (a *answers) answer(body any) *http.Response {
	raw, err := json.Marshal(body)
	require.NoError(a.t, err)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(raw)), ContentLength: int64(len(raw))}
}

// CL-2: what a node says at its door of one attempt says nothing of the attempt
// before, whose answer got lost.
func TestBatchRefusedAtTheDoorAfterALostAnswer(t *testing.T) {
	refused := api.BatchDone{Results: []api.BatchResult{{Error: &api.Error{Code: "INTERNAL", Definite: true, Message: "no"}}}}
	commands := []api.Command{api.NewCommand(event.Define{})}
	for _, c := range []struct {
		list    []any
		unknown bool
	}{
		{[]any{refused}, false},
		{[]any{errors.New("the connection is gone"), refused}, true},
	} {
		a := &answers{t: t, list: c.list}
		results, err := connect(t, client.Options{Transport: a}, "http://n1").Batch(within(t, 5*time.Second), commands)
		require.NoError(t, err)
		require.Empty(t, a.list)
		var unknown *client.Unknown
		assert.Equal(t, c.unknown, errors.As(results[0].Err, &unknown), "%v", results[0].Err)
		assert.Equal(t, !c.unknown, client.Definite(results[0].Err))
	}
}

package client_test

import (
	"context"
	"errors"
	"fmt"
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

// An agent's life, through every command.
func TestCommands(t *testing.T) {
	g, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.Define(ctx, event.Define{Name: "a", Mode: "service", Program: literal(t)})
	require.NoError(t, err)
	assert.Equal(t, "DEFINED", done.State)
	id := done.AgentID
	for _, step := range []struct{ trigger, state string }{{"spawn", "SPAWNED"}, {"activate", "ACTIVE"}, {"suspend", "RESUMABLE"}, {"resume", "ACTIVE"}} {
		done, err = c.Trigger(ctx, event.Trigger{Agent: id, Trigger: step.trigger, Reason: "r"})
		require.NoError(t, err)
		assert.Equal(t, step.state, done.State)
	}
	_, err = c.Submit(ctx, event.Submit{Agent: id, Input: program(t, `{"n":1}`)})
	require.NoError(t, err)
	done, err = c.Kill(ctx, event.Kill{Agent: id, Reason: "enough"})
	require.NoError(t, err)
	assert.Equal(t, "TERMINATED", done.State)
	assert.Equal(t, g.Index(), c.LastIndex())
	assert.False(t, done.Repeated)

	started, err := c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
	agent, err := c.Agent(ctx, started.AgentID)
	require.NoError(t, err)
	assert.Equal(t, "TERMINATED", agent.State)
	assert.JSONEq(t, `42`, string(agent.Result.AppendJSON(nil)))

	_, err = c.Kill(ctx, event.Kill{Agent: id})
	var said *api.Error
	require.ErrorAs(t, err, &said)
	assert.Equal(t, "INVALID_TRANSITION", said.Code)
	assert.Equal(t, 409, said.Status)
	assert.True(t, client.Definite(err))
	assert.Equal(t, api.ExitRefused, client.ExitOf(err))
}

// CL-1: a client that knows any node finds the leader, and keeps to it.
func TestClientFollowsTheLeader(t *testing.T) {
	g := solo.New(t, 3, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	ctx := within(t, 20*time.Second)
	c := connect(t, client.Options{}, urls[2])
	for _, leader := range []int{1, 0, 2} {
		g.Lead(leader)
		for range 3 {
			done, err := c.Define(ctx, event.Define{})
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("n%d", leader+1), done.Node)
		}
	}
	assert.Equal(t, 9, len(agents(t, c)))
	assert.Subset(t, c.Servers(), urls)
}

// Elections are waited for; the call's time bounds that, and what is told then
// is what the cluster said.
func TestClientWaitsForALeader(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{})...)
	g.Lead(-1)
	_, err := c.Define(within(t, 20*time.Second), event.Define{}, client.Timeout(500*time.Millisecond))
	var said *api.Error
	require.ErrorAs(t, err, &said)
	assert.Equal(t, "NO_LEADER", said.Code)
	assert.True(t, client.Definite(err))
	assert.Equal(t, api.ExitRefused, client.ExitOf(err))

	var asked atomic.Int64
	for _, n := range g.Nodes {
		n.Answer = func(event.Event) *cluster.Answer {
			if asked.Add(1) == 5 {
				g.Lead(1)
			}
			return nil
		}
	}
	done, err := c.Define(within(t, 20*time.Second), event.Define{})
	require.NoError(t, err)
	assert.Equal(t, "n2", done.Node)
	assert.Equal(t, 1, len(agents(t, c)))
}

// CL-3: answers get lost again and again; every command is applied once, and
// the client gets the outcome of the first time.
func TestLostAnswersAreAskedForAgain(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	p := newProxy(t, g.Serve(t, httpapi.Options{})[0])
	c := connect(t, client.Options{}, p.url)
	ctx := within(t, 20*time.Second)
	first, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	assert.False(t, first.Repeated)
	before := p.dropped.Load()
	p.drop.Store(3)
	second, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	assert.Equal(t, int64(3), p.dropped.Load()-before)
	assert.True(t, second.Repeated, "it had been applied the first time")
	assert.ElementsMatch(t, []string{first.AgentID, second.AgentID}, agents(t, c))
}

// The same with many at once, through a proxy that loses one answer in four,
// while leadership moves.
func TestLostAnswersUnderLoad(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	var proxies []*proxy
	var urls []string
	for i, url := range g.Serve(t, httpapi.Options{}) {
		p := newProxy(t, url)
		g.Nodes[i].Listens(p.url) // hints lead through the proxies too
		proxies, urls = append(proxies, p), append(urls, p.url)
	}
	c := connect(t, client.Options{Attempt: time.Second}, urls...)
	for _, p := range proxies {
		p.every.Store(4)
	}
	stop := make(chan struct{})
	var chaos sync.WaitGroup
	chaos.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				g.Lead(i % 2)
			}
		}
	})
	const writers, each = 16, 25
	var mu sync.Mutex
	got := map[string]bool{}
	var work sync.WaitGroup
	for range writers {
		work.Go(func() {
			for range each {
				done, err := c.Define(within(t, 60*time.Second), event.Define{})
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				got[done.AgentID] = true
				mu.Unlock()
			}
		})
	}
	work.Wait()
	close(stop)
	chaos.Wait()
	for _, p := range proxies {
		p.every.Store(0)
	}
	assert.Positive(t, proxies[0].dropped.Load()+proxies[1].dropped.Load())
	assert.Equal(t, writers*each, len(got), "each command has an outcome of its own")
	assert.Equal(t, writers*each, len(agents(t, c)), "and was applied once")
}

// Without a session an unknown outcome is told as what it is, and nothing is
// sent again.
func TestPlainCommandIsNotSentAgain(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	p := newProxy(t, g.Serve(t, httpapi.Options{})[0])
	c := connect(t, client.Options{}, p.url)
	ctx := within(t, 20*time.Second)
	p.drop.Store(1)
	_, err := c.Define(ctx, event.Define{}, client.NoSession())
	var unknown *client.Unknown
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, 1, unknown.Attempts)
	assert.Equal(t, "define", unknown.Op)
	assert.False(t, client.Definite(err))
	assert.Equal(t, api.ExitUnknown, client.ExitOf(err))
	assert.Equal(t, 1, len(agents(t, c)), "it had taken effect")

	g.Nodes[0].Answer = func(event.Event) *cluster.Answer {
		return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost, Detail: "lost"}
	}
	_, err = c.Define(ctx, event.Define{}, client.NoSession())
	var said *api.Error
	require.ErrorAs(t, err, &said, "this the server said")
	assert.False(t, said.Definite)
	assert.Equal(t, api.ExitUnknown, client.ExitOf(err))
}

func TestIdempotencyKeyIsSentAgain(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	p := newProxy(t, g.Serve(t, httpapi.Options{})[0])
	c := connect(t, client.Options{}, p.url)
	ctx := within(t, 20*time.Second)
	p.drop.Store(2)
	done, err := c.Define(ctx, event.Define{}, client.IdempotencyKey("order 66"))
	require.NoError(t, err)
	again, err := c.Define(ctx, event.Define{}, client.IdempotencyKey("order 66"))
	require.NoError(t, err)
	assert.True(t, again.Repeated)
	assert.Equal(t, done.AgentID, again.AgentID)
	assert.Equal(t, 1, len(agents(t, c)))
}

// An unknown outcome that the server tells of is found out in the session.
func TestUnknownOutcomeIsFoundOut(t *testing.T) {
	g, c := one(t)
	var asked atomic.Int64
	g.Nodes[0].Answer = func(e event.Event) *cluster.Answer {
		if asked.Add(1) > 2 {
			return nil
		}
		return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost, Detail: "lost"}
	}
	_, err := c.Define(within(t, 20*time.Second), event.Define{})
	require.NoError(t, err)
	assert.Equal(t, int64(3), asked.Load())

	g.Nodes[0].Answer = func(e event.Event) *cluster.Answer {
		return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeTimeout, Detail: "slow"}
	}
	_, err = c.Define(within(t, 20*time.Second), event.Define{}, client.Timeout(500*time.Millisecond))
	var unknown *client.Unknown
	require.ErrorAs(t, err, &unknown, "in the end nobody knows")
	assert.Greater(t, unknown.Attempts, 1)
	var said *api.Error
	assert.False(t, errors.As(err, &said), "no single answer speaks for the call")
}

// What is definite and may pass is waited for; what the kernel judged is not
// asked again, though its code is the same.
func TestFullQueues(t *testing.T) {
	g, c := one(t)
	var asked atomic.Int64
	g.Nodes[0].Answer = func(event.Event) *cluster.Answer {
		if asked.Add(1) > 3 {
			return nil
		}
		return &cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeQueueFull, Detail: "too much"}
	}
	ctx := within(t, 20*time.Second)
	done, err := c.Define(ctx, event.Define{Mode: "service", Program: literal(t)})
	require.NoError(t, err)
	assert.Equal(t, int64(4), asked.Load())
	_, err = c.Trigger(ctx, event.Trigger{Agent: done.AgentID, Trigger: "spawn"})
	require.NoError(t, err)
	for range 63 {
		_, err = c.Submit(ctx, event.Submit{Agent: done.AgentID})
		require.NoError(t, err)
	}
	before := asked.Load()
	_, err = c.Submit(ctx, event.Submit{Agent: done.AgentID})
	var said *api.Error
	require.ErrorAs(t, err, &said)
	assert.Equal(t, "QUEUE_FULL", said.Code)
	assert.Equal(t, before+1, asked.Load())
}

// clock is a wall clock that tests move.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ms.Store(1_700_000_000_000)
	return c
}

// A session that has expired: a command that had not been sent before goes on
// in a fresh one.
func TestExpiredSessionIsReplaced(t *testing.T) {
	now := newClock()
	g := solo.New(t, 1, solo.Setup{Wall: now.ms.Load})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{})...)
	ctx := within(t, 20*time.Second)
	_, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	now.ms.Add(2 * 3_600_000)
	g.Nodes[0].Propose(ctx, event.Event{Kind: event.Pulse, Principal: "node:n1"}) // sweeps
	now.ms.Add(1)
	g.Nodes[0].Propose(ctx, event.Event{Kind: event.Pulse, Principal: "node:n1"})
	before := g.Index()
	done, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	assert.Equal(t, before+2, g.Index(), "one that was refused, one in the fresh session")
	assert.False(t, done.Repeated)
	assert.Equal(t, 2, len(agents(t, c)))
}

// … but one that may have taken effect in the old session stays unknown: it is
// never applied twice.
func TestExpiredSessionLeavesTheUnknownUnknown(t *testing.T) {
	now := newClock()
	g := solo.New(t, 1, solo.Setup{Wall: now.ms.Load})
	p := newProxy(t, g.Serve(t, httpapi.Options{})[0])
	c := connect(t, client.Options{}, p.url)
	ctx := within(t, 20*time.Second)
	_, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	var attempts atomic.Int64
	g.Nodes[0].Answer = func(e event.Event) *cluster.Answer {
		if e.Kind.IsCommand() && attempts.Add(1) == 2 { // the first was applied, its answer lost
			now.ms.Add(2 * 3_600_000)
			for range 2 {
				now.ms.Add(1)
				g.Nodes[0].Propose(context.Background(), event.Event{Kind: event.Pulse, Principal: "node:n1"})
			}
		}
		return nil
	}
	p.drop.Store(1)
	_, err = c.Define(ctx, event.Define{Name: "x"})
	var unknown *client.Unknown
	require.ErrorAs(t, err, &unknown)
	assert.False(t, client.Definite(err))
	assert.Equal(t, 2, len(agents(t, c)), "once")
	_, err = c.Define(ctx, event.Define{})
	require.NoError(t, err, "new commands go on in a fresh session")
}

// CL-2: nodes that have lost the history which a fork starts from say that they did
// not make it. An attempt before may have.
func TestLostHistoryLeavesTheUnknownUnknown(t *testing.T) {
	g, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
	var forgotten error
	g.Nodes[0].Answer = func(e event.Event) *cluster.Answer {
		if e.Kind != event.AgentFork {
			return nil
		}
		forgotten = g.Nodes[0].Forget()
		return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost, Detail: "lost"}
	}
	_, err = c.ForkAgent(ctx, done.AgentID, api.ForkBody{At: done.BusSeq})
	require.NoError(t, forgotten)
	var unknown *client.Unknown
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, 2, unknown.Attempts)
	assert.False(t, client.Definite(err))
	_, err = c.ForkAgent(ctx, done.AgentID, api.ForkBody{At: done.BusSeq})
	says(t, err, "HISTORY_BEHIND", "from")
	assert.True(t, client.Definite(err), "nobody can have made this one")
}

// Nobody there: nothing took effect, and the client says who was asked.
func TestNobodyIsReachable(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	url, stop := g.ServeNode(t, 0, httpapi.Options{})
	stop()
	c := connect(t, client.Options{}, url)
	_, err := c.Define(within(t, 20*time.Second), event.Define{}, client.Timeout(100*time.Millisecond))
	var unreachable *client.Unreachable
	require.ErrorAs(t, err, &unreachable)
	assert.Equal(t, []string{url}, unreachable.Servers)
	assert.True(t, client.Definite(err))
	assert.Equal(t, api.ExitUnreachable, client.ExitOf(err))
	_, err = c.Agent(within(t, 20*time.Second), "x", client.Timeout(50*time.Millisecond))
	assert.Equal(t, api.ExitUnreachable, client.ExitOf(err))
}

// A node that has gone is passed over; one that takes requests and says nothing
// is, too, after one attempt's time.
func TestDeadAndSilentNodesArePassedOver(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	silent := newProxy(t, urls[1])
	silent.drop.Store(1 << 30)
	gone := newProxy(t, urls[1])
	gone.refuse.Store(true)
	c := connect(t, client.Options{Attempt: 200 * time.Millisecond}, gone.url, silent.url, urls[0])
	for range 3 {
		_, err := c.Define(within(t, 20*time.Second), event.Define{})
		require.NoError(t, err)
	}
	assert.Equal(t, 3, len(agents(t, c)))
}

// A node that hangs is given up after the attempt's time, not after the call's.
func TestHangingNodeIsGivenUp(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	hang := make(chan struct{})
	defer close(hang)
	g.Nodes[1].Answer = func(event.Event) *cluster.Answer {
		<-hang
		return nil
	}
	c := connect(t, client.Options{Attempt: 100 * time.Millisecond}, urls[1], urls[0])
	began := time.Now()
	_, err := c.Define(within(t, 20*time.Second), event.Define{})
	require.NoError(t, err)
	assert.Less(t, time.Since(began), 5*time.Second)
	assert.Equal(t, 1, len(agents(t, c)))
}

func TestUsage(t *testing.T) {
	for _, servers := range [][]string{nil, {""}, {"ftp://x"}, {"http://a:b:c"}, {"http://u:p@x"}, {"http://x?y"}} {
		_, err := client.New(servers, client.Options{})
		var usage *client.Usage
		require.ErrorAs(t, err, &usage, "%v", servers)
		assert.Equal(t, api.ExitUsage, client.ExitOf(err))
	}
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	for _, err := range []error{
		second(c.Kill(ctx, event.Kill{})), second(c.Trigger(ctx, event.Trigger{Agent: "x"})), second(c.Submit(ctx, event.Submit{})),
		second(c.Agent(ctx, "")), second(c.History(ctx, "", api.HistoryQuery{})), second(c.Agent(ctx, "x", client.Node("n7"))),
		second(c.Batch(ctx, nil, client.IdempotencyKey("k"))),
	} {
		assert.Equal(t, api.ExitUsage, client.ExitOf(err), "%v", err)
		assert.True(t, client.Definite(err))
	}
	_, err := c.Trigger(ctx, event.Trigger{Agent: "a/b?c", Trigger: "x y"})
	var said *api.Error
	require.ErrorAs(t, err, &said, "odd words arrive as they are")
	assert.Equal(t, "agent", said.Field)
}

func second[T any](_ T, err error) error { return err }

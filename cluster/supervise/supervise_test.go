package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/supervise"
)

// bench is a node's lifecycle, Running, and the components that a test puts
// under supervision, all in virtual time.
type bench struct {
	t     *testing.T
	state *nodestate.Registry
	lost  chan error
	end   context.CancelFunc
	done  chan struct{}
}

func begin(t *testing.T, components ...supervise.Component) *bench {
	state := nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy})
	for _, trigger := range []nodestate.Trigger{nodestate.Start, nodestate.InitOK} {
		require.Nil(t, state.Transition(trigger, nodestate.Cause{}))
	}
	ctx, end := context.WithCancel(t.Context())
	b := &bench{t, state, make(chan error, 1), end, make(chan struct{})}
	go func() {
		defer close(b.done)
		supervise.Run(ctx, supervise.Options{State: state, Logger: hclog.NewNullLogger(), Lost: func(err error) { b.lost <- err }}, components...)
	}()
	return b
}

func (b *bench) stop() {
	b.end()
	<-b.done
}

func (b *bench) component(name string) nodestate.Component {
	for _, c := range b.state.Snapshot().Components {
		if c.Name == name {
			return c
		}
	}
	b.t.Fatalf("there is no component %s", name)
	return nodestate.Component{}
}

func waits(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// NO-1: what panics is started again, and the node hears of it; the others go on.
func TestPanicsAreCaught(t *testing.T) {
	for name, fail := range map[string]func(ctx context.Context) error{
		"an error": func(context.Context) error { return errors.New("boom") },
		"a panic":  func(context.Context) error { panic("boom") },
		"a goroutine's panic": func(ctx context.Context) error {
			g, inner := supervise.NewGroup(ctx)
			g.Go(func() { <-inner.Done() }) // a panic beside it ends it
			g.Go(func() { panic("boom") })
			g.Wait()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var starts, others atomic.Int32
				b := begin(t,
					supervise.Component{Name: "weak", Run: func(ctx context.Context) error {
						if starts.Add(1) == 1 {
							return fail(ctx)
						}
						return waits(ctx)
					}},
					supervise.Component{Name: "strong", Run: func(ctx context.Context) error {
						others.Add(1)
						return waits(ctx)
					}},
				)
				synctest.Wait()
				weak := b.component("weak")
				require.Equal(t, []any{nodestate.StatusOK, 1}, []any{weak.Status, weak.Restarts})
				require.Contains(t, weak.LastError, "boom")
				require.Equal(t, []int32{2, 1}, []int32{starts.Load(), others.Load()})
				require.Equal(t, nodestate.Running, b.state.State())
				b.stop()
				require.Equal(t, nodestate.StatusStopped, b.component("weak").Status)
			})
		})
	}
}

// A storm of restarts is bounded by the backoff, makes the node Degraded, and
// ends when the budget is spent; what is required is reported as lost.
func TestRestartStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := nodestate.DefaultPolicy
		var starts atomic.Int32
		b := begin(t, supervise.Component{Name: "api", Required: true, Run: func(context.Context) error {
			starts.Add(1)
			panic("again")
		}})
		synctest.Wait()
		require.Equal(t, policy.DegradedAfter+1, int(starts.Load()), "at once, and then no more")
		require.Equal(t, nodestate.Degraded, b.state.State())
		c := b.component("api")
		require.Equal(t, nodestate.StatusBackoff, c.Status)
		require.Equal(t, policy.RestartBackoff, time.Until(c.RetryAt))

		before := starts.Load()
		time.Sleep((1 + 2 + 4) * policy.RestartBackoff)
		synctest.Wait()
		require.Equal(t, before+3, starts.Load(), "later each time")

		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, policy.RestartBudget, int(starts.Load()))
		require.Equal(t, nodestate.StatusFailed, b.component("api").Status)
		require.ErrorContains(t, <-b.lost, "api keeps failing")
		b.state.Review()
		require.Equal(t, nodestate.Degraded, b.state.State(), "it does not come back by itself")
		b.stop()
	})
}

// A component that works again makes the node Running once its window is over.
func TestRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts atomic.Int32
		b := begin(t, supervise.Component{Name: "history", Run: func(ctx context.Context) error {
			if starts.Add(1) <= 5 {
				return errors.New("no")
			}
			return waits(ctx)
		}})
		synctest.Wait()
		require.Equal(t, nodestate.Degraded, b.state.State())
		time.Sleep(3 * nodestate.DefaultPolicy.RestartBackoff) // one, and twice as much
		synctest.Wait()
		require.Equal(t, nodestate.StatusOK, b.component("history").Status)
		b.state.Review()
		require.Equal(t, nodestate.Degraded, b.state.State())
		time.Sleep(nodestate.DefaultPolicy.ErrorWindow)
		b.state.Review()
		require.Equal(t, nodestate.Running, b.state.State())
		b.stop()
	})
}

// What rests is idle when its time is over, also while it waits for a restart; a
// component that has nothing left to do is not started again.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var once atomic.Int32
		b := begin(t,
			supervise.Component{Name: "pulse", Rests: true, Run: waits},
			supervise.Component{Name: "storm", Run: func(context.Context) error { return errors.New("no") }},
			supervise.Component{Name: "once", Run: func(context.Context) error { once.Add(1); return nil }},
		)
		synctest.Wait()
		require.Equal(t, nodestate.StatusOK, b.component("pulse").Status)
		require.Equal(t, nodestate.StatusBackoff, b.component("storm").Status)
		b.stop()
		require.Equal(t, nodestate.StatusIdle, b.component("pulse").Status)
		require.Equal(t, nodestate.StatusStopped, b.component("storm").Status)
		require.Equal(t, int32(1), once.Load())
		require.Nil(t, b.state.Transition(nodestate.Shutdown, nodestate.Cause{}))
		require.Nil(t, b.state.Transition(nodestate.Done, nodestate.Cause{}))
	})
}

// Who has a component hears when it is not started again at once, and when never; what
// rests keeps its wait when its next time comes.
func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts, down, forGood atomic.Int32
		one := supervise.Component{
			Name: "pulse", Rests: true,
			Run: func(context.Context) error { starts.Add(1); return errors.New("no") },
			Down: func(_ context.Context, good bool) {
				down.Add(1)
				if good {
					forGood.Add(1)
				}
			},
		}
		b := begin(t, one)
		synctest.Wait()
		policy := nodestate.DefaultPolicy
		require.Equal(t, []int{policy.DegradedAfter + 1, 1}, []int{int(starts.Load()), int(down.Load())})
		b.stop()

		ctx, end := context.WithCancel(t.Context())
		done := supervise.Begin(ctx, supervise.Options{State: b.state, Logger: hclog.NewNullLogger()}, one)
		time.Sleep(policy.RestartBackoff - time.Millisecond)
		require.Equal(t, policy.DegradedAfter+1, int(starts.Load()), "another term is no other chance")
		require.Equal(t, nodestate.StatusIdle, b.component("pulse").Status)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, policy.DegradedAfter+2, int(starts.Load()))
		time.Sleep(time.Hour)
		require.Equal(t, []int{policy.RestartBudget, policy.RestartBudget - policy.DegradedAfter, 1},
			[]int{int(starts.Load()), int(down.Load()), int(forGood.Load())})
		end()
		<-done
	})
}

// What is caught over a request, or while a component ends, is on record, and the
// component's work is not interrupted by it.
func TestCaught(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := begin(t,
			supervise.Component{Name: "api", Run: waits},
			supervise.Component{Name: "tools", Run: func(ctx context.Context) error {
				<-ctx.Done()
				panic("at the end")
			}},
		)
		synctest.Wait()
		seq := b.state.Snapshot().Seq
		request := func() {
			defer func() {
				o := supervise.Options{State: b.state, Logger: hclog.New(&hclog.LoggerOptions{Output: &log})}
				o.Caught("api", recover())
			}()
			g, _ := supervise.NewGroup(t.Context())
			g.Go(failsDeepInside)
			g.Wait()
		}
		for range 100 {
			request()
		}
		require.Equal(t, seq+1, b.state.Snapshot().Seq, "on record once a window: the journal is bounded")
		require.Equal(t, 100, bytes.Count(log.Bytes(), []byte("supervise_test.failsDeepInside")), "with its stack, each time")
		api := b.component("api")
		require.Equal(t, []any{nodestate.StatusOK, "panic: boom", 0}, []any{api.Status, api.LastError, api.Restarts})
		require.Equal(t, nodestate.Running, b.state.State())
		time.Sleep(nodestate.DefaultPolicy.ErrorWindow)
		request()
		require.Equal(t, seq+2, b.state.Snapshot().Seq)
		b.stop()
		require.Equal(t, "panic: at the end", b.component("tools").LastError)
		require.Equal(t, seq+3, b.state.Snapshot().Seq)
	})
}

func failsDeepInside() { panic("boom") }

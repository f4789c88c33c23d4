package traffic_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/proxy"
	"github.com/omnikernel/omnikernel/jepsen/traffic/traffictest"
)

// sometimes loses and delays a few answers of many.
var sometimes = proxy.Faults{Drop: 0.02, Hang: 0.005, Stuck: 100 * time.Millisecond, Delay: 0.02, Late: 30 * time.Millisecond}

// losesAnswers loses answers, pauses everybody but the leader, and kills it with
// commands that nobody else has.
func losesAnswers(c *traffictest.Cluster) func() {
	return func() {
		c.Lose(sometimes)
		<-time.After(500 * time.Millisecond)
		leader := c.Leader()
		others := func(do func(int)) {
			for i := range c.Env.Nodes {
				if i != leader {
					do(i)
				}
			}
		}
		others(c.Pause)
		<-time.After(300 * time.Millisecond)
		c.Kill(leader)
		others(c.Resume)
		<-time.After(time.Second)
		c.Restart(leader)
		<-time.After(time.Second)
	}
}

// serve starts the counting service for a cluster.
func serve(t *testing.T, c *traffictest.Cluster) *traffic.Service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := traffic.NewService(l, c.Env.Record, 3)
	t.Cleanup(s.Close)
	c.Env.Service = s.URL()
	return s
}

// All that has to do with agents, on one cluster at once, while answers are lost,
// the service is unreliable, and the leader is killed with what only it knows: every checker has seen enough,
// and finds nothing. LC-1, LC-10, ME-5, TO-2, TO-4, TO-5, RU-5, CL-2, CL-3, CL-10.
func TestTogether(t *testing.T) {
	c := traffictest.Start(t, 3)
	s := serve(t, c)
	s.Set(traffic.Fates{Drop: 0.05, Late: 0.05, Lag: 2 * time.Second})
	e := c.Run(2*time.Second, traffic.Pace{Rate: 800}, losesAnswers(c),
		traffic.Load{Workload: new(traffic.Lifecycle), Workers: 3},
		traffic.Load{Workload: new(traffic.Append), Workers: 3},
		traffic.Load{Workload: new(traffic.Repeat), Workers: 3},
		traffic.Load{Workload: new(traffic.Errands), Workers: 2},
		traffic.Load{Workload: new(traffic.Revocation), Workers: 1},
		traffic.Load{Workload: new(traffic.Budgets), Workers: 1},
	)
	for _, least := range []struct {
		checker check.Checker
		figure  string
		least   int64
	}{
		{check.Effects{}, "acknowledged", 300},
		{check.Lifecycle{}, "replayed commands", 100},
		{check.Lifecycle{}, "refused transitions", 10},
		{check.Append{}, "acknowledged", 50},
		{check.Repeat{}, "repetitions", 50},
		{check.Errands{}, "hits", 50},
		{check.Errands{}, "outcome unknown", 1},
		{check.Revocation{}, "dispatches", 50},
		{check.Revocation{}, "denied for it", 1},
		{check.Budgets{}, "reported", 20},
		{check.Budgets{}, "waited", 1},
	} {
		v := least.checker.Check(t.Context(), e)
		valid(t, v)
		require.GreaterOrEqual(t, v.Figures[least.figure], least.least, "%s of %s", least.figure, v.Checker)
	}
}

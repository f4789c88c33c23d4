package traffic_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/traffictest"
)

// killsLeader kills whoever leads, and starts it again a second later.
func killsLeader(c *traffictest.Cluster) func() {
	return func() {
		leader := c.Leader()
		c.Kill(leader)
		<-time.After(time.Second)
		c.Restart(leader)
		<-time.After(time.Second)
	}
}

// pausesAll stops one node after the other for longer than an election takes.
func pausesAll(c *traffictest.Cluster) func() {
	return func() {
		for i := range c.Env.Nodes {
			c.Pause(i)
			<-time.After(1500 * time.Millisecond)
			c.Resume(i)
			c.Well()
		}
	}
}

// valid demands that a checker finds nothing.
func valid(t *testing.T, v check.Verdict) {
	t.Helper()
	t.Logf("%s: %s, %v, %d ms", v.Checker, v.Word, v.Figures, v.Millis)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
}

// CL-4: what one node answers is as new as it says, and a node that slept does not
// take the past for the present.
func TestReads(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{Rate: 500}, pausesAll(c), traffic.Load{Workload: new(traffic.Readers), Workers: 12})
	v := check.Reads{}.Check(t.Context(), e)
	valid(t, v)
	require.NotZero(t, v.Figures["reads from an index"])
	require.Greater(t, v.Figures["oldest answer ms"], int64(100), "answers that are old, and say so")
}

// CL-1, CL-3, CL-4, CL-5: through the death of the leader, the registers are
// linearizable, every stream is the log, wherever it goes on, and answers of single
// nodes are as new as they say.
func TestWorkloads(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{}, killsLeader(c), traffic.Load{Workload: new(traffic.Register), Workers: 6},
		traffic.Load{Workload: new(traffic.Streams), Workers: 3}, traffic.Load{Workload: new(traffic.Readers), Workers: 3})
	v := check.Register{Pictures: true}.Check(t.Context(), e)
	valid(t, v)
	require.Greater(t, v.Figures["operations"], int64(300))
	require.NotZero(t, v.Figures["conflicts"])
	require.NotEmpty(t, v.Files)
	v = check.Stream{}.Check(t.Context(), e)
	valid(t, v)
	require.EqualValues(t, 3, v.Figures["streams"])
	valid(t, check.Reads{}.Check(t.Context(), e))
	valid(t, check.Effects{}.Check(t.Context(), e))
	valid(t, check.Harness{}.Check(t.Context(), e))
	valid(t, check.Replicas{}.Check(t.Context(), e))
}

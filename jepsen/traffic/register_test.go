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

// valid demands that a checker finds nothing.
func valid(t *testing.T, v check.Verdict) {
	t.Helper()
	t.Logf("%s: %s, %v, %d ms", v.Checker, v.Word, v.Figures, v.Millis)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
}

// CL-5: every stream is the log, wherever it is cut off and goes on.
func TestStreams(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{Rate: 400}, killsLeader(c),
		traffic.Load{Workload: new(traffic.Streams), Workers: 4}, traffic.Load{Workload: new(traffic.Register), Workers: 3})
	valid(t, check.Stream{}.Check(t.Context(), e))
	valid(t, check.Register{}.Check(t.Context(), e))
	valid(t, check.Effects{}.Check(t.Context(), e))
}

// CL-1, CL-3, CL-4: the registers are linearizable through the death of the leader.
func TestRegister(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{}, killsLeader(c), traffic.Load{Workload: new(traffic.Register), Workers: 6})
	v := check.Register{Pictures: true}.Check(t.Context(), e)
	valid(t, v)
	require.Greater(t, v.Figures["operations"], int64(300))
	require.NotZero(t, v.Figures["conflicts"])
	require.NotEmpty(t, v.Files)
}

package traffic_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/traffictest"
)

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

// TO-2, TO-4: whatever becomes of the leader, no call hits the service twice that
// must not.
func TestErrands(t *testing.T) {
	c := traffictest.Start(t, 3)
	s := serve(t, c)
	s.Set(traffic.Fates{Drop: 0.05, Late: 0.1, Lag: 2 * time.Second})
	e := c.Run(time.Second, traffic.Pace{Rate: 150}, losesAnswers(c), traffic.Load{Workload: new(traffic.Errands), Workers: 6})
	valid(t, check.Effects{}.Check(t.Context(), e))
	valid(t, check.Lifecycle{}.Check(t.Context(), e))
	v := check.Errands{}.Check(t.Context(), e)
	valid(t, v)
	require.Greater(t, v.Figures["hits"], int64(100))
	require.NotZero(t, v.Figures["outcome unknown"])
}

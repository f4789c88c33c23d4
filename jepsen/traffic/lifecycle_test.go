package traffic_test

import (
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

// losesAnswers kills the leader while answers are lost.
func losesAnswers(c *traffictest.Cluster) func() {
	kill := killsLeader(c)
	return func() {
		c.Lose(sometimes)
		kill()
	}
}

// LC-1 … LC-17: commands of several workers at once, while answers are lost and the
// leader is killed, come to what the table and the model say.
func TestLifecycle(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{}, losesAnswers(c), traffic.Load{Workload: new(traffic.Lifecycle), Workers: 6})
	valid(t, check.Effects{}.Check(t.Context(), e))
	v := check.Lifecycle{}.Check(t.Context(), e)
	valid(t, v)
	require.Greater(t, v.Figures["replayed commands"], int64(500))
	require.NotZero(t, v.Figures["refused transitions"])
}

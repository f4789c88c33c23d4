package traffic_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/traffictest"
)

// LC-10, TO-5: nothing is done with a right that was taken away.
func TestRevocation(t *testing.T) {
	c := traffictest.Start(t, 3)
	serve(t, c)
	e := c.Run(time.Second, traffic.Pace{Rate: 100}, losesAnswers(c), traffic.Load{Workload: new(traffic.Revocation), Workers: 4})
	valid(t, check.Effects{}.Check(t.Context(), e))
	valid(t, check.Lifecycle{}.Check(t.Context(), e))
	valid(t, check.Errands{}.Check(t.Context(), e))
	v := check.Revocation{}.Check(t.Context(), e)
	valid(t, v)
	require.Greater(t, v.Figures["dispatches"], int64(50))
	require.NotZero(t, v.Figures["denied for it"])
}

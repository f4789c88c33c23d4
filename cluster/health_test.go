package cluster_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
)

// NO-1: a node says that it should not be asked while its disk is nearly full or
// nobody reads its log output; where it stands is another matter.
func TestHealthOfTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var blocked atomic.Int64
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.MinFree = 256 << 20
			free := []uint64{255 << 20, 1 << 40, 7 << 20}[i]
			total := []uint64{1 << 40, 1 << 41, 64 << 20}[i] // the last one is small
			config.Room = func(string) (uint64, uint64, error) { return free, total, nil }
			config.LogBlocked = func() time.Duration { return time.Duration(blocked.Load()) }
		})
		c.leader()
		healthy := func(i int) func() bool { return func() bool { return c.node(i).Healthy() == nil } }
		c.until("room is enough", healthy(1))
		c.until("a tenth of a small disk is enough", healthy(2))
		require.ErrorContains(t, c.node(0).Healthy(), "nearly full: 255 MiB")
		require.Equal(t, "Running", string(c.node(0).Lifecycle().State))
		blocked.Store(int64(6 * time.Second))
		require.ErrorContains(t, c.node(1).Healthy(), "log output")
		blocked.Store(0)
		require.NoError(t, c.node(1).Healthy())
	})
}

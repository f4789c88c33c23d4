package cluster_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/stretchr/testify/require"
)

// CL-4: a bound on the age of an answer is one. A leader that hears nobody may have
// been replaced, and says so from the moment on when it last knew better, even while
// it still holds its lease; within a bound it asks, and refuses when nobody answers.
func TestLagOfALeaderThatHearsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, raftstore.Bolt, false)
		leader := c.leader()
		stale := func(i int, bound time.Duration) (time.Duration, error) {
			v, err := c.node(i).Read(t.Context(), cluster.Consistency{Level: cluster.Stale, MaxLag: bound})
			return v.Lag, err
		}
		time.Sleep(10 * time.Second) // and nobody reads
		for i := range 3 {
			lag, err := stale(i, 0)
			require.NoError(t, err)
			require.Less(t, lag, time.Second, "a node that nobody asks keeps fresh")
			lag, err = stale(i, time.Millisecond)
			require.NoError(t, err)
			require.LessOrEqual(t, lag, time.Millisecond)
		}
		for i := range 3 {
			if i != leader {
				c.crash(i)
			}
		}
		alone := time.Now()
		time.Sleep(150 * time.Millisecond)
		lag, err := stale(leader, 0)
		require.NoError(t, err)
		require.GreaterOrEqual(t, lag, time.Since(alone))
		_, err = stale(leader, 100*time.Millisecond)
		var refused *cluster.ReadError
		require.True(t, errors.As(err, &refused))
		require.Equal(t, cluster.CodeNotCaughtUp, refused.Code)
		for i := range 3 {
			if i != leader {
				c.start(i)
			}
		}
		c.leader()
		c.until("every node answers within a bound", func() bool {
			for i := range 3 {
				if _, err := stale(i, 50*time.Millisecond); err != nil {
					return false
				}
			}
			return true
		})
	})
}

package consensus

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// One node of three goes on alone with everything that it has, in a term of its own, and
// takes others in again (ME-8).
func TestReform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		for i := range 50 {
			require.Equal(t, Applied, leader.group().Propose(t.Context(), fmt.Append(nil, i)).Verdict)
		}
		before := c.requireEqual()
		left := c.others(leader)[0]
		for _, n := range c.nodes {
			c.crash(n)
		}
		var files Config
		left.disk.open(&files)
		found, err := Survey(files.Log, files.Stable, filepath.Join(t.TempDir(), "none"))
		require.NoError(t, err)
		require.Len(t, found.Members, 3)
		require.Equal(t, found.Term, found.LastTerm)
		index, err := Reform(files.Log, files.Stable, found, Member{ID: left.id, Address: left.address(), Voter: true})
		require.NoError(t, err)
		require.Equal(t, found.Last+1, index)
		again, err := Survey(files.Log, files.Stable, t.TempDir())
		require.NoError(t, err)
		require.Equal(t, []Member{{ID: left.id, Address: left.address(), Voter: true}}, again.Members)
		require.Greater(t, again.LastTerm, found.Term)
		left.disk.close()

		c.start(left)
		require.Equal(t, left, c.leader())
		require.Equal(t, Applied, left.group().Propose(t.Context(), []byte("after")).Verdict)
		lines := left.machine.lines()
		require.Equal(t, before, lines[:len(before)])
		joiner := c.add("d", nil)
		require.NoError(t, left.group().AddLearner(t.Context(), "d", joiner.address()))
		c.requireEqual()
	})
}

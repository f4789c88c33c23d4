package survivor_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/survivor"
)

// left is the data directory of one of three nodes.
func left(t *testing.T) survivor.Plan { return leftOn(t, raftstore.Bolt) }

func leftOn(t *testing.T, store raftstore.Kind) survivor.Plan {
	t.Helper()
	p := survivor.Plan{Dir: t.TempDir(), Kernel: "default", Store: store}
	require.NoError(t, datadir.Claim(p.Dir, "omni", "n1"))
	files(t, p, func(log raft.LogStore, stable raft.StableStore) {
		var c raft.Configuration
		for i := range 3 {
			c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(fmt.Sprintf("n%d", i+1)), Address: raft.ServerAddress(fmt.Sprintf("10.0.0.%d:7800", i+1))})
		}
		require.NoError(t, stable.SetUint64([]byte("CurrentTerm"), 3))
		require.NoError(t, log.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(c)}))
		require.NoError(t, log.StoreLog(&raft.Log{Index: 2, Term: 3, Type: raft.LogNoop}))
	})
	return p
}

func files(t *testing.T, p survivor.Plan, use func(raft.LogStore, raft.StableStore)) {
	t.Helper()
	store, err := raftstore.Open(raftstore.Options{Kind: p.Store, Dir: datadir.RaftDir(p.Dir, p.Kernel), Fatal: func(err error) { require.NoError(t, err) }})
	require.NoError(t, err)
	use(store.Logs(), store.Stable())
	require.NoError(t, store.Close())
}

func through(t *testing.T, p survivor.Plan) string {
	t.Helper()
	lineage, err := datadir.Lineage(p.Dir)
	require.NoError(t, err)
	return lineage
}

func pending(t *testing.T, p survivor.Plan) bool {
	t.Helper()
	_, is, err := datadir.PendingRecovery(p.Dir)
	require.NoError(t, err)
	return is
}

// A recovery that was cut short happened if the Raft store has it, and then the node's
// lineage does, too; otherwise nothing is left of it, and no term tells of it (ME-8).
func TestSettle(t *testing.T) {
	t.Run("nothing was written but the note", func(t *testing.T) {
		p := left(t)
		found, err := survivor.Look(p)
		require.NoError(t, err)
		require.NoError(t, datadir.NoteRecovery(p.Dir, datadir.Recovery{Index: found.Last + 1, Term: found.Term, ID: "00c0ffee"}))
		require.NoError(t, survivor.Settle(p))
		require.False(t, pending(t, p))
		require.Empty(t, through(t, p))
		again, err := survivor.Look(p)
		require.NoError(t, err)
		require.Equal(t, found, again)
	})
	t.Run("the Raft store has it", func(t *testing.T) {
		p := left(t)
		found, err := survivor.Look(p)
		require.NoError(t, err)
		require.NoError(t, datadir.NoteRecovery(p.Dir, datadir.Recovery{Index: found.Last + 1, Term: found.Term, ID: "00c0ffee"}))
		files(t, p, func(log raft.LogStore, stable raft.StableStore) {
			standing, err := consensus.Survey(log, stable, datadir.RaftDir(p.Dir, p.Kernel))
			require.NoError(t, err)
			_, err = consensus.Reform(log, stable, standing, consensus.Member{ID: "n1", Address: "10.0.0.1:7800", Voter: true})
			require.NoError(t, err)
		})
		require.NoError(t, survivor.Settle(p))
		require.True(t, pending(t, p), "the log does not say so yet")
		require.Equal(t, "00c0ffee", through(t, p))
		require.NoError(t, survivor.Settle(p))
		require.Equal(t, "00c0ffee", through(t, p), "once")
	})
	t.Run("it was not cut short", func(t *testing.T) {
		p := left(t)
		found, err := survivor.Look(p)
		require.NoError(t, err)
		done, err := survivor.Recover(p, found.Token)
		require.NoError(t, err)
		require.Equal(t, found.Last+1, done.Index)
		own := through(t, p)
		require.Len(t, own, 8)
		require.NoError(t, survivor.Settle(p))
		require.True(t, pending(t, p))
		require.Equal(t, own, through(t, p))
		_, err = survivor.Look(p)
		require.ErrorIs(t, err, survivor.ErrAlone)
	})
	t.Run("two of the same state are not the same", func(t *testing.T) {
		p, copied := left(t), left(t)
		for _, p := range []survivor.Plan{p, copied} {
			found, err := survivor.Look(p)
			require.NoError(t, err)
			_, err = survivor.Recover(p, found.Token)
			require.NoError(t, err)
		}
		require.NotEqual(t, through(t, p), through(t, copied))
	})
	t.Run("by a binary that knew of no lineages", func(t *testing.T) {
		p := left(t)
		require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "RECOVERED"), []byte(`{"index":3,"term":3,"members":["n1","n2"]}`), 0o600))
		require.NoError(t, survivor.Settle(p))
		require.True(t, pending(t, p), "it is told still")
		require.Empty(t, through(t, p))
	})
	t.Run("its store is not there", func(t *testing.T) {
		p := left(t)
		require.NoError(t, datadir.NoteRecovery(p.Dir, datadir.Recovery{Index: 3, Term: 3, ID: "00c0ffee"}))
		store := datadir.RaftDir(p.Dir, p.Kernel)
		require.NoError(t, os.RemoveAll(store))
		require.NoError(t, survivor.Settle(p))
		require.True(t, pending(t, p))
		require.NoDirExists(t, store)
	})
	t.Run("its note is damaged", func(t *testing.T) {
		p := left(t)
		require.NoError(t, datadir.NoteRecovery(p.Dir, datadir.Recovery{Index: 3, Term: 3, Members: []string{"n1"}, ID: "00c0ffee"}))
		path := filepath.Join(p.Dir, "RECOVERED")
		sound, err := os.ReadFile(path)
		require.NoError(t, err)
		for bit := range 8 * (len(sound) - 1) { // the last byte ends the line
			damaged := append([]byte(nil), sound...)
			damaged[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			if bytes.EqualFold(damaged, sound) {
				continue // a key may be written large
			}
			require.ErrorContains(t, survivor.Settle(p), path, "%s", damaged)
		}
	})
}

// The Raft store is kept as it was, whatever a copy that was cut short has left; given
// again, what is kept is what was before the first time. Both stores.
func TestCopyBeforeARecovery(t *testing.T) {
	for _, store := range []raftstore.Kind{raftstore.Bolt, raftstore.WAL} {
		t.Run(string(store), func(t *testing.T) {
			p := leftOn(t, store)
			found, err := survivor.Look(p)
			require.NoError(t, err)
			raftDir := datadir.RaftDir(p.Dir, p.Kernel)
			half := fmt.Sprintf("%s-before-recovery-%d.tmp", raftDir, found.Last)
			require.NoError(t, os.CopyFS(half, os.DirFS(raftDir)))
			require.NoError(t, os.RemoveAll(filepath.Join(half, "wal")))
			done, err := survivor.Recover(p, found.Token)
			require.NoError(t, err)
			require.NoDirExists(t, half)
			store, err := raftstore.Open(raftstore.Options{Kind: store, Dir: done.Copy, Fatal: func(err error) { require.NoError(t, err) }})
			require.NoError(t, err)
			kept, err := consensus.Survey(store.Logs(), store.Stable(), done.Copy)
			require.NoError(t, err)
			require.NoError(t, store.Close())
			require.Len(t, kept.Members, 3)
			require.Equal(t, found.Last, kept.Last)
			require.Equal(t, found.Term, kept.Term)
		})
	}
}

// The finding tells what the survivor was, and what its history lacks; both are part of
// what is confirmed.
func TestFinding(t *testing.T) {
	p := left(t)
	voter, err := survivor.Look(p)
	require.NoError(t, err)
	require.True(t, voter.Voter)
	require.Zero(t, voter.Lacking)

	log := datadir.LogDir(p.Dir, p.Kernel)
	require.NoError(t, os.MkdirAll(log, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(log, "00000000000000004096.seg"), nil, 0o600)) // what came before is gone
	lacking, err := survivor.Look(p)
	require.NoError(t, err)
	require.Equal(t, uint64(4096), lacking.Lacking)
	require.NotEqual(t, voter.Token, lacking.Token)

	files(t, p, func(log raft.LogStore, _ raft.StableStore) {
		c := raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "10.0.0.1:7800", Suffrage: raft.Nonvoter}, {ID: "n2", Address: "10.0.0.2:7800"}}}
		require.NoError(t, log.StoreLog(&raft.Log{Index: 3, Term: 3, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(c)}))
	})
	learner, err := survivor.Look(p)
	require.NoError(t, err)
	require.False(t, learner.Voter)
}

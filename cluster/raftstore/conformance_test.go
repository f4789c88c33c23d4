package raftstore_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// TestConformance holds both kinds of files to the same behaviour.
func TestConformance(t *testing.T) {
	suite := map[string]func(*testing.T, raftstore.Options){
		"an empty store":                   emptyStore,
		"entries survive a restart":        entriesSurvive,
		"a suffix is replaced":             suffixReplaced,
		"a prefix is dropped":              prefixDropped,
		"everything is dropped":            everythingDropped,
		"the middle is refused":            middleRefused,
		"a log may begin anywhere":         beginsAnywhere,
		"a gap drops what is before it":    gapDrops,
		"stable values":                    stableValues,
		"a vote is whole or absent":        voteWhole,
		"one store per directory":          oneStore,
		"bytes are counted":                bytesCounted,
		"closed is not failed":             closedNotFailed,
		"the library finds its vote again": libraryVotes,
	}
	for _, kind := range []raftstore.Kind{raftstore.Bolt, raftstore.WAL} {
		for name, test := range suite {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				test(t, raftstore.Options{Kind: kind, Dir: filepath.Join(t.TempDir(), "raft"), Fatal: func(err error) {
					t.Errorf("fatal: %v", err)
				}})
			})
		}
	}
}

func open(t *testing.T, o raftstore.Options) *raftstore.Store {
	t.Helper()
	store, err := raftstore.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

func reopen(t *testing.T, store *raftstore.Store, o raftstore.Options) *raftstore.Store {
	t.Helper()
	require.NoError(t, store.Close())
	return open(t, o)
}

// entries low to high, their data derived from index and term.
func entries(low, high, term uint64) []*raft.Log {
	var out []*raft.Log
	for i := low; i <= high; i++ {
		out = append(out, &raft.Log{Index: i, Term: term, Type: raft.LogCommand, Data: []byte{byte(i), byte(i >> 8), byte(term)}})
	}
	return out
}

// requireLog checks that the log is exactly low to high, every entry of term.
func requireLog(t *testing.T, store *raftstore.Store, low, high, term uint64) {
	t.Helper()
	first, err := store.Logs().FirstIndex()
	require.NoError(t, err)
	last, err := store.Logs().LastIndex()
	require.NoError(t, err)
	require.Equal(t, [2]uint64{low, high}, [2]uint64{first, last})
	for i := low; i <= high && high > 0; i++ {
		var entry raft.Log
		require.NoError(t, store.Logs().GetLog(i, &entry), "entry %d", i)
		require.Equal(t, entries(i, i, term)[0].Data, entry.Data)
		require.Equal(t, term, entry.Term)
	}
	var entry raft.Log
	require.Equal(t, raft.ErrLogNotFound, store.Logs().GetLog(high+1, &entry))
	if low > 1 {
		require.Equal(t, raft.ErrLogNotFound, store.Logs().GetLog(low-1, &entry), "what was dropped is gone")
	}
}

func emptyStore(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	requireLog(t, store, 0, 0, 0)
	for _, key := range []string{"CurrentTerm", "LastVoteTerm", "LastVoteCand"} {
		_, err := store.Stable().Get([]byte(key))
		require.EqualError(t, err, "not found", "the library compares this text")
		_, err = store.Stable().GetUint64([]byte(key))
		require.EqualError(t, err, "not found")
	}
	require.NoError(t, store.Logs().DeleteRange(1, 1<<60))
}

func entriesSurvive(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(1, 300, 4)))
	require.NoError(t, store.Logs().StoreLog(entries(301, 301, 4)[0]))
	requireLog(t, store, 1, 301, 4)
	requireLog(t, reopen(t, store, o), 1, 301, 4)
}

func suffixReplaced(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(1, 5000, 2)))
	require.NoError(t, store.Logs().DeleteRange(101, 5000))
	requireLog(t, store, 1, 100, 2)
	require.NoError(t, store.Logs().StoreLogs(entries(101, 120, 3)))
	store = reopen(t, store, o)
	var entry raft.Log
	require.NoError(t, store.Logs().GetLog(101, &entry))
	require.Equal(t, uint64(3), entry.Term)
}

func prefixDropped(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(1, 5000, 2)))
	require.NoError(t, store.Logs().DeleteRange(1, 4990))
	requireLog(t, store, 4991, 5000, 2)
	requireLog(t, reopen(t, store, o), 4991, 5000, 2)
}

func everythingDropped(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(1, 2500, 2)))
	require.NoError(t, store.Logs().DeleteRange(0, 1<<63))
	requireLog(t, store, 0, 0, 0)
	// After an installed snapshot the log goes on far away.
	require.NoError(t, store.Logs().StoreLogs(entries(9000, 9003, 5)))
	requireLog(t, reopen(t, store, o), 9000, 9003, 5)
}

func middleRefused(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(1, 20, 2)))
	require.Error(t, store.Logs().DeleteRange(5, 10))
	requireLog(t, store, 1, 20, 2)
	require.NoError(t, store.Err(), "a wrong request is no failure of the store")
}

func beginsAnywhere(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(70, 75, 6)))
	requireLog(t, reopen(t, store, o), 70, 75, 6)
}

// A node that stops between a snapshot that it was sent and the deletion of its
// log comes back with entries that do not reach the snapshot.
func gapDrops(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Logs().StoreLogs(entries(1, 2500, 2)))
	store = reopen(t, store, o)
	require.NoError(t, store.Logs().StoreLogs(entries(2501, 2502, 2)))
	require.NoError(t, store.Logs().StoreLogs(entries(9001, 9003, 5)))
	requireLog(t, store, 9001, 9003, 5)
	var entry raft.Log
	require.Equal(t, raft.ErrLogNotFound, store.Logs().GetLog(2502, &entry), "nor in the cache")
	requireLog(t, reopen(t, store, o), 9001, 9003, 5)
}

func stableValues(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Stable().SetUint64([]byte("CurrentTerm"), 1<<40+7))
	require.NoError(t, store.Stable().Set([]byte("other"), []byte("value")))
	store = reopen(t, store, o)
	term, err := store.Stable().GetUint64([]byte("CurrentTerm"))
	require.NoError(t, err)
	require.Equal(t, uint64(1<<40+7), term)
	value, err := store.Stable().Get([]byte("other"))
	require.NoError(t, err)
	require.Equal(t, "value", string(value))
}

// castVote does what the library does.
func castVote(t *testing.T, store *raftstore.Store, term uint64, candidate string) {
	t.Helper()
	require.NoError(t, store.Stable().SetUint64([]byte("LastVoteTerm"), term))
	require.NoError(t, store.Stable().Set([]byte("LastVoteCand"), []byte(candidate)))
}

func requireVote(t *testing.T, store *raftstore.Store, term uint64, candidate string) {
	t.Helper()
	gotTerm, err := store.Stable().GetUint64([]byte("LastVoteTerm"))
	require.NoError(t, err)
	gotCandidate, err := store.Stable().Get([]byte("LastVoteCand"))
	require.NoError(t, err)
	require.Equal(t, term, gotTerm)
	require.Equal(t, candidate, string(gotCandidate))
}

func voteWhole(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	castVote(t, store, 7, "first")
	requireVote(t, store, 7, "first")

	// The process dies between the two halves of the next vote.
	require.NoError(t, store.Stable().SetUint64([]byte("LastVoteTerm"), 8))
	requireVote(t, store, 7, "first") // what is held is not yet a vote
	store = reopen(t, store, o)
	requireVote(t, store, 7, "first")

	castVote(t, store, 8, "second")
	requireVote(t, reopen(t, store, o), 8, "second")
}

func oneStore(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	second := o
	second.LockTimeout = 30 * time.Millisecond
	_, err := raftstore.Open(second)
	require.ErrorIs(t, err, raftstore.ErrBusy)
	require.ErrorContains(t, err, o.Dir)

	require.NoError(t, store.Close())
	other := o
	other.Kind = raftstore.WAL
	if o.Kind == raftstore.WAL {
		other.Kind = raftstore.Bolt
	}
	_, err = raftstore.Open(other)
	require.ErrorIs(t, err, raftstore.ErrOtherKind)
	open(t, o) // the refusals left no lock behind
}

func bytesCounted(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	one := &raft.Log{Index: 1, Data: bytes.Repeat([]byte("x"), 1000), Extensions: []byte("1234")}
	require.NoError(t, store.Logs().StoreLog(one))
	perEntry := store.Bytes()
	require.GreaterOrEqual(t, perEntry, uint64(1004))
	two := *one
	two.Index = 2
	require.NoError(t, store.Logs().StoreLog(&two))
	require.Equal(t, 2*perEntry, store.Bytes())

	store.Forget(perEntry)
	require.Equal(t, perEntry, store.Bytes())
	store.Forget(1 << 40)
	require.Zero(t, store.Bytes())

	store = reopen(t, store, o)
	require.Zero(t, store.Bytes())
	require.NoError(t, store.CountFrom(2))
	require.Equal(t, perEntry, store.Bytes())
}

func closedNotFailed(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	require.NoError(t, store.Close())
	require.ErrorContains(t, store.Logs().StoreLog(entries(1, 1, 1)[0]), raftstore.ErrClosed.Error())
	_, err := store.Stable().Get([]byte("CurrentTerm"))
	require.ErrorIs(t, err, raftstore.ErrClosed)
	require.NoError(t, store.Err())
}

// libraryVotes runs the real library: should a later version store a vote in
// another order, this is where it shows.
func libraryVotes(t *testing.T, o raftstore.Options) {
	store := open(t, o)
	term := elect(t, store)
	requireVote(t, store, term, "here")
	store = reopen(t, store, o)
	requireVote(t, store, term, "here")
	next := elect(t, store)
	require.Greater(t, next, term)
	requireVote(t, store, next, "here")
}

type noFSM struct{ raft.FSM }

// elect runs a group of one until it leads, and tells the term.
func elect(t *testing.T, store *raftstore.Store) uint64 {
	t.Helper()
	conf := raft.DefaultConfig()
	conf.LocalID = "one"
	conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout = 20*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
	conf.LogLevel = "OFF"
	_, transport := raft.NewInmemTransport("here")
	snapshots := raft.NewInmemSnapshotStore()
	err := raft.BootstrapCluster(conf, store.Logs(), store.Stable(), snapshots, transport, raft.Configuration{
		Servers: []raft.Server{{ID: "one", Address: "here"}},
	})
	if !errors.Is(err, raft.ErrCantBootstrap) {
		require.NoError(t, err)
	}
	node, err := raft.NewRaft(conf, noFSM{}, store.Logs(), store.Stable(), snapshots, transport)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return node.State() == raft.Leader }, 5*time.Second, time.Millisecond)
	term := node.CurrentTerm()
	require.NoError(t, node.Shutdown().Error())
	return term
}

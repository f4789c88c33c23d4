package restore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/restore"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// partial is a backup that was made without the archive: every third block of the
// archived segments is a stub.
func partial(t *testing.T) ([]byte, backup.Summary, logging.Tables) {
	t.Helper()
	h := kerneltest.NewHistory(t, 1, 40, kerneltest.NewSeeded(9))
	for len(h.State().Log.Sealed) < 5 {
		h.Run(20)
	}
	require.Empty(t, h.Command(event.LogArchive, event.ArchiveLog{Before: h.State().Log.NextSeq}).Refusal)
	h.Run(20)
	h.Pulse()
	archive := filepath.Join(t.TempDir(), "archive")
	log, err := segment.Open(t.TempDir(), segment.Options{Owner: segment.Owner("test", "default"), ArchiveDir: archive})
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	tables, end := logging.Genesis("default"), h.State().Log
	require.NoError(t, log.Resume(tables))
	for i, raw := range h.Blocks {
		tables.Advance(raw, logging.Digest(raw), h.State().Config.SegmentBytes)
		if i == len(h.Blocks)-1 {
			tables = end
		}
		require.NoError(t, log.Append(raw, &tables))
	}
	log.Publish()
	require.NoError(t, log.Sync(t.Context(), end.Position))
	log.Archive(end.Sealed, func(position uint64, b *logging.Block, _ uint64) bool { return position > 0 && b.Index%3 == 0 })
	require.Eventually(t, func() bool { return !log.Status().Archiving }, 10*time.Second, time.Millisecond)
	require.NoError(t, os.RemoveAll(archive))
	var file bytes.Buffer
	sum, err := backup.Write(t.Context(), &file, backup.Source{State: h.State(), Log: log, Node: "n1", Binary: "v0", MadeAt: time.Now()})
	require.NoError(t, err)
	require.NotZero(t, sum.FullFrom)
	require.NotZero(t, sum.Stubs)
	return file.Bytes(), sum, end
}

func planOf(t *testing.T) restore.Plan {
	return restore.Plan{ClusterID: "second", Dir: filepath.Join(t.TempDir(), "new"), Peers: []cluster.Peer{
		{ID: "n1", Raft: "127.0.0.1:1"}, {ID: "n2", Raft: "127.0.0.1:2"},
	}}
}

// EV-17: a backup that was made without the archive becomes directories in which each
// node has all that the old one had left, under the same chain.
func TestRestoreWithoutTheArchive(t *testing.T) {
	file, sum, end := partial(t)
	plan := planOf(t)
	report, err := restore.Run(t.Context(), bytes.NewReader(file), plan)
	require.NoError(t, err)
	require.Equal(t, sum.FullFrom, report.Backup.FullFrom)
	require.Equal(t, sum.Chain, report.Chain)
	for _, target := range report.Nodes {
		log, err := segment.Open(datadir.LogDir(target.Dir, "default"), segment.Options{Owner: segment.Owner("second", "default")})
		require.NoError(t, err)
		require.NoError(t, log.Resume(end))
		require.EqualValues(t, 1, log.Status().FirstSeq)
		verifier, stubs := logging.NewVerifier(logging.Genesis("default").Point), uint64(0)
		_, err = log.Walk(1, func(i *segment.Item) bool {
			if i.Archived() {
				stubs++
				require.NoError(t, verifier.FeedStub(&i.Stub))
			} else {
				require.NoError(t, verifier.Feed(i.Block.Raw))
			}
			return true
		})
		require.NoError(t, err)
		require.Equal(t, end.Chain, verifier.Point().Chain)
		require.Equal(t, sum.Stubs, stubs)
		require.NoError(t, log.Close())
	}
}

// One that is damaged or cut leaves nothing behind, wherever it is.
func TestRestoreOfDamageWithoutTheArchive(t *testing.T) {
	file, _, _ := partial(t)
	for n := range 24 {
		at := len(file) * n / 24
		flipped := bytes.Clone(file)
		flipped[at] ^= 16
		for what, bad := range map[string][]byte{"flipped": flipped, "cut": file[:at]} {
			plan := planOf(t)
			_, err := restore.Run(t.Context(), bytes.NewReader(bad), plan)
			require.Error(t, err, "%s at %d", what, at)
			require.NoDirExists(t, plan.Dir, "%s at %d", what, at)
		}
	}
}

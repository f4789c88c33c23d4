package segment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

func requireLacks(t *testing.T, bytes uint64, dir string) {
	t.Helper()
	found, err := Lacking(dir)
	require.NoError(t, err)
	require.Equal(t, bytes, found)
}

// What is not in the files of a log is counted: before the point at which a snapshot
// set the node, files that are gone, and files that are marked as damaged.
func TestLacking(t *testing.T) {
	requireLacks(t, 0, filepath.Join(t.TempDir(), "none"))
	blocks := history(31, small, 60)
	whole := logOf(t, blocks)
	requireLacks(t, 0, whole)

	at := middleOf(t, blocks)
	dir := t.TempDir()
	s := openAt(t, dir, logging.Genesis("default"))
	require.NoError(t, s.Reset(blocks[at].before))
	appendAll(t, s, blocks[at:])
	syncAll(t, s)
	require.NoError(t, s.Close())
	requireLacks(t, blocks[at].before.Position, dir)

	entry := blocks[59].after.Sealed[1]
	require.NoError(t, os.WriteFile(filepath.Join(whole, name(entry.Start, badSuffix)), []byte("why"), 0o600))
	requireLacks(t, entry.Bytes, whole)
	require.NoError(t, os.Remove(filepath.Join(whole, name(entry.Start, badSuffix))))
	require.NoError(t, os.Remove(filepath.Join(whole, name(entry.Start, segmentSuffix))))
	requireLacks(t, entry.Bytes, whole)
	first := blocks[59].after.Sealed[0]
	require.NoError(t, os.Remove(filepath.Join(whole, name(first.Start, segmentSuffix))))
	requireLacks(t, first.Bytes+entry.Bytes, whole)
	other := blocks[59].after.Sealed[2]
	require.NoError(t, os.WriteFile(filepath.Join(whole, name(other.Start, gapSuffix)), []byte("damaged"), 0o600))
	_, err := Lacking(whole)
	require.Error(t, err)
}

// What is archived is not missing, also where the archive is elsewhere.
func TestLackingOfAnArchivedLog(t *testing.T) {
	s := archivedLog(t, archivedHistory(301, small, 120, map[int]uint64{70: 650}))
	syncAll(t, s)
	requireLacks(t, 0, string(s.dir))
	takeAway(t, s)
	requireLacks(t, 0, string(s.dir))
}

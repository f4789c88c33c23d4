package datadir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/kernel/config"
)

func write(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
}

// A directory belongs to one node of one cluster for ever.
func TestClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, datadir.Claim(dir, "a", "n1"))
	require.NoError(t, datadir.Claim(dir, "a", "n1"))
	require.ErrorIs(t, datadir.Claim(dir, "a", "n2"), datadir.ErrForeign)
	require.ErrorIs(t, datadir.Claim(dir, "b", "n1"), datadir.ErrForeign)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node.json"), []byte(`{"format":9}`), 0o600))
	require.ErrorIs(t, datadir.Claim(dir, "a", "n1"), datadir.ErrNewer)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node.json"), []byte(`{`), 0o600))
	require.ErrorContains(t, datadir.Claim(dir, "a", "n1"), "does not parse")
	require.NoError(t, datadir.Condemn(dir, errors.New("why")))
	require.ErrorIs(t, datadir.Claim(dir, "a", "n1"), datadir.ErrDiverged)
}

// EV-9: data that needs a newer kernel is refused by a binary that does not know it,
// which names both versions, and by one that knows of no such note, for its format.
func TestNeed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.ErrorIs(t, datadir.Need(dir, 2), os.ErrNotExist)
	require.NoError(t, datadir.Claim(dir, "a", "n1"))
	file := func() string {
		content, err := os.ReadFile(filepath.Join(dir, "node.json"))
		require.NoError(t, err)
		return string(content)
	}
	const first = `{"format":0,"cluster_id":"a","node_id":"n1"}` + "\n"
	require.Equal(t, first, file(), "an older binary reads it")
	require.NoError(t, datadir.Need(dir, 1))
	require.Equal(t, first, file(), "version 1 is what it knows")
	require.NoError(t, datadir.Need(dir, 2))
	const second = `{"format":1,"cluster_id":"a","node_id":"n1","kernel_version":2}` + "\n"
	require.Equal(t, second, file())
	require.NoError(t, datadir.Need(dir, 1))
	require.Equal(t, second, file(), "it never falls")
	require.NoError(t, datadir.Claim(dir, "a", "n1"))
	require.ErrorIs(t, datadir.Claim(dir, "a", "n2"), datadir.ErrForeign)
	require.NoError(t, datadir.Need(dir, config.Version+1))
	err := datadir.Claim(dir, "a", "n1")
	require.ErrorIs(t, err, datadir.ErrNewer)
	require.ErrorContains(t, err, fmt.Sprintf("needs kernel version %d, this binary knows versions 1 to %d", config.Version+1, config.Version))
	write(t, filepath.Join(dir, "node.json"))
	require.ErrorContains(t, datadir.Need(dir, 9), "does not parse")
}

// ME-9: which recoveries the data has been through is kept with whose it is, whatever
// else is, in a format that older binaries refuse. Who was left behind starts no more.
func TestLineage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	none, err := datadir.Lineage(dir)
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, datadir.Claim(dir, "a", "n1"))
	require.NoError(t, datadir.KeepLineage(dir, "3f9a0c51"))
	require.NoError(t, datadir.Need(dir, 2))
	require.NoError(t, datadir.KeepLineage(dir, "3f9a0c51.00c0ffee"))
	found, err := datadir.Lineage(dir)
	require.NoError(t, err)
	require.Equal(t, "3f9a0c51.00c0ffee", found)
	require.NoError(t, datadir.Claim(dir, "a", "n1"))
	content, err := os.ReadFile(filepath.Join(dir, "node.json"))
	require.NoError(t, err)
	require.Contains(t, string(content), `{"format":2,"cluster_id":"a","node_id":"n1","kernel_version":2,"lineage":"3f9a0c51.00c0ffee","sum":"`)
	require.NoError(t, datadir.Outlive(dir))
	err = datadir.Claim(dir, "a", "n1")
	require.ErrorIs(t, err, datadir.ErrOutlived)
	require.True(t, datadir.IsOver(err))
}

// Between Begin and End a directory starts nowhere; what a cut restore left behind
// makes room for the next one, and what anybody else has left is not touched.
func TestRestoringDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	made, err := datadir.Begin(dir)
	require.NoError(t, err)
	require.True(t, made)
	require.ErrorIs(t, datadir.Claim(dir, "a", "n1"), datadir.ErrRestoring)
	write(t, filepath.Join(dir, "kernels", "default", "log", "half"))
	write(t, filepath.Join(dir, "node.json"))

	made, err = datadir.Begin(dir) // as a process does that comes after one that was killed
	require.NoError(t, err)
	require.False(t, made)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.ErrorIs(t, datadir.Claim(dir, "a", "n1"), datadir.ErrRestoring)
	require.NoError(t, datadir.End(dir))
	require.NoError(t, datadir.Claim(dir, "a", "n1"))

	_, err = datadir.Begin(dir)
	require.ErrorIs(t, err, datadir.ErrNotEmpty)
	require.ErrorContains(t, err, "node.json")
	require.NoError(t, datadir.Claim(dir, "a", "n1"), "and is what it was")
}

// A volume of its own is empty but for what its file system put there, and stays.
func TestRestoreIntoAnEmptyVolume(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	made, err := datadir.Begin(dir)
	require.NoError(t, err)
	require.False(t, made)
	write(t, filepath.Join(dir, "kernels", "x"))
	require.NoError(t, datadir.Undo(dir, made))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, "lost+found", entries[0].Name())

	own := filepath.Join(dir, "own")
	made, err = datadir.Begin(own)
	require.NoError(t, err)
	require.NoError(t, datadir.Undo(own, made))
	require.NoDirExists(t, own)
}

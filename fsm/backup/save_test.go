package backup_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
)

// A file has its name when it is whole; what failed leaves nothing behind, and what
// is there is not touched.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	names := func() (found []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			found = append(found, entry.Name())
		}
		return found
	}
	named := func() string { return "a" }
	path, err := backup.Save(dir, ".tmp-", func(w *os.File) error {
		require.Len(t, names(), 1)
		require.Equal(t, backup.PartialSuffix, filepath.Ext(names()[0]))
		_, err := io.WriteString(w, "whole")
		return err
	}, named)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "a"), path)

	disk := errors.New("disk full")
	_, err = backup.Save(dir, ".tmp-", func(*os.File) error { return disk }, func() string { return "b" })
	require.ErrorIs(t, err, disk)
	_, err = backup.Save(dir, ".tmp-", func(*os.File) error { return nil }, named)
	require.ErrorIs(t, err, backup.ErrExists)
	require.Equal(t, []string{"a"}, names())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "whole", string(content))
	_, err = backup.Save(filepath.Join(dir, "none"), "", func(*os.File) error { return nil }, named)
	require.ErrorIs(t, err, os.ErrNotExist)
}

//go:build root && linux

package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
)

func newImage(t *testing.T, mebibytes int64) *disk.Image {
	t.Helper()
	d, err := disk.New(t.TempDir(), mebibytes)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// put writes a file, and fsyncs it and its directory when it is to last.
func put(t *testing.T, path, content string, synced bool) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = f.WriteString(content)
	require.NoError(t, err)
	if synced {
		require.NoError(t, f.Sync())
		syncDir(t, filepath.Dir(path))
	}
	require.NoError(t, f.Close())
}

func syncDir(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(dir)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

func content(t *testing.T, path string) string {
	t.Helper()
	found, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(found)
}

func TestACutLosesWhatWasNotSynced(t *testing.T) {
	d := newImage(t, 16)
	put(t, filepath.Join(d.Dir(), "kept"), "kept", true)
	put(t, filepath.Join(d.Dir(), "lost"), "lost", false)
	require.NoError(t, d.Cut())
	require.Equal(t, "kept", content(t, filepath.Join(d.Dir(), "kept")))
	require.NoFileExists(t, filepath.Join(d.Dir(), "lost"))
	put(t, filepath.Join(d.Dir(), "kept"), "new", true)
	require.NoError(t, d.Cut())
	require.Equal(t, "new", content(t, filepath.Join(d.Dir(), "kept")))
}

// A cut under a process would blame it for what the harness did.
func TestACutUnderAUser(t *testing.T) {
	d := newImage(t, 16)
	f, err := os.Create(filepath.Join(d.Dir(), "open"))
	require.NoError(t, err)
	require.ErrorContains(t, d.Cut(), "must be dead or stopped first")
	f.Close()
	require.NoError(t, d.Writable(), "brings it back")
}

func TestAFullDisk(t *testing.T) {
	d := newImage(t, 16)
	require.NoError(t, d.Fill(256))
	path := filepath.Join(d.Dir(), "file")
	require.ErrorIs(t, os.WriteFile(path, make([]byte, 512<<10), 0o600), syscall.ENOSPC)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, make([]byte, 64<<10), 0o600))
	require.NoError(t, d.Fill(0))
	require.ErrorIs(t, os.WriteFile(path+"2", make([]byte, 64<<10), 0o600), syscall.ENOSPC)
	require.NoError(t, d.Free())
	require.NoError(t, os.WriteFile(path, make([]byte, 512<<10), 0o600))
}

// The disk becomes read-only although a file is open for writing.
func TestAReadOnlyDisk(t *testing.T) {
	d := newImage(t, 16)
	put(t, filepath.Join(d.Dir(), "file"), "content", true)
	f, err := os.OpenFile(filepath.Join(d.Dir(), "file"), os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, d.ReadOnly())
	_, err = f.WriteString("changed")
	require.Error(t, err)
	require.ErrorIs(t, os.WriteFile(filepath.Join(d.Dir(), "other"), nil, 0o600), syscall.EROFS)
	require.Equal(t, "content", content(t, filepath.Join(d.Dir(), "file")))
	f.Close()
	require.NoError(t, d.Writable())
	put(t, filepath.Join(d.Dir(), "file"), "changed", true)
	require.NoError(t, d.Cut())
	require.Equal(t, "changed", content(t, filepath.Join(d.Dir(), "file")))
}

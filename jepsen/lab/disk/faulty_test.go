//go:build root && linux

package disk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
)

func newFaulty(t *testing.T) *disk.Faulty {
	t.Helper()
	d, err := disk.NewFaulty(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func inject(t *testing.T, d *disk.Faulty, f disk.Fault) (struck func() int) {
	t.Helper()
	struck, err := d.Inject(f)
	require.NoError(t, err)
	return struck
}

// An fsync that fails loses what was written before it, although that stays to be
// seen and the next one succeeds.
func TestAFailedFsync(t *testing.T) {
	d := newFaulty(t)
	path := filepath.Join(d.Dir(), "file")
	put(t, path, "first.", true)
	struck := inject(t, d, disk.Fault{Op: disk.Fsync, Files: "file", Times: 1, Errno: syscall.EIO})
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("second.")
	require.NoError(t, err)
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	require.Equal(t, 1, struck())
	_, err = f.WriteString("third.")
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.Equal(t, "first.second.third.", content(t, path))
	loss, err := d.LoseUnsynced(1)
	require.NoError(t, err)
	require.Equal(t, []disk.Lost{{File: "file"}}, loss.Files)
	require.Equal(t, "first.\x00\x00\x00\x00\x00\x00\x00third.", content(t, path))
}

func TestASlowFsync(t *testing.T) {
	d := newFaulty(t)
	inject(t, d, disk.Fault{Op: disk.Fsync, Delay: 50 * time.Millisecond})
	begin := time.Now()
	put(t, filepath.Join(d.Dir(), "file"), "content", true)
	require.GreaterOrEqual(t, time.Since(begin), 100*time.Millisecond, "the file and its directory")
	d.Heal()
	inject(t, d, disk.Fault{Op: disk.Fsync, Delay: time.Hour})
	done := make(chan struct{})
	go func() {
		defer close(done)
		syncDir(t, d.Dir())
	}()
	require.Eventually(t, func() bool {
		select {
		case <-done:
			return true
		default:
			d.Heal()
			return false
		}
	}, 5*time.Second, time.Millisecond, "what is healed goes on")
}

func TestAFailedWrite(t *testing.T) {
	d := newFaulty(t)
	path := filepath.Join(d.Dir(), "file")
	put(t, path, "content", true)
	inject(t, d, disk.Fault{Op: disk.Write, Errno: syscall.ENOSPC})
	require.ErrorIs(t, os.WriteFile(path+"2", nil, 0o600), syscall.ENOSPC)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("changed")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, "content", content(t, path))
	d.Heal()
	inject(t, d, disk.Fault{Op: disk.Write, Errno: syscall.EIO, Part: true, Times: 1})
	_, err = f.WriteAt([]byte("CHANGED"), 0)
	require.ErrorIs(t, err, syscall.EIO)
	d.Heal() // the kernel reads again
	require.Equal(t, "CHAtent", content(t, path))
	require.NoError(t, os.Remove(path))
}

func TestAFlippedBit(t *testing.T) {
	d := newFaulty(t)
	path := filepath.Join(d.Dir(), "file")
	put(t, path, "content", true)
	require.Equal(t, "content", content(t, path))
	inject(t, d, disk.Fault{Op: disk.Read, Files: "fi*"})
	require.Equal(t, "condent"[:3]+string(rune('t'^0x10))+"ent", content(t, path))
	d.Heal()
	require.Equal(t, "content", content(t, path))
}

// Names whose directory was not fsynced may come back, go, or be the old ones; a file
// that replaced another is one of the two.
func TestACutUndoesNames(t *testing.T) {
	undone, kept := 0, 0
	for seed := range uint64(20) {
		d := newFaulty(t)
		at := func(name string) string { return filepath.Join(d.Dir(), name) }
		put(t, at("replaced"), "old", true)
		put(t, at("removed"), "removed", true)
		put(t, at("replaced.tmp"), "new", true)
		require.NoError(t, os.Rename(at("replaced.tmp"), at("replaced")))
		require.NoError(t, os.Remove(at("removed")))
		require.NoError(t, os.Mkdir(at("made"), 0o700))
		loss, err := d.LoseUnsynced(seed)
		require.NoError(t, err)
		require.Equal(t, 3, loss.OfNames)
		want := map[bool]string{true: "old", false: "new"}[loss.Names == 3]
		require.Equal(t, want, content(t, at("replaced")))
		_, err = os.Stat(at("removed"))
		require.Equal(t, loss.Names >= 2, err == nil)
		_, err = os.Stat(at("made"))
		require.Equal(t, loss.Names == 0, err == nil)
		undone, kept = undone+loss.Names, kept+3-loss.Names
	}
	require.Positive(t, undone)
	require.Positive(t, kept)
}

// What was fsynced is there after a cut, whatever else is torn.
func TestACutKeepsWhatWasSynced(t *testing.T) {
	torn := 0
	for seed := range uint64(20) {
		d := newFaulty(t)
		path := filepath.Join(d.Dir(), "file")
		durable := bytes.Repeat([]byte("synced."), 3000)
		put(t, path, string(durable), true)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt(bytes.Repeat([]byte("x"), 5000), 5000)
		require.NoError(t, err)
		_, err = f.WriteAt(bytes.Repeat([]byte("y"), 5000), 30000) // leaves a hole
		require.NoError(t, err)
		require.NoError(t, f.Truncate(12000))
		require.NoError(t, f.Close())
		loss, err := d.LoseUnsynced(seed)
		require.NoError(t, err)
		require.Len(t, loss.Files, 1)
		torn += loss.Files[0].Torn
		found := []byte(content(t, path))
		require.Equal(t, durable[:5000], found[:5000])
		require.Equal(t, durable[10000:12000], found[10000:12000])
		if loss.Files[0].Kept+loss.Files[0].Torn == 0 {
			require.True(t, bytes.Equal(durable, found), "%+v", loss)
		}
	}
	require.Positive(t, torn)
}

func TestACutUnderAUserOfAFaultyDisk(t *testing.T) {
	d := newFaulty(t)
	f, err := os.Create(filepath.Join(d.Dir(), "file"))
	require.NoError(t, err)
	_, err = d.LoseUnsynced(1)
	require.ErrorContains(t, err, "must be dead or stopped first")
	require.NoError(t, f.Close())
}

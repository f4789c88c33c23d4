//go:build root && linux

package disk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
)

// hold has disks of both kinds until it is killed.
func hold(dir string, _ int) error {
	image, err := disk.New(filepath.Join(dir, "image"), 16)
	if err != nil {
		return err
	}
	faulty, err := disk.NewFaulty(filepath.Join(image.Dir(), "faulty"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(faulty.Dir(), "ready"), nil, 0o600); err != nil {
		return err
	}
	select {}
}

// A run that was killed leaves mounts and loop devices, with processes in them. Sweep
// takes them away, and nothing else.
func TestSweepAfterAnInterruptedRun(t *testing.T) {
	other, dir := newImage(t, 16), t.TempDir()
	holder := child(t, "hold", dir, 0)
	require.NoError(t, holder.Start())
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
		_, err := disk.Sweep(dir)
		require.NoError(t, err)
	})
	image := filepath.Join(dir, "image", "disk")
	ready := filepath.Join(image, "faulty", "disk", "ready")
	require.Eventually(t, func() bool { _, err := os.Stat(ready); return err == nil }, 20*time.Second, 5*time.Millisecond)
	user, err := os.Open(filepath.Join(image, "faulty", "real", "ready")) // a node that outlived its run
	require.NoError(t, err)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait() // killed: that is what it says

	swept, err := disk.Sweep(dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(swept), 2, "%v", swept)
	require.NoFileExists(t, ready)
	require.NoError(t, user.Close())
	require.NotContains(t, mounts(t), dir)
	require.Eventually(t, func() bool { return !bytes.Contains(loops(t), []byte(dir)) }, 5*time.Second, time.Millisecond)
	require.Contains(t, mounts(t), other.Dir())
	require.NoError(t, os.WriteFile(filepath.Join(other.Dir(), "file"), nil, 0o600))
	again, err := disk.Sweep(dir)
	require.NoError(t, err)
	require.Empty(t, again)
}

func mounts(t *testing.T) string {
	t.Helper()
	return content(t, "/proc/self/mounts")
}

// loops is what all loop devices are over.
func loops(t *testing.T) (backing []byte) {
	t.Helper()
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(t, err)
	for _, file := range files {
		content, _ := os.ReadFile(file) // it may have gone
		backing = append(backing, content...)
	}
	return backing
}

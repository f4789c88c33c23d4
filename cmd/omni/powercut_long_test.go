//go:build long && linux

package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// disk is a file system of its own in a file, whose power can be cut: what was
// not fsynced is gone then.
type disk struct {
	t     *testing.T
	image string
	mount string
}

// newDisk makes and mounts one. It needs root, loop devices and ext4: a machine
// without them cannot run the test, and says so.
func newDisk(t *testing.T, megabytes int64) *disk {
	t.Helper()
	require.Zero(t, os.Getuid(), "cutting a disk's power needs root, to mount file systems")
	dir := t.TempDir()
	d := &disk{t: t, image: filepath.Join(dir, "image"), mount: filepath.Join(dir, "disk")}
	require.NoError(t, os.WriteFile(d.image, nil, 0o600))
	require.NoError(t, os.Truncate(d.image, megabytes<<20))
	require.NoError(t, os.Mkdir(d.mount, 0o700))
	d.run("mkfs.ext4", "-q", "-F", d.image)
	d.run("mount", "-o", "loop", d.image, d.mount)
	t.Cleanup(func() { d.run("umount", d.mount) })
	return d
}

func (d *disk) run(name string, args ...string) {
	d.t.Helper()
	output, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(d.t, err, "%s %v (this test needs ext4 on loop devices): %s", name, args, output)
}

// data is the data directory on the disk.
func (d *disk) data() string { return filepath.Join(d.mount, "data") }

// The file system's own command to stop at once, without writing its journal
// (EXT4_IOC_SHUTDOWN).
const (
	shutdownFilesystem = 0x8004587d
	withoutLogFlush    = 2
)

// cut takes the power away and gives it back. Nobody may use the disk: an fsync
// under way might report success for what is lost, and blame the nodes for it.
func (d *disk) cut() {
	d.t.Helper()
	root, err := os.Open(d.mount)
	require.NoError(d.t, err)
	how := uint32(withoutLogFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, root.Fd(), shutdownFilesystem, uintptr(unsafe.Pointer(&how)))
	require.NoError(d.t, root.Close())
	require.Zero(d.t, errno, "shut the file system down: %v", errno)
	d.run("umount", d.mount)
	d.run("mount", "-o", "loop", d.image, d.mount)
}

// A cut loses what was not fsynced, or the tests below say nothing.
func TestPowerCutLosesWhatWasNotSynced(t *testing.T) {
	d := newDisk(t, 64)
	write := func(name string, synced bool) {
		f, err := os.Create(filepath.Join(d.mount, name))
		require.NoError(t, err)
		_, err = f.WriteString(name)
		require.NoError(t, err)
		if synced {
			require.NoError(t, f.Sync())
		}
		require.NoError(t, f.Close())
	}
	write("kept", true)
	write("lost", false)
	d.cut()
	require.FileExists(t, filepath.Join(d.mount, "kept"))
	require.NoFileExists(t, filepath.Join(d.mount, "lost"))
}

// Three nodes lose their power again and again: all at once, some of them, and
// while they come back. Every command that was acknowledged is in the log of each
// afterwards, and the logs are the same (LO-1, LO-2).
func TestPowerCutsOfNodes(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		const rounds = 12
		seed := testSeed(t)
		random := rand.New(rand.NewPCG(seed, 7))
		disks := []*disk{newDisk(t, 512), newDisk(t, 512), newDisk(t, 512)}
		// Segments are large enough not to be sealed, and so fsynced, all the time.
		flags := append(smallFlags(store), "--segment-bytes", "4194304")
		p := newProcesses(t, []string{disks[0].data(), disks[1].data(), disks[2].data()}, flags...)
		p.startAll()
		p.alike()
		f := &traffic{client: p.client, name: "cut"}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { f.run(ctx, seed) })
		for round := range rounds {
			before := f.count()
			require.Eventually(t, func() bool { return f.count() > before+50 }, time.Minute, time.Millisecond, "round %d: nothing is acknowledged", round)
			p.rest(random, 2000)
			victims := min(1+random.IntN(2*len(disks)-1), len(disks)) // all of them, most often
			order := random.Perm(len(disks))[:victims]
			for _, i := range order {
				p.kill(i)
			}
			for _, i := range order {
				disks[i].cut()
				if random.IntN(3) == 0 { // once more, while it comes back
					p.start(i)
					p.rest(random, 500)
					p.kill(i)
					disks[i].cut()
				}
			}
			p.startAll()
		}
		end()
		running.Wait()
		p.alike()
		p.whole()
		p.alike()
		p.stopAll()
		p.requireSameLogs(f)
		require.Greater(t, len(f.acked), 50*rounds)
	})
}

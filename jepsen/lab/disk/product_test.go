//go:build root && linux

package disk_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
)

// until limits how long a write is tried that is to fail.
const until = 300 * time.Millisecond

// endsNaming waits until a node ends by itself, and looks for words in its last
// error.
func (n *nodes) endsNaming(i int, r *running, words ...string) {
	n.t.Helper()
	require.True(n.t, r.within(20*time.Second), "n%d goes on", i+1)
	require.Equal(n.t, 1, r.cmd.ProcessState.ExitCode())
	said := n.said(i)
	at := strings.LastIndex(said, "\nerror: ")
	require.GreaterOrEqual(n.t, at, 0, "n%d says no error", i+1)
	for _, word := range words {
		require.Contains(n.t, said[at:], word)
	}
	require.NotContains(n.t, said, "goroutine ")
	n.running[i] = nil
}

// A node whose fsync failed acknowledges nothing more, ends, and names file and
// cause. After a power cut all that it acknowledged is there.
func TestFailedFsyncsEndANode(t *testing.T) {
	for name, c := range map[string]struct{ store, files, names string }{
		"bolt":    {"bolt", "raft.db", "/raft.db"},
		"wal":     {"wal", "*.wal", ".wal"},
		"segment": {"bolt", "*.seg", ".seg"},
	} {
		t.Run(name, func(t *testing.T) {
			disks, dirs := faulty(t, 1)
			n := newNodes(t, c.store, dirs...)
			r := n.start(0)
			n.up()
			n.fill(20)
			struck := inject(t, disks[0], disk.Fault{Op: disk.Fsync, Files: c.files, Errno: syscall.EIO, After: 3, Times: 1})
			require.Error(t, n.fillUntil(until))
			n.endsNaming(0, r, c.names, "input/output error")
			require.Equal(t, 1, struck(), "a failed fsync is not tried again")
			loss, err := disks[0].LoseUnsynced(uint64(len(name)))
			require.NoError(t, err)
			require.NotEmpty(t, loss.Files)
			n.start(0)
			n.up()
			n.whole()
		})
	}
}

// Slow fsyncs make a node slow, and nothing else.
func TestSlowFsyncs(t *testing.T) {
	disks, dirs := faulty(t, 1)
	n := newNodes(t, "bolt", dirs...)
	n.start(0)
	n.up()
	inject(t, disks[0], disk.Fault{Op: disk.Fsync, Delay: 40 * time.Millisecond})
	begin := time.Now()
	n.fill(15)
	require.Greater(t, time.Since(begin), 15*40*time.Millisecond)
	disks[0].Heal()
	n.kill(0)
	_, err := disks[0].LoseUnsynced(1)
	require.NoError(t, err)
	n.start(0)
	n.up()
	n.whole()
}

// A node without room ends, says why, and goes on when there is room again.
func TestAFullDiskOfANode(t *testing.T) {
	d := newImage(t, 64)
	n := newNodes(t, "bolt", filepath.Join(d.Dir(), "data"))
	r := n.start(0)
	n.up()
	n.fill(20)
	require.NoError(t, d.Fill(64))
	require.Error(t, n.fillUntil(until))
	n.endsNaming(0, r, n.dirs[0], "no space left on device")
	require.NoError(t, d.Cut())
	require.NoError(t, d.Free())
	n.start(0)
	n.up()
	n.whole()
}

// A disk that has become read-only ends a node, and it does not start on it.
func TestAReadOnlyDiskOfANode(t *testing.T) {
	d := newImage(t, 64)
	n := newNodes(t, "bolt", filepath.Join(d.Dir(), "data"))
	r := n.start(0)
	n.up()
	n.fill(20)
	require.NoError(t, d.ReadOnly())
	require.Error(t, n.fillUntil(until))
	n.endsNaming(0, r, n.dirs[0], "read-only file system")
	n.endsNaming(0, n.start(0), n.dirs[0], "read-only file system")
	require.NoError(t, d.Writable())
	n.start(0)
	n.up()
	n.whole()
}

// Bits that flip while files are read are found, whatever the disk says.
func TestFlippedBitsWhileReading(t *testing.T) {
	for _, files := range []string{"raft.db", "*.seg", "state.bin"} {
		disks, dirs := faulty(t, 1)
		n := newNodes(t, "bolt", dirs...)
		n.start(0)
		n.up()
		n.fill(60)
		n.kill(0)
		struck := inject(t, disks[0], disk.Fault{Op: disk.Read, Files: files})
		r := n.start(0)
		require.Eventually(t, func() bool { return r.within(0) || n.ready(0) }, 20*time.Second, 10*time.Millisecond)
		t.Logf("%s, %d reads: %s", files, struck(), n.lastWords(0))
		require.NotContains(t, n.said(0), "goroutine ")
		n.kill(0)
		disks[0].Heal()
		n.start(0)
		n.up()
		n.whole()
	}
}

// What a node acknowledged is there after power cuts that tear what was not
// fsynced, and undo names.
func TestTornWrites(t *testing.T) {
	overStores(t, func(t *testing.T, store string) { tearing(t, store, 3, 1) })
}

func overStores(t *testing.T, test func(t *testing.T, store string)) {
	for _, store := range []string{"bolt", "wal"} {
		t.Run(store, func(t *testing.T) { test(t, store) })
	}
}

func tearing(t *testing.T, store string, rounds int, seed uint64) {
	disks, dirs := faulty(t, 1)
	n := newNodes(t, store, dirs...)
	for round := range uint64(rounds) {
		n.start(0)
		n.up()
		n.fill(15 + int(seed+round)%25)
		// Fsyncs that take their time leave writes that are not fsynced.
		inject(t, disks[0], disk.Fault{Op: disk.Fsync, Delay: 30 * time.Millisecond})
		// One is under way when the node dies.
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = n.put(t.Context(), until) // it may have taken effect, or not
		}()
		time.Sleep(time.Duration((seed*7+round*3)%40) * time.Millisecond)
		n.kill(0)
		<-done
		disks[0].Heal()
		loss, err := disks[0].LoseUnsynced(seed<<8 | round)
		require.NoError(t, err)
		t.Logf("%+v", loss)
	}
	n.start(0)
	n.up()
	n.whole()
}

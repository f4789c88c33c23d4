//go:build root && linux

package disk_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
)

// startDamaged starts a damaged node: either it ends with an error that names the
// data, or it is whole in the end.
func (n *nodes) startDamaged(i int) (refusal string) {
	n.t.Helper()
	before := len(n.said(i))
	r := n.start(i)
	var unready error
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if r.within(0) {
			n.running[i] = nil
			said := n.said(i)[before:]
			require.NotContains(n.t, said, "goroutine ", "it must not end in a panic")
			require.Contains(n.t, n.lastWords(i), n.dirs[i], "it must name the file")
			return n.lastWords(i)
		}
		if n.ready(i) {
			if unready = n.wholeOf(i); unready == nil {
				return ""
			}
			if strings.Contains(unready.Error(), "COMPACTED") { // damage in the archive says so
				n.kill(i)
				return unready.Error()
			}
		}
	}
	require.Fail(n.t, "a damaged node neither refuses nor is whole", "%v", unready)
	return ""
}

// damage damages a node that is down, and holds it to that: nothing acknowledged is
// missing from any answer. A node that refuses gets an empty disk.
func (n *nodes) damage(files disk.Files, kind disk.Kind, way disk.Way, seed uint64) (refusal string) {
	n.t.Helper()
	n.kill(0)
	done, err := files.Choose(kind, way, seed)
	require.NoError(n.t, err)
	refusal = n.startDamaged(0)
	n.t.Logf("%v %v: %s", time.Now().Format("05.000"), done, refusal)
	if refusal == "" {
		return ""
	}
	require.NoError(n.t, files.Wipe())
	n.start(0)
	require.Eventually(n.t, func() bool { return n.ready(0) }, 30*time.Second, 20*time.Millisecond)
	require.NoError(n.t, n.wholeOf(0))
	return refusal
}

// trio is three nodes with a log of several segments, and the first one's files,
// of which older copies are kept.
func trio(t *testing.T, store string) (*nodes, disk.Files) {
	t.Helper()
	n := newNodes(t, store, t.TempDir(), t.TempDir(), t.TempDir())
	n.startAll()
	n.up()
	n.fill(70)
	files := disk.Files{Dir: n.dirs[0], Old: filepath.Join(t.TempDir(), "old")}
	require.NoError(t, files.Keep())
	n.fill(70)
	return n, files
}

// What is damaged in the log is fetched; a Raft store that is damaged is refused.
func TestDamageInAClusterOfThree(t *testing.T) {
	n, files := trio(t, "bolt")
	require.Empty(t, n.damage(files, disk.Sealed, disk.Flip, 1))
	require.Empty(t, n.damage(files, disk.Index, disk.Zero, 2))
	require.Contains(t, n.damage(files, disk.Raft, disk.Truncate, 3), "raft.db")
	n.whole()
}

// A node whose Raft store is not the one that it acknowledged with refuses: it would
// lose what it acknowledged, or vote twice.
func TestARaftStoreOfThePast(t *testing.T) {
	for _, c := range []struct {
		store string
		way   disk.Way
		says  string
	}{
		{"bolt", disk.Stale, "ends at index"}, {"bolt", disk.Missing, "is missing"}, {"wal", disk.Missing, ""},
	} {
		t.Run(fmt.Sprint(c.store, c.way), func(t *testing.T) {
			n := newNodes(t, c.store, t.TempDir())
			n.start(0)
			n.up()
			n.fill(10)
			files := disk.Files{Dir: n.dirs[0], Old: filepath.Join(t.TempDir(), "old")}
			n.kill(0)
			require.NoError(t, files.Keep())
			n.start(0)
			n.up()
			n.fill(10)
			n.kill(0)
			done, err := files.Choose(disk.Raft, c.way, 1)
			require.NoError(t, err)
			n.endsNaming(0, n.start(0), filepath.Dir(done.File), "has lost what this node had acknowledged", c.says)
		})
	}
}

// Without peers, too, nothing that was acknowledged is missing in silence.
func TestDamageOfANodeAlone(t *testing.T) {
	n := newNodes(t, "bolt", t.TempDir())
	n.start(0)
	n.up()
	n.fill(60)
	n.kill(0)
	done, err := disk.Files{Dir: n.dirs[0]}.Choose(disk.Sealed, disk.Zero, 1)
	require.NoError(t, err)
	n.alone(done)
}

// A node that has no snapshot to go on from says so. The library would end the
// process in a panic.
func TestSnapshotsThatCannotBeUsed(t *testing.T) {
	for _, way := range []disk.Way{disk.Missing, disk.Flip} {
		n := newNodes(t, "bolt", t.TempDir())
		n.start(0)
		n.up()
		snapshots := filepath.Join(n.dirs[0], "kernels", "default", "raft", "snapshots")
		require.Eventually(t, func() bool {
			n.fill(20)
			entries, err := filepath.Glob(filepath.Join(snapshots, "*[0-9]", "meta.json")) // one that is being written is .tmp
			return err == nil && len(entries) > 0 && n.sent > 80
		}, 20*time.Second, time.Millisecond)
		n.kill(0)
		files, err := filepath.Glob(filepath.Join(snapshots, "*[0-9]", map[disk.Way]string{disk.Missing: "meta.json", disk.Flip: "state.bin"}[way]))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if way == disk.Missing {
				require.NoError(t, os.Remove(file))
				continue
			}
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			content[len(content)/2] ^= 1
			require.NoError(t, os.WriteFile(file, content, 0o600))
		}
		n.endsNaming(0, n.start(0), snapshots)
	}
}

// What Helix does never meets: no byte range is damaged twice, no file lost twice.
func TestHelixNeverDamagesTheSame(t *testing.T) {
	for seed := range uint64(60) {
		var dirs []string
		for range 3 {
			dir := t.TempDir()
			log := filepath.Join(dir, "kernels", "default", "log")
			require.NoError(t, os.MkdirAll(log, 0o700))
			for i := range 4 {
				for _, suffix := range []string{".seg", ".idx"} {
					content := make([]byte, 20_000)
					for j := range content {
						content[j] = byte(i + j%251 + 1)
					}
					require.NoError(t, os.WriteFile(filepath.Join(log, fmt.Sprintf("%020d%s", i, suffix)), content, 0o600))
				}
			}
			dirs = append(dirs, dir)
		}
		all, err := disk.Helix(dirs, seed)
		require.NoError(t, err)
		require.Len(t, all, 3)
		for i, a := range all {
			require.Positive(t, a.Length)
			for _, b := range all[:i] {
				apart := a.File != b.File || a.Offset+a.Length <= b.Offset || b.Offset+b.Length <= a.Offset
				require.True(t, apart, "seed %d: %v and %v", seed, a, b)
			}
		}
		again, err := disk.Files{Dir: dirs[0]}.Choose(disk.Any, disk.Flip, seed)
		require.NoError(t, err)
		require.Equal(t, int64(1), again.Length)
	}
}

// alone starts a damaged node that has no peers. It refuses, naming the file, or has
// all that was acknowledged; where a part of the log cannot be had any more, reading
// it says so by name, and the rest is right.
func (n *nodes) alone(done disk.Done) {
	n.t.Helper()
	r := n.start(0)
	require.Eventually(n.t, func() bool { return r.within(0) || n.ready(0) }, 30*time.Second, 20*time.Millisecond, "%v: neither refuses nor serves", done)
	if r.within(0) {
		require.NotContains(n.t, n.said(0), "goroutine ", "%v", done)
		require.Contains(n.t, n.lastWords(0), n.dirs[0], "%v: it must name the file", done)
		n.t.Logf("%v: refused: %s", done, n.lastWords(0))
		return
	}
	require.NoError(n.t, n.put(n.t.Context(), 20*time.Second))
	var export bytes.Buffer
	_, err := n.client.Export(n.t.Context(), 0, &export)
	if err != nil {
		// The answer tells from where on the log is here, or ends without its trailer;
		// the node's own log names the file then.
		named := strings.Contains(err.Error(), "history begins at") || strings.Contains(n.said(0), filepath.Base(done.File))
		require.True(n.t, named, "%v: %v", done, err)
		n.t.Logf("%v: %v", done, err)
		return
	}
	for _, a := range n.acked[:len(n.acked)-1] {
		require.True(n.t, bytes.Contains(export.Bytes(), []byte(a.mark)), "%v: %s at index %d is lost", done, a.mark, a.index)
	}
	n.t.Logf("%v: whole", done)
}

//go:build root && long && linux

package disk_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// archive moves what there is to the archive, so that files of every kind exist.
func (n *nodes) archive(files disk.Files) {
	n.t.Helper()
	_, err := n.client.ArchiveLog(n.t.Context(), event.ArchiveLog{})
	require.NoError(n.t, err)
	n.has(files, disk.Compacted, disk.Archived)
}

// has writes until there are files of some kinds.
func (n *nodes) has(files disk.Files, kinds ...disk.Kind) {
	n.t.Helper()
	for range 100 {
		all, err := files.List()
		require.NoError(n.t, err)
		found := make(map[disk.Kind]int)
		for _, f := range all {
			found[f.Kind]++
		}
		missing := false
		for _, kind := range kinds {
			missing = missing || found[kind] == 0
		}
		if !missing {
			return
		}
		n.fill(20)
	}
	require.Fail(n.t, "no such files", "%v", kinds)
}

// possible tells which damage there can be: what never changes has no older copy.
func possible(kind disk.Kind, way disk.Way) bool {
	return way != disk.Stale || kind == disk.Raft
}

// Every kind of file damaged in every way, on one of three nodes: nothing that was
// acknowledged is missing from any answer, and no answer is wrong.
func TestDamageOfEveryKind(t *testing.T) {
	overStores(t, func(t *testing.T, store string) {
		n, files := trio(t, store)
		n.archive(files)
		seed := uint64(0)
		for _, kind := range disk.Any.Members() {
			for _, way := range disk.Ways() {
				for range 2 {
					if seed++; !possible(kind, way) {
						continue
					}
					n.has(files, kind)
					require.NoError(t, files.Keep())
					n.fill(40)
					n.damage(files, kind, way, seed)
				}
			}
		}
		n.whole()
	})
}

// The same on a node that has no others: it is whole afterwards, or refuses.
// Sealed segments cannot be fetched: reading them names the file.
func TestDamageOfEveryKindAlone(t *testing.T) {
	overStores(t, func(t *testing.T, store string) {
		seed := uint64(100)
		for _, kind := range []disk.Kind{disk.Tail, disk.Index, disk.Sealed, disk.Raft, disk.Snapshot, disk.Node} {
			for _, way := range disk.Ways() {
				if seed++; !possible(kind, way) {
					continue
				}
				t.Run(fmt.Sprint(kind, " ", way), func(t *testing.T) {
					n := newNodes(t, store, t.TempDir())
					n.start(0)
					n.up()
					n.fill(60)
					files := disk.Files{Dir: n.dirs[0], Old: filepath.Join(t.TempDir(), "old")}
					n.has(files, disk.Snapshot, disk.Sealed, disk.Index)
					require.NoError(t, files.Keep())
					n.fill(20)
					n.kill(0)
					done, err := files.Choose(kind, way, seed)
					require.NoError(t, err)
					n.alone(done)
				})
			}
		}
	})
}

// Every node is damaged, never the same part: the cluster has it all, or refuses.
func TestHelixOfACluster(t *testing.T) {
	for _, store := range []string{"bolt", "wal"} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(store, seed), func(t *testing.T) {
				n := newNodes(t, store, t.TempDir(), t.TempDir(), t.TempDir())
				n.startAll()
				n.up()
				n.fill(250)
				n.whole() // each has all of it
				for i := range n.dirs {
					n.kill(i)
				}
				for part, dir := range n.dirs {
					did, err := disk.Files{Dir: dir}.Share("log", "any", part, len(n.dirs), seed)
					require.NoError(t, err)
					t.Log(did)
				}
				n.startAll()
				n.up()
				n.whole()
			})
		}
	}
}

// Power cuts over and over, whatever is torn.
func TestTornWritesAgainAndAgain(t *testing.T) {
	for seed := range uint64(4) {
		overStores(t, func(t *testing.T, store string) { tearing(t, store, 12, seed+10) })
	}
}

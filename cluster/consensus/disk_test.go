package consensus

import (
	"cmp"
	"os"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// memory is a store of tests: it survives the crash of a node, not the test.
const memory raftstore.Kind = "memory"

// testStore is the store under every test that does not choose one itself: what
// OMNI_TEST_STORE says (bolt, wal), or memory.
func testStore() raftstore.Kind { return cmp.Or(raftstore.Kind(os.Getenv("OMNI_TEST_STORE")), memory) }

// overStores runs a test, in virtual time, over memory and both kinds of files:
// one whose nodes come back with what they had written.
func overStores(t *testing.T, test func(t *testing.T, store raftstore.Kind)) {
	for _, store := range []raftstore.Kind{memory, raftstore.Bolt, raftstore.WAL} {
		t.Run(string(store), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, store) })
		})
	}
}

// disk is a node's log, term and vote: what survives its crash.
type disk struct {
	t      *testing.T
	kind   raftstore.Kind
	dir    string
	mem    *raft.InmemStore // of kind memory
	opened *raftstore.Store // of the other kinds, while the node is up
}

func newDisk(t *testing.T, kind raftstore.Kind, dir string) *disk {
	d := &disk{t: t, kind: kind, dir: dir}
	if kind == memory {
		d.mem = raft.NewInmemStore()
	}
	return d
}

// open gives a node that comes up its stores.
func (d *disk) open(c *Config) {
	if d.kind == memory {
		c.Log, c.Stable = d.mem, d.mem
		return
	}
	var err error
	d.opened, err = raftstore.Open(raftstore.Options{
		Kind: d.kind, Dir: d.dir, Fatal: func(err error) { d.t.Errorf("%s: %v", d.dir, err) },
	})
	require.NoError(d.t, err)
	c.Log, c.Stable, c.Growth = d.opened.Logs(), d.opened.Stable(), d.opened
}

// close lets go of the files of a node that is down. Calling it again does
// nothing.
func (d *disk) close() {
	if d.opened != nil {
		assert.NoError(d.t, d.opened.Close())
		d.opened = nil
	}
}

package cluster_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
)

// damagedNode is one of three whose files are spoilt.
const damagedNode = 2

// FT-1, FT-2: one flipped bit in each kind of file that a node has. It refuses to
// start, or stops, and names the file; or it comes up and is as the others are.
// It is never anything else. What refuses comes back with an empty directory.
func TestOneFlippedBitInEachKindOfFile(t *testing.T) {
	var mu sync.Mutex
	var fatal error // of the damaged node: it may stop
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			short(config)
			if config.NodeID == "n3" {
				config.Fatal = func(err error) {
					mu.Lock()
					defer mu.Unlock()
					fatal = err
				}
			}
		}
	})
	stopped := func() error {
		mu.Lock()
		defer mu.Unlock()
		return fatal
	}
	c.write(200)
	c.snapshot()
	c.write(20)
	c.awaitHistory()
	c.stop(damagedNode)
	sound := filepath.Join(t.TempDir(), "sound")
	require.NoError(t, os.CopyFS(sound, os.DirFS(c.dirs[damagedNode])))
	refused, came := "", 0
	for _, kind := range c.kindsOfFiles(sound) {
		parts := []int{20, 60} // percent of the file
		if kind.what == "Raft store" {
			parts = []int{1, 10, 20, 40, 60, 80, 95} // not all of it is in use
		}
		for _, part := range parts {
			name := fmt.Sprintf("%s, %d %% of %s", kind.what, part, kind.file)
			c.wipe(damagedNode)
			require.NoError(t, os.CopyFS(c.dirs[damagedNode], os.DirFS(sound)))
			flip(t, filepath.Join(c.dirs[damagedNode], kind.file), part)
			err := c.tryStart(damagedNode)
			if err == nil {
				err = c.alikeOr(damagedNode, stopped)
			}
			if err == nil {
				came++
				c.stop(damagedNode)
				continue
			}
			t.Logf("%s: %v", name, err)
			require.ErrorContains(t, err, c.dirs[damagedNode], "%s: it must name the file", name)
			refused = name
			mu.Lock()
			fatal = nil
			mu.Unlock()
		}
	}
	require.NotEmpty(t, refused, "something must be beyond mending")
	require.Positive(t, came, "something must be mended")
	c.wipe(damagedNode) // what docs/faults.md says of a node that refuses
	require.NoError(t, c.tryStart(damagedNode))
	require.NoError(t, c.alikeOr(damagedNode, stopped))
	c.awaitHistory()
	c.sameDigests()
}

// A node whose term is below what it has done in it refuses to start, and says of which
// file (FT-1); put right it starts again.
func TestATermOfThePast(t *testing.T) {
	c := newTrio(t, unhurried)
	c.write(1)
	c.sameDigests()
	c.stop(damagedNode)
	setTerm := func(term uint64) (before uint64) {
		store := c.openStore(damagedNode)
		before, err := store.Stable().GetUint64([]byte("CurrentTerm"))
		require.NoError(t, err)
		require.NoError(t, store.Stable().SetUint64([]byte("CurrentTerm"), term))
		require.NoError(t, store.Close())
		return before
	}
	sound := setTerm(0)
	err := c.tryStart(damagedNode)
	require.ErrorContains(t, err, "the term is")
	require.ErrorContains(t, err, filepath.Join(c.dirs[damagedNode], "kernels", "default", "raft"))
	setTerm(sound)
	require.NoError(t, c.tryStart(damagedNode))
	c.write(1)
	c.sameDigests()
}

// kindOfFile is one kind, and the file of it that is damaged.
type kindOfFile struct{ what, file string }

// kindsOfFiles finds one of each kind below a directory; a file of no known kind
// fails the test, so that each kind that comes to be has a place here.
func (c *trio) kindsOfFiles(dir string) (all []kindOfFile) {
	c.t.Helper()
	last := make(map[string]string)
	require.NoError(c.t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() == 0 {
			return err // a lock
		}
		file, err := filepath.Rel(dir, path)
		require.NoError(c.t, err)
		what := kindOf(file)
		require.NotEmpty(c.t, what, "what kind of file is %s?", file)
		last[what] = file
		return nil
	}))
	segments, err := filepath.Glob(filepath.Join(dir, "kernels", "default", "log", "*.seg"))
	require.NoError(c.t, err)
	require.Greater(c.t, len(segments), 2)
	sealed, err := filepath.Rel(dir, segments[0])
	require.NoError(c.t, err)
	last["sealed segment"] = sealed
	for what, file := range last {
		all = append(all, kindOfFile{what, file})
	}
	for _, what := range []string{"owner", "crash guard", "Raft store", "snapshot's state", "snapshot's metadata", "snapshot's checksum", "tail"} {
		require.Contains(c.t, last, what)
	}
	return all
}

func kindOf(file string) string {
	base := filepath.Base(file)
	switch {
	case base == "node.json":
		return "owner"
	case base == "members.json":
		return "members"
	case base == "applying.bin":
		return "crash guard"
	case base == "state.bin":
		return "snapshot's state"
	case base == "meta.json":
		return "snapshot's metadata"
	case base == "meta.sum":
		return "snapshot's checksum"
	case strings.HasSuffix(base, ".seg"):
		return "tail" // the last of them
	case strings.HasSuffix(base, ".idx"):
		return "sidecar"
	case base == "raft.db", strings.HasSuffix(base, ".wal"):
		return "Raft store"
	case strings.HasPrefix(base, "wal-meta"):
		return "Raft store's metadata"
	case strings.HasPrefix(base, "node-journal"), base == "node-state.json":
		return "journal"
	}
	return ""
}

func flip(t *testing.T, path string, part int) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	used := len(bytes.TrimRight(content, "\x00")) // some files grow before they are filled
	content[used*part/100] ^= 1 << (part % 7)
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

// tryStart starts a node that may refuse.
func (c *trio) tryStart(i int) error {
	c.t.Helper()
	config, streams := c.config(i)
	node, err := cluster.Open(config)
	if err != nil {
		require.NoError(c.t, c.endpoints[i].Close())
		return err
	}
	streams.Peers().Handle(node.HandlePeer)
	streams.History().Answer(node.HandleHistory)
	c.nodes[i] = node
	return nil
}

// alikeOr waits until a node has applied what is committed now, and its digest is
// that of the others; or until it has stopped, which it gives.
func (c *trio) alikeOr(i int, stopped func() error) error {
	c.t.Helper()
	c.write(1)
	var why error
	require.Eventually(c.t, func() bool {
		if why = stopped(); why != nil {
			return true
		}
		others, own := c.nodes[0].Status(c.t.Context(), true).Nodes[0], c.nodes[i].Status(c.t.Context(), true).Nodes[0]
		return own.AppliedIndex == others.AppliedIndex && own.Digest == others.Digest && own.HistoryFrom == 1 && own.Backfill == nil
	}, time.Minute, 10*time.Millisecond, "it neither stopped nor is it as the others are")
	if why != nil {
		c.abandon(i)
	}
	return why
}

// abandon ends a node that has stopped by itself.
func (c *trio) abandon(i int) {
	c.t.Helper()
	_ = c.nodes[i].Stop(c.t.Context()) // it says again why it stopped
	require.NoError(c.t, c.endpoints[i].Close())
	c.nodes[i] = nil
}

//go:build root

package lab_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab"
	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/client"
)

// omni is the program under test, built once.
var omni string

func TestMain(m *testing.M) {
	if os.Getenv(orphanDir) != "" {
		beOrphaned()
	}
	os.Exit(func() int {
		if err := netns.Usable(); err != nil {
			fmt.Fprintf(os.Stderr, "the tests of jepsen/lab run real nodes in network namespaces: %v\n", err)
			return 1
		}
		dir, err := os.MkdirTemp("", "lab")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		omni = filepath.Join(dir, "omni")
		if out, err := exec.Command("go", "build", "-o", omni, "../../cmd/omni").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build omni: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// lives is what was told of processes.
type lives struct {
	mu  sync.Mutex // guards all
	all []history.Life
}

func (l *lives) add(life history.Life) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, life)
}

func (l *lives) of(node string) (words []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, life := range l.all {
		if life.Node == node {
			words = append(words, life.What)
		}
	}
	return words
}

// cluster is three nodes that serve.
type cluster struct {
	*lab.Lab
	t      *testing.T
	client *client.Client
	lives  *lives
}

func newCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, lives: new(lives)}
	var err error
	c.Lab, err = lab.Open(t.Context(), lab.Plan{
		Dir: t.TempDir(), Omni: omni, Nodes: 3, Flags: flags, Seed: 1, Life: c.lives.add, Store: os.Getenv("OMNI_TEST_STORE"),
	})
	require.NoError(t, err)
	c.client, err = c.Client(client.Options{Timeout: 20 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() {
		c.client.Close()
		if t.Failed() {
			c.show()
		}
		assert.NoError(t, c.Close())
	})
	require.NoError(t, c.Start(t.Context()))
	return c
}

// show logs the last words of all nodes.
func (c *cluster) show() {
	for _, n := range c.Nodes() {
		text, _ := os.ReadFile(n.Log())
		c.t.Logf("%s:\n%s", n.ID(), text[max(0, len(text)-4000):])
	}
}

// commit commits a command.
func (c *cluster) commit() {
	c.t.Helper()
	_, err := c.client.Define(c.t.Context(), event.Define{})
	require.NoError(c.t, err)
}

// leader is who leads, as the others of some nodes say.
func (c *cluster) leader(asked ...*lab.Node) *lab.Node {
	c.t.Helper()
	if len(asked) == 0 {
		asked = c.Nodes()
	}
	var found *lab.Node
	c.eventually("a leader", func() bool {
		for _, n := range asked {
			status, err := c.client.Status(c.t.Context(), client.Node(n.API()), client.Timeout(3*time.Second)) // it asks the others, for a second
			if err == nil && status.Leader != "" {
				found = c.Node(status.Leader)
				return found != nil
			}
		}
		return false
	})
	return found
}

// others than a node.
func (c *cluster) others(than *lab.Node) (others []*lab.Node) {
	for _, n := range c.Nodes() {
		if n != than {
			others = append(others, n)
		}
	}
	return others
}

func (c *cluster) eventually(what string, is func() bool) {
	c.t.Helper()
	require.Eventually(c.t, is, 20*time.Second, 10*time.Millisecond, what)
}

// log is all that a node wrote.
func (c *cluster) log(n *lab.Node) string {
	c.t.Helper()
	text, err := os.ReadFile(n.Log())
	require.NoError(c.t, err)
	return string(text)
}

// leftovers are what is on the machine of labs of a process.
func leftovers(t *testing.T, pid int, dir string) (left []string) {
	t.Helper()
	mark := fmt.Sprintf("omj-%d-", pid)
	names, err := netns.List()
	require.NoError(t, err)
	links, err := os.ReadDir("/sys/class/net")
	require.NoError(t, err)
	for _, l := range links {
		names = append(names, l.Name())
	}
	claims, err := os.ReadDir("/run/omj")
	require.NoError(t, err)
	for _, c := range claims {
		names = append(names, c.Name())
	}
	for _, name := range names {
		if strings.HasPrefix(name, mark) {
			left = append(left, name)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	if strings.Contains(string(mounts), dir) {
		left = append(left, "a mount below "+dir)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, c := range commands {
		if text, err := os.ReadFile(c); err == nil && strings.Contains(string(text), "server") && strings.Contains(string(text), dir) {
			left = append(left, "process "+c)
		}
	}
	backing, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(t, err)
	for _, b := range backing {
		if text, err := os.ReadFile(b); err == nil && strings.HasPrefix(string(text), dir) {
			left = append(left, "loop device "+b)
		}
	}
	return left
}

// within is a context that ends in time.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

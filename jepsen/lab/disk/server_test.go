//go:build root && linux

package disk_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/client"
)

// built is the omni that the nodes are, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	omni := filepath.Join(builtDir, "omni")
	output, err := exec.Command("go", "build", "-o", omni, "github.com/omnikernel/omnikernel/cmd/omni").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build omni: %w: %s", err, output)
	}
	return omni, nil
})

// builtDir is made and removed by TestMain.
var builtDir string

// nodes are processes of one cluster, each with a data directory.
type nodes struct {
	t       *testing.T
	omni    string
	flags   []string
	dirs    []string
	output  string
	api     []string
	raft    []string
	running []*running // nil while a node is down
	client  *client.Client

	acked []acked
	sent  int
}

// acked is a command that was said to have taken effect at an index.
type acked struct {
	index uint64
	mark  string
}

// running is a process.
type running struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
}

// newNodes plans a cluster. Segments and snapshots are small, so that there are
// many.
func newNodes(t *testing.T, store string, dirs ...string) *nodes {
	t.Helper()
	omni, err := built()
	require.NoError(t, err)
	n := &nodes{t: t, omni: omni, dirs: dirs, output: t.TempDir(), running: make([]*running, len(dirs))}
	n.flags = []string{"--store", store, "--segment-bytes", "65536", "--snapshot-bytes", "65536", "--trailing-logs", "64"}
	var listeners []net.Listener
	for range 2 * len(dirs) { // all at once, so that they differ
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners = append(listeners, l)
	}
	var urls []string
	for i := range dirs {
		n.api, n.raft = append(n.api, listeners[2*i].Addr().String()), append(n.raft, listeners[2*i+1].Addr().String())
		urls = append(urls, n.url(i))
	}
	for _, l := range listeners {
		l.Close()
	}
	n.client, err = client.New(urls, client.Options{Timeout: 20 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() {
		n.client.Close()
		for i := range dirs {
			n.kill(i)
		}
		if t.Failed() {
			for i := range dirs {
				said := n.said(i)
				t.Logf("n%d said last:\n%s", i+1, said[max(0, len(said)-6000):])
			}
		}
	})
	return n
}

func (n *nodes) url(i int) string { return "http://" + n.api[i] }

func (n *nodes) start(i int) *running {
	n.t.Helper()
	args := []string{"server", "--node", fmt.Sprintf("n%d", i+1), "--data-dir", n.dirs[i], "--api-addr", n.api[i], "--raft-addr", n.raft[i]}
	for peer := range n.dirs {
		args = append(args, "--peer", fmt.Sprintf("n%d=%s=%s", peer+1, n.raft[peer], n.url(peer)))
	}
	output, err := os.OpenFile(n.outputOf(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(n.t, err)
	defer output.Close()
	cmd := exec.Command(n.omni, append(args, n.flags...)...)
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(n.t, cmd.Start())
	r := &running{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		_ = cmd.Wait() // how it ended is in ProcessState
	}()
	n.running[i] = r
	return r
}

func (n *nodes) startAll() {
	n.t.Helper()
	for i := range n.dirs {
		if n.running[i] == nil {
			n.start(i)
		}
	}
}

func (n *nodes) kill(i int) {
	if r := n.running[i]; r != nil {
		_ = r.cmd.Process.Kill() // it may have ended
		<-r.ended
		n.running[i] = nil
	}
}

// within tells whether the process ends in time.
func (r *running) within(limit time.Duration) bool {
	select {
	case <-r.ended:
		return true
	default:
	}
	select {
	case <-r.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

func (n *nodes) outputOf(i int) string { return filepath.Join(n.output, fmt.Sprintf("n%d.log", i+1)) }

func (n *nodes) said(i int) string {
	content, _ := os.ReadFile(n.outputOf(i)) // it may never have run
	return string(content)
}

// lastWords is the last line that a node said.
func (n *nodes) lastWords(i int) string {
	lines := strings.Split(strings.TrimSpace(n.said(i)), "\n")
	return lines[len(lines)-1]
}

// up waits until every node answers.
func (n *nodes) up() {
	n.t.Helper()
	for i := range n.dirs {
		require.Eventually(n.t, func() bool { return n.ready(i) }, 20*time.Second, 10*time.Millisecond, "n%d does not come up", i+1)
	}
}

func (n *nodes) ready(i int) bool {
	response, err := http.Get(n.url(i) + "/readyz")
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// put writes one value, with a mark that no other has.
func (n *nodes) put(ctx context.Context, limit time.Duration) error {
	n.sent++
	mark := fmt.Sprintf("mark-%d.", n.sent)
	done, err := n.client.PutShared(ctx, event.PutShared{
		Namespace: "disk", Key: fmt.Sprint(n.sent % 10), Value: value.Raw(value.AppendString(nil, mark+strings.Repeat("v", 2000))),
	}, client.Timeout(limit))
	if err == nil {
		n.acked = append(n.acked, acked{done.Index, mark})
	}
	return err
}

func (n *nodes) fill(count int) {
	n.t.Helper()
	for range count {
		require.NoError(n.t, n.put(n.t.Context(), 20*time.Second))
	}
}

// fillUntil writes until a write fails, and gives the error.
func (n *nodes) fillUntil(limit time.Duration) error {
	n.t.Helper()
	for range 10_000 {
		if err := n.put(n.t.Context(), limit); err != nil {
			return err
		}
	}
	require.Fail(n.t, "no write fails")
	return nil
}

// whole waits until each node has all history, reads it, and finds each command
// that was acknowledged at its index.
func (n *nodes) whole() {
	n.t.Helper()
	for i := range n.dirs {
		require.NoError(n.t, n.wholeOf(i), "n%d", i+1)
	}
}

func (n *nodes) wholeOf(i int) error {
	var export bytes.Buffer
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		export.Reset()
		if err = n.put(n.t.Context(), 20*time.Second); err != nil {
			return err
		}
		_, err = n.client.Export(n.t.Context(), 0, &export, client.Node(n.url(i)), client.MinIndex(n.client.LastIndex()))
		if err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("read the whole log: %w", err)
	}
	for _, a := range n.acked[:len(n.acked)-1] {
		if !bytes.Contains(export.Bytes(), []byte(a.mark)) {
			return fmt.Errorf("the log of %d bytes lacks %s at index %d, which was acknowledged", export.Len(), a.mark, a.index)
		}
	}
	return nil
}

// faulty are disks for a cluster, and their data directories.
func faulty(t *testing.T, count int) (disks []*disk.Faulty, dirs []string) {
	t.Helper()
	for range count {
		d := newFaulty(t)
		disks, dirs = append(disks, d), append(dirs, filepath.Join(d.Dir(), "data"))
	}
	return disks, dirs
}

package dev

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// talk collects what a cluster says.
type talk struct {
	mu    sync.Mutex
	lines []string
}

func (k *talk) say(line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines = append(k.lines, line)
}

func (k *talk) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.lines, "\n")
}

func start(t *testing.T, options Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Stop()) })
	return c
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 10*time.Second, 5*time.Millisecond, what)
}

func TestStartsNodesAndWritesThemDown(t *testing.T) {
	c := start(t, Options{DataDir: t.TempDir(), ServerFlags: []string{"--extra", "x"}})
	f, err := ReadFile(c.Dir())
	require.NoError(t, err)
	assert.Equal(t, c.File(), f)
	assert.Equal(t, "default", f.KernelID)
	assert.NotEmpty(t, f.ClusterID)
	require.Len(t, f.Nodes, 3)
	for i, node := range f.Nodes {
		assert.Equal(t, "n"+strconv.Itoa(i+1), node.ID)
		assert.True(t, alive(node.PID), node.ID)
		said, err := os.ReadFile(c.LogPath(node.ID))
		require.NoError(t, err)
		assert.Contains(t, string(said), "server --node "+node.ID+" --cluster "+f.ClusterID+" --kernel default --data-dir "+
			filepath.Join(c.Dir(), node.ID)+" --api-addr "+strings.TrimPrefix(node.API, "http://")+" --raft-addr "+node.Raft+" --peer n1=")
		assert.Contains(t, string(said), "--peer n3="+f.Nodes[2].Raft+"="+f.Nodes[2].API+" --extra x")
	}
}

func TestPortsAreConsecutive(t *testing.T) {
	port := freeRun(t, 3)
	c := start(t, Options{DataDir: t.TempDir(), APIPort: port})
	for i, node := range c.File().Nodes {
		assert.Equal(t, "http://127.0.0.1:"+strconv.Itoa(port+i), node.API)
	}
}

// freeRun finds the first of n free consecutive ports.
func freeRun(t *testing.T, n int) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		free := port+n <= maxPort
		for i := 1; free && i < n; i++ {
			next, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+i))
			if free = err == nil; free {
				require.NoError(t, next.Close())
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("no free ports")
	return 0
}

func TestStartsAgainWhatDied(t *testing.T) {
	var said talk
	c := start(t, Options{DataDir: t.TempDir(), RestartDelay: 50 * time.Millisecond, Talk: said.say})
	before := c.File()
	require.NoError(t, c.Signal("n2", syscall.SIGKILL))
	eventually(t, "n2 runs again", func() bool {
		node, _ := fileNode(c, "n2")
		return node.PID != 0 && node.PID != before.Nodes[1].PID
	})
	after := c.File()
	assert.Equal(t, before.Nodes[0], after.Nodes[0])
	assert.Equal(t, before.Nodes[2], after.Nodes[2])
	assert.Equal(t, before.Nodes[1].API, after.Nodes[1].API)
	eventually(t, "both sentences", func() bool { return strings.Contains(said.String(), "n2 runs again as process") })
	assert.Contains(t, said.String(), "n2 ended: signal: killed; starting it again in 50ms")
}

// fileNode reads a node from the file, as another command does.
func fileNode(c *Cluster, id string) (Node, bool) {
	f, err := ReadFile(c.Dir())
	if err != nil {
		return Node{}, false
	}
	return f.Find(id)
}

// dev.json is 0 while a node is down: whoever signals processes must not hit
// a stranger that got the number.
func TestADeadNodeHasNoPID(t *testing.T) {
	c := start(t, Options{DataDir: t.TempDir(), RestartDelay: time.Hour})
	require.NoError(t, c.Signal("n1", syscall.SIGKILL))
	eventually(t, "n1 is down", func() bool { node, _ := fileNode(c, "n1"); return node.PID == 0 })
	assert.ErrorContains(t, c.Signal("n1", syscall.SIGKILL), "n1 does not run")
	assert.ErrorContains(t, c.Signal("n9", syscall.SIGKILL), "there is no node n9")
}

func TestStopEndsEverything(t *testing.T) {
	var said talk
	c, err := Start(t.Context(), Options{Talk: said.say})
	require.NoError(t, err)
	require.NoError(t, c.Signal("n3", syscall.SIGSTOP), "a paused node must stop as well")
	nodes := c.File().Nodes
	require.NoError(t, c.Stop())
	assert.Empty(t, said.String(), "nobody had to be killed")
	require.NoError(t, c.Stop(), "again")
	for _, node := range nodes {
		assert.False(t, alive(node.PID), node.ID)
	}
	assert.NoDirExists(t, c.Dir(), "it was temporary")
}

func TestStopKillsWhatDoesNotStop(t *testing.T) {
	t.Setenv(behaviour, "stubborn")
	var said talk
	c := start(t, Options{Nodes: 1, DataDir: t.TempDir(), StopTimeout: 50 * time.Millisecond, Talk: said.say})
	pid := c.File().Nodes[0].PID
	require.NoError(t, c.Stop())
	assert.False(t, alive(pid))
	assert.Contains(t, said.String(), "n1 did not stop in time and was killed")
}

// The same directory gives the same cluster: who it is, how many, and the Raft
// addresses by which the nodes know each other.
func TestADirectoryKeepsItsCluster(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "deep")
	c := start(t, Options{Nodes: 2, DataDir: dir})
	first := c.File()
	require.NoError(t, c.Stop())
	f, err := ReadFile(dir)
	require.NoError(t, err)
	assert.Zero(t, f.Nodes[0].PID)

	again := start(t, Options{DataDir: dir}).File()
	assert.Equal(t, first.ClusterID, again.ClusterID)
	require.Len(t, again.Nodes, 2)
	for i := range first.Nodes {
		assert.Equal(t, first.Nodes[i].Raft, again.Nodes[i].Raft)
	}
}

func TestASecondClusterInTheDirectoryIsRefused(t *testing.T) {
	c := start(t, Options{Nodes: 1, DataDir: t.TempDir()})
	_, err := Start(t.Context(), Options{DataDir: c.Dir()})
	assert.EqualError(t, err, "another omni dev (process "+strconv.Itoa(os.Getpid())+") runs a cluster in "+c.Dir())
	assert.True(t, alive(c.File().Nodes[0].PID), "the first one is not harmed")
}

// What bad input gets.
func TestRefusals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	foreign := filepath.Dir(file)
	damaged := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(damaged, FileName), []byte(`{"nodes":`), 0o600))
	three := t.TempDir()
	require.NoError(t, (&File{ClusterID: "c", KernelID: "default", Nodes: make([]Node, 3)}).write(three))
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"path through a file": {Options{DataDir: filepath.Join(file, "d")}, file + "/d cannot be made: not a directory"},
		"path is a file":      {Options{DataDir: file}, file + " cannot be made: not a directory"},
		"foreign directory":   {Options{DataDir: foreign}, foreign + " is not empty and holds no dev cluster"},
		"damaged file":        {Options{DataDir: damaged}, damaged + "/dev.json is damaged: it does not list the nodes of a cluster"},
		"other size":          {Options{DataDir: three, Nodes: 5}, three + " holds a cluster of 3 nodes, not 5"},
		"other kernel":        {Options{DataDir: three, KernelID: "other"}, three + ` holds kernel "default", not "other"`},
		"too many nodes":      {Options{Nodes: 10}, "nodes is 10, must be 1 to 9"},
		"negative nodes":      {Options{Nodes: -1}, "nodes is -1, must be 1 to 9"},
		"no such port":        {Options{APIPort: 65535, Nodes: 3}, "api port is 65535, must be 0 to 65535 and leave room for every node"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), c.options)
			var problem *Problem
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, c.want, problem.Rule)
		})
	}
}

func TestABusyPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	_, err = Start(t.Context(), Options{Nodes: 1, DataDir: dir, APIPort: port})
	assert.EqualError(t, err, "API port "+strconv.Itoa(port)+" is busy")
	start(t, Options{Nodes: 1, DataDir: dir}) // the refused attempt held nothing
}

// A node that ends before it is ready ends the attempt, with its last words;
// nothing is left running.
func TestANodeThatFailsIsQuoted(t *testing.T) {
	t.Setenv(behaviour, "fail")
	dir := t.TempDir()
	_, err := Start(t.Context(), Options{DataDir: dir})
	var problem *Problem
	require.ErrorAs(t, err, &problem)
	assert.Regexp(t, `^n[123] did not start: exit status 1\n`, problem.Rule)
	assert.Regexp(t, `cannot go on: n[123] has no 3 friends$`, problem.Rule)
	assert.Contains(t, problem.Hint, "its whole output is in "+dir)
	f, err := ReadFile(dir)
	require.NoError(t, err)
	assert.True(t, slices.IndexFunc(f.Nodes, func(n Node) bool { return n.PID != 0 }) < 0)
}

func TestANodeThatIsNeverReadyIsNamed(t *testing.T) {
	t.Setenv("OMNI_DEV_UNREADY", "n1")
	_, err := Start(t.Context(), Options{Nodes: 1, StartTimeout: 300 * time.Millisecond})
	assert.ErrorContains(t, err, "n1 is not ready in time: ")
}

// A node in safe mode is up, and told of; the others are waited for while they
// can be ready without it.
func TestNodesInSafeModeAreNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct{ held, unready, want string }{
		"one of three":            {held: "n2"},
		"two of three":            {held: "n2 n3", unready: "n1"},
		"one, and another is not": {held: "n2", unready: "n3", want: "n3 is not ready in time: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OMNI_DEV_HELD", c.held)
			t.Setenv("OMNI_DEV_UNREADY", c.unready)
			said := &talk{}
			cluster, err := Start(t.Context(), Options{StartTimeout: time.Second, Talk: said.say})
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.NoError(t, cluster.Stop())
			for node := range strings.FieldsSeq(c.held) {
				assert.Contains(t, said.String(), node+" is in safe mode: SAFE_MODE: it crashed: do this")
			}
		})
	}
}

// Whoever kills omni dev itself leaves no nodes behind.
func TestNodesDoNotOutliveTheirOwner(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	owner := exec.Command(self)
	owner.Env = append(os.Environ(), "OMNI_DEV_HOLD="+t.TempDir())
	stdout, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	f, err := ReadFile(lines.Text())
	require.NoError(t, err, lines.Text())
	require.NoError(t, owner.Process.Kill())
	_ = owner.Wait() // killed: that is the point
	for _, node := range f.Nodes {
		eventually(t, node.ID+" ends", func() bool { return gone(node.PID) })
	}
}

// gone also counts a process that nobody has waited for yet.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestOutputMovesAwayWhenItIsLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n1.log")
	require.NoError(t, os.WriteFile(path, make([]byte, maxLogBytes+1), 0o600))
	f, err := openLog(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	assert.Zero(t, info.Size())
	assert.FileExists(t, path+".1")
}

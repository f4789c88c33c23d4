//go:build root

package lab_test

import (
	"bytes"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab"
	"github.com/omnikernel/omnikernel/transport/client"
)

// A node is killed, started, stopped, paused, resumed; each is told and written
// down, and the cluster goes on.
func TestProcess(t *testing.T) {
	c := newCluster(t)
	c.commit()
	n := c.leader()
	require.Equal(t, lab.Up, n.State())
	require.ErrorIs(t, n.Start(), lab.ErrUp)

	require.NoError(t, n.Kill())
	require.Equal(t, lab.Down, n.State())
	require.Zero(t, n.PID())
	require.ErrorIs(t, n.Kill(), lab.ErrDown)
	require.ErrorIs(t, n.Pause(), lab.ErrDown)
	end, ended := n.End()
	require.True(t, ended)
	require.Equal(t, syscall.SIGKILL, end.Signal)
	require.True(t, end.Wanted)
	c.commit()

	require.NoError(t, n.Start())
	require.NoError(t, n.Ready(t.Context()))
	require.NoError(t, n.Pause())
	require.Equal(t, lab.Paused, n.State())
	_, err := c.client.Health(t.Context(), client.Node(n.API()), client.Timeout(300*time.Millisecond))
	require.Error(t, err, "it stands still")
	require.NoError(t, n.Resume())
	require.NoError(t, n.Ready(t.Context()))
	require.NoError(t, n.Pause())
	require.NoError(t, n.Stop(within(t, 20*time.Second)), "a paused one goes on to stop")
	end, ended = n.End()
	require.True(t, ended)
	require.Zero(t, end.Code)
	require.True(t, end.Wanted)
	c.commit()

	require.Equal(t, []string{
		"started", "ready", "killed", "started", "ready", "paused", "resumed", "ready", "paused", "resumed", "stopped",
	}, c.lives.of(n.ID()))
	text := c.log(n)
	require.Contains(t, text, "start 1 was ended by signal 9 (killed)")
	require.Contains(t, text, "start 2 ended with code 0")
}

// A node that ends by itself is noticed, with its last words.
func TestEndedByItself(t *testing.T) {
	c := newCluster(t)
	n := c.Nodes()[2]
	process, err := os.FindProcess(n.PID())
	require.NoError(t, err)
	require.NoError(t, process.Signal(syscall.SIGQUIT)) // Go says where everybody is, and ends
	c.eventually("told", func() bool { return len(c.lives.of("n3")) == 3 })
	end, ended := n.End()
	require.True(t, ended)
	require.False(t, end.Wanted)
	require.Equal(t, 2, end.Code)
	require.NotEmpty(t, end.Last)
	c.lives.mu.Lock()
	last := c.lives.all[len(c.lives.all)-1]
	c.lives.mu.Unlock()
	require.Equal(t, history.Life{Node: "n3", What: "ended", Detail: "ended with code 2; its last words:\n" + strings.Join(end.Last, "\n")}, last)

	require.NoError(t, n.Start("--no-such-flag"))
	err = n.Ready(t.Context())
	require.ErrorContains(t, err, "n3 ended with code 2 before it was ready")
	require.ErrorContains(t, err, "no-such-flag")
}

// While nobody reads a node's stderr, what it writes waits; afterwards it is all
// there. So it is for a process that is started meanwhile.
func TestBlockedStderr(t *testing.T) {
	c := newCluster(t, "--log-level", "debug")
	n := c.others(c.leader())[0]
	talk := func() { // it answers who speaks no Raft that it refuses, and then says so
		conn, err := net.Dial("tcp", n.Raft())
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = conn.Write(bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 100))
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 1))
		require.NoError(t, err)
	}
	talk()
	c.eventually("it complains", func() bool { return strings.Contains(c.log(n), "refused a stream") })
	require.NoError(t, n.BlockStderr())
	require.NoError(t, n.BlockStderr())
	before := c.log(n)
	waits, err := n.StderrWaits()
	require.NoError(t, err)
	require.False(t, waits, "it has nothing to say")
	talk()
	c.eventually("it waits, with the first line", func() bool {
		waits, err := n.StderrWaits()
		require.NoError(t, err)
		return waits
	})
	c.commit() // the other two go on, if need be
	require.Equal(t, before, c.log(n), "nothing was read")
	require.NoError(t, n.UnblockStderr())
	require.NoError(t, n.UnblockStderr())
	c.eventually("what waited is read", func() bool { return len(c.log(n)) > len(before) })
	require.NotContains(t, c.log(n), "\x00")

	require.NoError(t, n.BlockStderr())
	require.NoError(t, n.Kill())
	_, err = n.StderrWaits()
	require.ErrorIs(t, err, lab.ErrDown)
	before = c.log(n)
	require.NoError(t, n.Start())
	require.NoError(t, n.Ready(t.Context()), "it has the room of a pipe")
	require.NotContains(t, c.log(n)[len(before):], "serving")
	require.NoError(t, n.Kill())
	require.Contains(t, c.log(n)[len(before):], "serving", "what a process has left is read")
}

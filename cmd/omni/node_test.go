package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// node waits until a node says of itself what it should.
func (p *processes) node(i int, is func(api.NodeState) bool) (state api.NodeState) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		ctx, cancel := context.WithTimeout(p.t.Context(), time.Second)
		defer cancel()
		var err error
		state, err = p.client.NodeState(ctx, client.Node(p.url(i)))
		return err == nil && is(state)
	}, time.Minute, 20*time.Millisecond, "%+v", &state)
	return state
}

func inState(name string) func(api.NodeState) bool {
	return func(s api.NodeState) bool { return s.State == name }
}

func (p *processes) order(i int, order string) api.NodeOrdered {
	p.t.Helper()
	done, err := p.client.OrderNode(p.t.Context(), order, api.NodeOrder{Reason: "test"}, client.Node(p.url(i)))
	require.NoError(p.t, err)
	return done
}

// Real processes: what is suspended comes back suspended after kill -9 and after a
// stop in order, and each start tells the two apart; a restart keeps the process;
// the cluster takes commands all the while (NO-1, NO-2, NO-3).
func TestNodesLifecycle(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, "--timing", "2")
	p.startAll()
	define := func() {
		t.Helper()
		_, err := p.client.Define(t.Context(), event.Define{})
		require.NoError(t, err)
	}
	define()
	status := p.alike()
	leader := int(status.Leader[1] - '1')
	first := p.node(leader, inState("Running"))
	require.Nil(t, first.Before)
	require.Equal(t, "open", first.Intake)
	components := make(map[string]string)
	for _, c := range first.Components {
		components[c.Name] = c.Status
	}
	for _, name := range []string{"api", "raft", "freshness", "history", "review", "snapshots", "pulse", "checkpoints", "versions", "tools"} {
		require.Equal(t, "ok", components[name], name)
	}

	require.Equal(t, "Suspended", p.order(leader, client.Pause).State)
	define()
	p.kill(leader)
	define()
	p.start(leader)
	state := p.node(leader, inState("Suspended"))
	require.Equal(t, []any{"closed", "test", uint64(2), "Suspended", false},
		[]any{state.Intake, state.Suspension.Reason, state.Boot, state.Before.State, state.Before.Clean})
	p.stop(leader)
	p.start(leader)
	state = p.node(leader, inState("Suspended"))
	require.Equal(t, []any{"Terminated", true, "signal"}, []any{state.Before.State, state.Before.Clean, state.Before.By})

	process := p.nodes[leader].Process.Pid
	p.order(leader, client.Restart)
	state = p.node(leader, func(s api.NodeState) bool { return s.Boot == 4 && s.State == "Suspended" })
	require.Equal(t, []any{true, "operator"}, []any{state.Before.Clean, state.Before.By})
	require.Equal(t, process, p.nodes[leader].Process.Pid)
	p.order(leader, client.Resume)
	p.node(leader, inState("Running"))
	define()
	p.stopAll()
	for i, dir := range p.dirs {
		states := course(t, dir)
		require.Equal(t, nodestate.Terminated, states[len(states)-1], "%s", p.id(i))
	}
}

// Integration of a start: a port that is taken is waited for, within limits.
func TestStartsWaitForAPort(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir()}, "--start-backoff", "50ms")
	taken, err := net.Listen("tcp", p.api[0])
	require.NoError(t, err)
	p.start(0)
	require.Eventually(t, func() bool { return p.said(0, "the start failed") > 0 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, taken.Close())
	state := p.node(0, inState("Running"))
	require.Zero(t, state.Attempt)
	p.stop(0)
	require.Equal(t, []nodestate.State{"Created", "Starting", "Backoff", "Starting"}, course(t, p.dirs[0])[:4])

	taken, err = net.Listen("tcp", p.api[0])
	require.NoError(t, err)
	defer taken.Close()
	p.start(0, "--start-attempts", "3")
	require.Error(t, p.nodes[0].Wait())
	p.nodes[0] = nil
	found, err := nodejournal.Read(p.dirs[0])
	require.NoError(t, err)
	last := found.Entries[len(found.Entries)-1]
	require.Equal(t, []any{nodestate.Exhausted, nodestate.Crashed, 3}, []any{last.Trigger, last.To, last.Attempt})
	require.True(t, strings.Contains(last.Cause, "address already in use"), last.Cause)
}

// NO-3: what cannot be kept stops no node, and health and status tell of it. Where the
// snapshot cannot be written, the journal tells what it would have.
func TestSnapshotThatCannotBeWritten(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir()})
	p.unaudited = true // it ends suspended
	p.start(0)
	require.Empty(t, p.node(0, func(s api.NodeState) bool { return s.State == "Running" && s.Healthy }).JournalError)
	blocked := filepath.Join(p.dirs[0], "node-state.json.tmp") // where the next one is written
	require.NoError(t, os.Mkdir(blocked, 0o700))
	_, err := p.client.OrderNode(t.Context(), client.Pause, api.NodeOrder{}, client.Node(p.url(0)))
	var said *api.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, []any{"NO_QUORUM", true}, []any{said.Code, said.Definite}, "there is nobody else to lead")
	p.order(0, client.Estop)
	unkept := func(s api.NodeState) bool {
		return s.State == "Suspended" && strings.Contains(s.JournalError, "node-state.json.tmp: is a directory")
	}
	state := p.node(0, unkept)
	require.True(t, state.Healthy, state.Reason)
	health, err := p.client.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, []any{"ok", "Suspended", "test", state.JournalError}, []any{health.Status, health.State, health.Cause, health.JournalError})

	p.kill(0)
	p.start(0)
	require.Equal(t, "test", p.node(0, unkept).Suspension.Reason)
	require.NoError(t, os.Remove(blocked))
	p.node(0, func(s api.NodeState) bool { return s.JournalError == "" })
}

// A pause that cannot be is said at once, and not tried for as long as a command is.
func TestPauseThatCannotBe(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir()})
	p.start(0)
	p.node(0, func(s api.NodeState) bool { return s.State == "Running" && s.Healthy })
	stdout, stderr, exit := omni(t, "node", "pause", "n1", "--server", p.url(0), "--timeout", "5m")
	require.Equal(t, []any{"", api.ExitRefused}, []any{stdout, exit})
	require.Contains(t, stderr, "NO_QUORUM: leadership was not handed over, and the node goes on")
	require.Contains(t, stderr, "omni node estop n1 waits for nobody")
}

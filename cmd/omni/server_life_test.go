package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func lifeConfig(dir string) cluster.Config {
	return cluster.Config{
		NodeID: "n1", ClusterID: "c", KernelID: "default", DataDir: dir, Peers: []cluster.Peer{{ID: "n1"}},
		Fatal: func(error) {}, Logger: hclog.NewNullLogger(), Version: "test",
	}
}

func shortPolicy() nodestate.Policy {
	p := nodestate.DefaultPolicy
	p.StartAttempts, p.StartBackoff, p.MaxBackoff = 3, time.Millisecond, 2*time.Millisecond
	return p
}

// untold says nothing while a start is waited for.
func untold() (stop func()) { return func() {} }

// While a start is waited for, the API tells where the node stands, and refuses
// everything else.
func TestWaitingNodesTell(t *testing.T) {
	dir := t.TempDir()
	config := lifeConfig(dir)
	f := serverFlags{apiAddr: freeAddresses(t, 1)[0], evaluators: registry.Lookup}
	config.Peers[0].API = "http://" + f.apiAddr
	policy := shortPolicy()
	policy.StartBackoff, policy.MaxBackoff = time.Hour, time.Hour
	l, err := beginLife(&config, policy, nil)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- l.start(ctx, func() error { return syscall.ENOSPC }, func() func() { return f.tell(config, nil) })
	}()
	c, err := client.New([]string{"http://" + f.apiAddr}, client.Options{Timeout: time.Second})
	require.NoError(t, err)
	defer c.Close()
	var state api.NodeState
	require.Eventually(t, func() bool {
		state, err = c.NodeState(t.Context())
		return err == nil
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, []any{"Backoff", 1, false}, []any{state.State, state.Attempt, state.Healthy})
	require.Greater(t, state.RetryInMillis, time.Minute.Milliseconds())
	require.Contains(t, state.Cause, "no space left")
	status, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, "unreachable", status.Nodes[0].Role)
	health, err := c.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, "not_ready", health.Status)
	for _, ask := range []func() error{
		func() error { _, err := c.Define(t.Context(), event.Define{}); return err },
		func() error { _, err := c.Agents(t.Context(), api.AgentQuery{}); return err },
		func() error {
			_, err := c.OrderNode(t.Context(), client.Pause, api.NodeOrder{}, client.Node("n1"))
			return err
		},
	} {
		var said *api.Error
		require.ErrorAs(t, ask(), &said)
		require.True(t, said.Definite)
	}
	journal, err := c.NodeJournal(t.Context(), 0, 10)
	require.NoError(t, err)
	require.NotEmpty(t, journal.Entries)
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, l.end(nil))
}

// course is the states that a node has gone through, as its journal has them.
func course(t *testing.T, dir string) (states []nodestate.State) {
	t.Helper()
	found, err := nodejournal.Read(dir)
	require.NoError(t, err)
	require.Empty(t, found.Damage)
	for _, e := range found.Entries {
		if e.To != "" {
			states = append(states, e.To)
		}
	}
	return states
}

// NO-1: a start that fails for what may pass goes through Backoff until it comes
// about, or until none is left; what cannot pass is not tried again.
func TestStartsAgain(t *testing.T) {
	taken := fmt.Errorf("listen: %w", syscall.EADDRINUSE)
	broken := errors.New("the log is damaged")
	for name, c := range map[string]struct {
		failures []error
		want     []nodestate.State
		err      error
	}{
		"at once": {nil, []nodestate.State{"Created", "Starting", "Running", "Terminating", "Terminated"}, nil},
		"after two failures": {[]error{taken, taken}, []nodestate.State{
			"Created", "Starting", "Backoff", "Starting", "Backoff", "Starting", "Running", "Terminating", "Terminated"}, nil},
		"never": {[]error{taken, taken, taken}, []nodestate.State{
			"Created", "Starting", "Backoff", "Starting", "Backoff", "Starting", "Backoff", "Crashed"}, taken},
		"damage": {[]error{broken}, []nodestate.State{"Created", "Starting", "Crashed"}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config := lifeConfig(dir)
			l, err := beginLife(&config, shortPolicy(), nil)
			require.NoError(t, err)
			opened := 0
			err = l.start(t.Context(), func() error {
				if opened++; opened <= len(c.failures) {
					return c.failures[opened-1]
				}
				return nil
			}, untold)
			if err == nil {
				l.ask(nodestate.Shutdown, nodestate.Cause{By: "test"})
			}
			require.ErrorIs(t, l.end(err), c.err)
			require.Equal(t, c.want, course(t, dir))
		})
	}
}

// Who is told to stop while a start waits stops in order.
func TestStopWhileAStartWaits(t *testing.T) {
	dir := t.TempDir()
	config := lifeConfig(dir)
	policy := shortPolicy()
	policy.StartBackoff, policy.MaxBackoff = time.Hour, time.Hour
	l, err := beginLife(&config, policy, nil)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	require.NoError(t, l.start(ctx, func() error {
		stop()
		return syscall.EADDRINUSE
	}, untold))
	require.NoError(t, l.end(nil))
	require.Equal(t, []nodestate.State{"Created", "Starting", "Backoff", "Terminating", "Terminated"}, course(t, dir))
}

// What is wrong with the configuration is refused on record; whose directory it
// is comes before that.
func TestInvalidConfigurations(t *testing.T) {
	dir := t.TempDir()
	config := lifeConfig(dir)
	_, err := beginLife(&config, nodestate.Policy{}, errors.New("--segment-bytes: too small"))
	require.ErrorContains(t, err, "--segment-bytes: too small")
	require.ErrorContains(t, err, "start attempts")
	found, err := nodejournal.Read(dir)
	require.NoError(t, err)
	require.Len(t, found.Entries, 2)
	require.Equal(t, nodestate.KindRefusal, found.Entries[1].Kind)
	require.Contains(t, found.Entries[1].Rule, "--segment-bytes")

	config.NodeID = "n2"
	_, err = beginLife(&config, shortPolicy(), nil)
	require.ErrorContains(t, err, "must name this node")
	config.Peers[0].ID = "n2"
	_, err = beginLife(&config, shortPolicy(), nil)
	require.ErrorContains(t, err, "belongs to another")
	require.Len(t, course(t, dir), 1, "nothing was written into it")
}

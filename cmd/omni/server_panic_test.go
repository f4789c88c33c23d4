package main

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// frailListener panics over the connection that comes when it is due.
type frailListener struct {
	net.Listener
	due *atomic.Bool
}

func (l frailListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if l.due.CompareAndSwap(true, false) {
		_ = conn.Close()
		panic("planted in the API")
	}
	return conn, err
}

// NO-1: the API of a node panics; it is on record, listens at the same address again,
// and answers as before.
func TestAPIMayPanic(t *testing.T) {
	addresses := freeAddresses(t, 2)
	dir := t.TempDir()
	f := serverFlags{
		node: "n1", cluster: "c", kernel: "default", dataDir: dir, apiAddr: addresses[0], raftAddr: addresses[1],
		timing: 1, historyRate: 1, snapshotBytes: 64 << 20, trailingLogs: 32_768, segmentBytes: 64 << 20, evaluators: registry.Lookup,
	}
	peers, err := peerList([]string{"n1=" + addresses[1] + "=http://" + addresses[0]})
	require.NoError(t, err)
	var log bytes.Buffer
	fatal := make(chan error, 1)
	config, err := f.config(peers, hclog.New(&hclog.LoggerOptions{Output: &log}), fatal)
	require.NoError(t, err)
	l, err := beginLife(&config, shortPolicy(), nil)
	require.NoError(t, err)
	var due atomic.Bool
	var s *standing
	require.NoError(t, l.start(t.Context(), func() (err error) {
		if s, err = f.open(config, nil); err == nil {
			s.api = frailListener{s.api, &due}
			s.answer(l, nil)
		}
		return err
	}, untold))
	c, err := client.New([]string{"http://" + addresses[0]}, client.Options{Timeout: time.Minute})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Define(t.Context(), event.Define{})
	require.NoError(t, err)

	due.Store(true)
	conn, err := net.Dial("tcp", addresses[0])
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	var door api.NodeComponent
	require.Eventually(t, func() bool {
		state, err := c.NodeState(t.Context())
		for _, one := range state.Components {
			if one.Name == apiComponent {
				door = one
			}
		}
		return err == nil && door.RestartCount == 1
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, []any{"ok", "panic: planted in the API"}, []any{door.Status, door.LastError})
	_, err = c.Define(t.Context(), event.Define{})
	require.NoError(t, err)

	l.restart <- nodestate.Cause{By: "test"}
	require.NoError(t, l.end(s.serve(t.Context(), l, fatal)))
	require.Contains(t, log.String(), "frailListener.Accept", "the stack is in the log")
	found, err := nodejournal.Read(dir)
	require.NoError(t, err)
	var told []nodestate.Status
	for _, e := range found.Entries {
		if e.Component == apiComponent {
			told = append(told, e.Status)
		}
	}
	require.Equal(t, []nodestate.Status{nodestate.StatusFailing, nodestate.StatusOK}, told)
	require.Equal(t, nodestate.Terminated, course(t, dir)[len(course(t, dir))-1])
}

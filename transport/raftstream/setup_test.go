package raftstream

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listen starts an endpoint on a free port of the loopback interface.
func listen(t *testing.T, node string, adjust ...func(*Options)) *Endpoint {
	t.Helper()
	o := Options{Listen: "127.0.0.1:0", ClusterID: "cluster-1", NodeID: node}
	for _, f := range adjust {
		f(&o)
	}
	e, err := Listen(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close()) })
	return e
}

func kernel(t *testing.T, e *Endpoint, id string) *Kernel {
	t.Helper()
	k, err := e.Kernel(id)
	require.NoError(t, err)
	return k
}

// echo answers what it was asked, and by whom.
func echo(_ context.Context, from string, kind byte, body []byte) ([]byte, error) {
	return append([]byte(from+string('0'+kind)+":"), body...), nil
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// lines collects what an endpoint logs.
type lines struct {
	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func (l *lines) containing(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.out.String(), text)
}

func (l *lines) option(o *Options) {
	o.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: l})
}

// rawDial connects without a word.
func rawDial(t *testing.T, e *Endpoint) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", e.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// accepted waits for a stream on a kernel's Raft layer.
func accepted(t *testing.T, k *Kernel) net.Conn {
	t.Helper()
	conns := make(chan net.Conn, 1)
	go func() {
		if conn, err := k.Layer().Accept(); err == nil {
			conns <- conn
		}
	}()
	select {
	case conn := <-conns:
		return conn
	case <-time.After(10 * time.Second):
		t.Fatal("no stream was accepted")
		return nil
	}
}

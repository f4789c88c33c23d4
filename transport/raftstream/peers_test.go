package raftstream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func echoAs(name string) func(context.Context, string, byte, []byte) ([]byte, error) {
	return func(_ context.Context, from string, _ byte, body []byte) ([]byte, error) {
		return append([]byte(name+" "+from), body...), nil
	}
}

// pair is a caller and a node that answers.
func pair(t *testing.T, handler Handler, adjust ...func(*Options)) (caller *Peers, server *Endpoint) {
	t.Helper()
	server = listen(t, "server", adjust...)
	k := kernel(t, server, "k")
	if handler != nil {
		k.Peers().Handle(handler)
	}
	return kernel(t, listen(t, "caller", adjust...), "k").Peers(), server
}

// A thousand calls, one after the other, use one stream.
func TestCallsReuseAStream(t *testing.T) {
	caller, server := pair(t, echo)
	for range 1000 {
		out, err := caller.Call(within(t, 5*time.Second), server.Address(), 3, []byte("body"))
		require.NoError(t, err)
		require.Equal(t, "caller3:body", string(out))
	}
	require.Equal(t, int64(1), server.streams.Load())
}

func TestCallsToOneAddressAreBounded(t *testing.T) {
	var now, most atomic.Int64
	gate := make(chan struct{})
	caller, server := pair(t, func(_ context.Context, _ string, _ byte, body []byte) ([]byte, error) {
		n := now.Add(1)
		for have := most.Load(); n > have && !most.CompareAndSwap(have, n); have = most.Load() {
		}
		<-gate
		now.Add(-1)
		return body, nil
	}, func(o *Options) { o.Limits.ConnsPerPeer = 3 })
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			out, err := caller.Call(within(t, 10*time.Second), server.Address(), 1, []byte{byte(i)})
			assert.NoError(t, err)
			assert.Equal(t, []byte{byte(i)}, out, "answers are not mixed up")
		})
	}
	require.Eventually(t, func() bool { return now.Load() == 3 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := caller.Call(ctx, server.Address(), 1, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded, "waiting for room is bounded too")
	close(gate)
	calls.Wait()
	require.Equal(t, int64(3), most.Load())
	require.LessOrEqual(t, server.streams.Load(), int64(3))
}

// The caller waits no longer than its context; the handler's context ends with
// it, and so it does when the kernel is closed.
func TestCallDeadline(t *testing.T) {
	ended := make(chan error, 10)
	caller, server := pair(t, func(ctx context.Context, _ string, _ byte, _ []byte) ([]byte, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := caller.Call(ctx, server.Address(), 1, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), 2*time.Second)
	require.ErrorIs(t, <-ended, context.DeadlineExceeded)

	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() { _, err := caller.Call(ctx, server.Address(), 1, nil); done <- err }()
	require.Eventually(t, func() bool { return server.streams.Load() > 0 }, 5*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)

	go func() { _, err := caller.Call(within(t, time.Minute), server.Address(), 1, nil); done <- err }()
	time.AfterFunc(20*time.Millisecond, func() { _ = server.Close() })
	require.Error(t, <-done)
}

func TestHandlerErrors(t *testing.T) {
	caller, server := pair(t, nil)
	var remote *RemoteError
	_, err := caller.Call(within(t, time.Second), server.Address(), 1, nil)
	require.ErrorAs(t, err, &remote)
	require.Contains(t, remote.Message, "nobody answers")

	server.kernels["k"].Peers().Handle(func(context.Context, string, byte, []byte) ([]byte, error) {
		return nil, errors.New("no such segment")
	})
	for range 3 {
		_, err = caller.Call(within(t, time.Second), server.Address(), 1, nil)
		require.ErrorAs(t, err, &remote)
		require.Equal(t, "no such segment", remote.Message)
	}
	require.Equal(t, int64(1), server.streams.Load(), "an error spoils no stream")
}

func TestFramesAreBounded(t *testing.T) {
	small := func(o *Options) { o.Limits.FrameBytes = 1000 }
	caller, server := pair(t, func(_ context.Context, _ string, kind byte, body []byte) ([]byte, error) {
		return bytes.Repeat(body, int(kind)), nil
	}, small)
	out, err := caller.Call(within(t, time.Second), server.Address(), 1, make([]byte, 1000))
	require.NoError(t, err)
	require.Len(t, out, 1000)
	_, err = caller.Call(within(t, time.Second), server.Address(), 1, make([]byte, 1001))
	require.ErrorIs(t, err, ErrFrameTooLarge)
	_, err = caller.Call(within(t, time.Second), server.Address(), 2, make([]byte, 501))
	var remote *RemoteError
	require.ErrorAs(t, err, &remote)
	require.Contains(t, remote.Message, "too large")

	// A peer that keeps to no bound is cut off before room is made for it.
	conn := rawDial(t, server)
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = conn.Write(hello{kind: StreamPeer, cluster: "cluster-1", kernel: "k", node: "n"}.encode())
	require.NoError(t, err)
	reply, err := readAnswer(conn)
	require.NoError(t, err)
	require.Equal(t, Accepted, reply.code)
	_, err = conn.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
}

// An answer that keeps to no bound is refused by the caller too.
func TestOversizedAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = readHello(conn)
		_, _ = conn.Write(answer{version: Version, node: "n"}.encode())
		_, _ = conn.Read(make([]byte, 100))
		_, _ = conn.Write([]byte{0xff, 0xff, 0xff, 0xff, 0})
		_, _ = conn.Read(make([]byte, 1))
	}()
	caller := kernel(t, listen(t, "caller"), "k").Peers()
	_, err = caller.Call(within(t, 5*time.Second), listener.Addr().String(), 1, nil)
	require.ErrorIs(t, err, ErrFrameTooLarge)
}

// A node that restarted has closed the stream that the caller kept: the call
// finds out and opens another.
func TestCallSurvivesARestart(t *testing.T) {
	caller, server := pair(t, echo)
	address := server.Address()
	for range 5 {
		out, err := caller.Call(within(t, 5*time.Second), address, 1, []byte("x"))
		require.NoError(t, err)
		require.Equal(t, "caller1:x", string(out))
		require.NoError(t, server.Close())
		server = listen(t, "server", func(o *Options) { o.Listen = address })
		kernel(t, server, "k").Peers().Handle(echo)
	}
	require.NoError(t, server.Close())
	_, err := caller.Call(within(t, 5*time.Second), address, 1, nil)
	require.Error(t, err)
	caller.mu.Lock()
	defer caller.mu.Unlock()
	require.Empty(t, caller.idle, "an address that is gone is forgotten")
}

// A stream that is not used is closed by the one who answers.
func TestIdleStreamsEnd(t *testing.T) {
	caller, server := pair(t, echo, func(o *Options) { o.Limits.Idle = 700 * time.Millisecond })
	_, err := caller.Call(within(t, 5*time.Second), server.Address(), 1, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return server.streams.Load() == 0 }, 5*time.Second, time.Millisecond)
	_, err = caller.Call(within(t, 5*time.Second), server.Address(), 1, nil)
	require.NoError(t, err)
}

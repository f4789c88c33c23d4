package raftstream

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The largest answer arrives whole, in the memory that both sides set apart for
// it, and over TLS too; an error does not, and spoils nothing.
func TestHistoryAnswersInRoom(t *testing.T) {
	ours := newAuthority(t, cluster1)
	for name, adjust := range map[string]func(*Options){
		"plain": func(*Options) {},
		"TLS":   func(o *Options) { proven(t, ours, o.NodeID)(o) },
	} {
		t.Run(name, func(t *testing.T) {
			rooms := make(chan []byte, 6)
			server := listen(t, "server", adjust)
			kernel(t, server, "k").History().Answer(func(_ context.Context, from string, kind byte, body, room []byte) ([]byte, error) {
				assert.Empty(t, room)
				rooms <- room[:1]
				if kind == 2 {
					return nil, assert.AnError
				}
				return append(room, bytes.Repeat(body, cap(room)/len(body))...), nil
			})
			caller := kernel(t, listen(t, "caller", adjust), "k").History()
			largest := server.options.Limits.FrameBytes
			room := make([]byte, 0, largest)
			for _, piece := range []string{"abcd", "x", "01234567"} {
				_, err := caller.CallInto(within(t, 5*time.Second), server.Address(), 2, nil, room)
				require.ErrorContains(t, err, assert.AnError.Error())
				out, err := caller.CallInto(within(t, 5*time.Second), server.Address(), 1, []byte(piece), room)
				require.NoError(t, err)
				require.Equal(t, bytes.Repeat([]byte(piece), largest/len(piece)), out)
				require.Same(t, &room[:1][0], &out[0], "no memory of its own")
			}
			for first := <-rooms; len(rooms) > 0; {
				require.Same(t, &first[0], &(<-rooms)[0])
			}
			require.Equal(t, int64(1), server.streams.Load())
		})
	}
}

// slowReader takes a few bytes a millisecond from a connection of its own.
type slowReader struct{ net.Conn }

func (c slowReader) Read(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return c.Conn.Read(b[:min(len(b), 512)])
}

// While large answers crawl over a slow link, small questions are answered: no
// stream is shared.
func TestQuestionsPassHistory(t *testing.T) {
	server := listen(t, "server")
	k := kernel(t, server, "k")
	k.Peers().Handle(echo)
	k.History().Answer(func(_ context.Context, _ string, _ byte, _, room []byte) ([]byte, error) {
		return room[:cap(room)], nil
	})
	slow := func(o *Options) {
		o.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			return slowReader{conn}, err
		}
	}
	crawling := kernel(t, listen(t, "caller", slow), "k")
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			_, err := crawling.History().Call(ctx, server.Address(), 1, nil)
			assert.ErrorIs(t, err, context.Canceled)
		})
	}
	require.Eventually(t, func() bool { return server.streams.Load() == 2 }, 5*time.Second, time.Millisecond)
	for range 20 {
		out, err := crawling.Peers().Call(within(t, time.Second), server.Address(), 3, []byte("urgent"))
		require.NoError(t, err)
		require.Equal(t, "caller3:urgent", string(out))
	}
	// The third waits for room, and not for ever.
	_, err := crawling.History().Call(within(t, 20*time.Millisecond), server.Address(), 1, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	cancel()
	calls.Wait()
	require.Equal(t, int64(1), countPeers(crawling))
}

func countPeers(k *Kernel) int64 {
	k.peers.mu.Lock()
	defer k.peers.mu.Unlock()
	n := 0
	for _, peer := range k.peers.idle {
		n += len(peer.streams)
	}
	return int64(n)
}

// Nobody is registered, the kind is unknown to an older node, the kernel closes.
func TestHistoryRefusals(t *testing.T) {
	server := listen(t, "server")
	k := kernel(t, server, "k")
	caller := kernel(t, listen(t, "caller"), "k").History()
	var remote *RemoteError
	_, err := caller.Call(within(t, time.Second), server.Address(), 1, nil)
	require.ErrorAs(t, err, &remote)
	k.Peers().Handle(echo)
	_, err = caller.Call(within(t, time.Second), server.Address(), 1, nil)
	require.ErrorAs(t, err, &remote, "a handler of questions answers no history")

	entered := make(chan struct{})
	k.History().Answer(func(ctx context.Context, _ string, _ byte, _, _ []byte) ([]byte, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	done := make(chan error, 1)
	go func() { _, err := caller.Call(within(t, time.Minute), server.Address(), 1, nil); done <- err }()
	<-entered
	require.NoError(t, k.Close())
	require.Error(t, <-done)
}

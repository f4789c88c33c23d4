package raftstream

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Streams that promise the longest request there may be, and send a few bytes of
// it, cost what they sent; strangers that send garbage, or their hello a byte at
// a time, are let go; and peers talk on meanwhile.
func TestHostilePeers(t *testing.T) {
	caller, server := pair(t, echo, func(o *Options) { o.Limits.Handshake = 2 * time.Second })
	talk := func() {
		_, err := caller.Call(within(t, 30*time.Second), server.Address(), 1, []byte("still there?"))
		require.NoError(t, err)
	}
	talk()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	promise := binary.BigEndian.AppendUint32(nil, 1<<20)
	var open []net.Conn
	for i := range 400 {
		conn := rawDial(t, server)
		kind := []StreamKind{StreamPeer, StreamHistory}[i%2]
		require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
		_, err := conn.Write(hello{kind: kind, cluster: "cluster-1", kernel: "k", node: "n"}.encode())
		require.NoError(t, err)
		reply, err := readAnswer(conn)
		require.NoError(t, err)
		require.Equal(t, Accepted, reply.code)
		_, err = conn.Write(append(promise[:4:4], make([]byte, 100)...))
		require.NoError(t, err)
		open = append(open, conn)
	}
	talk()
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc+after.StackInuse) - int64(before.HeapAlloc+before.StackInuse)
	t.Logf("400 promises of 1 MiB: %d MiB", grown>>20)
	assert.Less(t, grown, int64(64<<20))

	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		conn := rawDial(t, server)
		garbage := make([]byte, random.IntN(4096))
		for i := range garbage {
			garbage[i] = byte(random.Uint32())
		}
		_, _ = conn.Write(garbage) // it may be gone before it has sent all
		require.NoError(t, conn.Close())
	}
	talk()

	slow := rawDial(t, server)
	for _, b := range (hello{kind: StreamPeer, cluster: "cluster-1", kernel: "k", node: "n"}).encode()[:20] {
		_, err := slow.Write([]byte{b})
		require.NoError(t, err)
	}
	talk()
	for _, conn := range append(open, slow) { // the server closes on all of them when their time is over
		require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it was never closed")
	}
	talk()
}

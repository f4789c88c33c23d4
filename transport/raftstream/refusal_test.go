package raftstream

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a listener whose connections are pipes: what is not read is not sent.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return advertised("pipes") }

// A caller whose handshake is refused in the middle can still finish it and
// read why: closing on it would reset the connection and lose the answer.
func TestRefusalReachesATalkativeCaller(t *testing.T) {
	listener := pipes{make(chan net.Conn), make(chan struct{})}
	listen(t, "server", func(o *Options) { o.Listener = listener })
	near, far := net.Pipe()
	listener.conns <- far
	require.NoError(t, near.SetDeadline(time.Now().Add(5*time.Second)))
	sent := make(chan error, 1)
	go func() {
		_, err := near.Write([]byte("OMNI\x07\x01\xff\xff" + strings.Repeat("x", 30_000)))
		sent <- err
	}()
	reply, err := readAnswer(near)
	require.NoError(t, err)
	require.Equal(t, UnknownVersion, reply.code)
	require.NoError(t, <-sent)
	require.NoError(t, near.Close())
}

// One line per address and reason, and again after a minute or a success.
func TestRefusalNews(t *testing.T) {
	var l refusalLog
	now := time.Unix(1_000_000, 0)
	cluster := &Refused{Address: "a", Code: WrongCluster}
	require.True(t, l.news(cluster, now))
	require.False(t, l.news(cluster, now.Add(59*time.Second)))
	require.True(t, l.news(&Refused{Address: "a", Code: WrongKernel}, now))
	require.True(t, l.news(&Refused{Address: "b", Code: WrongCluster}, now))
	require.True(t, l.news(cluster, now), "another reason was told in between")
	require.True(t, l.news(cluster, now.Add(time.Minute)))
	l.forget("a")
	require.True(t, l.news(cluster, now.Add(time.Minute)))
	for i := range 3 * maxToldRefusals {
		l.news(&Refused{Address: strings.Repeat("x", i)}, now)
	}
	require.LessOrEqual(t, len(l.told), maxToldRefusals)
}

package raftstream

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRaftStreams(t *testing.T) {
	a, b := listen(t, "a"), listen(t, "b")
	ka, kb := kernel(t, a, "k"), kernel(t, b, "k")
	require.Equal(t, b.Address(), kb.Layer().Addr().String(), "the library compares it with the configuration")

	there, err := ka.Layer().Dial(raft.ServerAddress(b.Address()), time.Second)
	require.NoError(t, err)
	here := accepted(t, kb)
	_, err = there.Write([]byte("hello"))
	require.NoError(t, err)
	got := make([]byte, 5)
	_, err = io.ReadFull(here, got)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))

	// Closing the layer ends what the library would leave open.
	require.NoError(t, kb.Layer().Close())
	_, err = there.Read(got)
	require.Error(t, err)
	_, err = kb.Layer().Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	require.NoError(t, ka.Layer().Close())
	_, err = there.Write(got)
	require.ErrorIs(t, err, net.ErrClosed)
}

// A node that belongs somewhere else is told so, and says so in one line.
func TestRefusals(t *testing.T) {
	server := listen(t, "server")
	kernel(t, server, "k")
	for name, row := range map[string]struct {
		cluster, kernel string
		code            RefusalCode
		text            string
	}{
		"wrong cluster": {"cluster-2", "k", WrongCluster, "it belongs to another cluster"},
		"wrong kernel":  {"cluster-1", "other", WrongKernel, "it does not host this kernel"},
	} {
		t.Run(name, func(t *testing.T) {
			var log lines
			client := listen(t, "client", log.option, func(o *Options) { o.ClusterID = row.cluster })
			k := kernel(t, client, row.kernel)
			for range 3 {
				_, err := k.Layer().Dial(raft.ServerAddress(server.Address()), time.Second)
				var refused *Refused
				require.ErrorAs(t, err, &refused)
				require.Equal(t, Refused{server.Address(), row.code, Version}, *refused)
			}
			_, err := k.Peers().Call(within(t, time.Second), server.Address(), 1, nil)
			require.ErrorContains(t, err, row.text)
			require.Equal(t, 1, log.containing("refused our stream"), "told once, not with every attempt")
			require.Equal(t, 1, log.containing(row.text))
			require.Equal(t, 1, log.containing(server.Address()))
		})
	}
}

// What a stranger or another version sends, byte by byte.
func TestRefusalsOnTheWire(t *testing.T) {
	server := listen(t, "server")
	kernel(t, server, "k")
	good := hello{kind: StreamRaft, cluster: "cluster-1", kernel: "k", node: "n"}
	future := good.encode()
	future[4] = 9
	strange := good
	strange.kind = 7
	for name, row := range map[string]struct {
		sent string
		code RefusalCode
	}{
		"another version":          {string(future), UnknownVersion},
		"version with a long tail": {string(future) + strings.Repeat("x", 30_000), UnknownVersion},
		"unknown kind":             {string(strange.encode()), UnknownKind},
		"no magic":                 {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", Malformed},
		"oversized":                {"OMNI\x01\x01\xff\xff" + strings.Repeat("x", 65_535), Malformed},
		"id too long":              {"OMNI\x01\x01\x00\x50\x4f" + strings.Repeat("x", 79), Malformed},
		"ids missing":              {"OMNI\x01\x01\x00\x02\x01x", Malformed},
		"no lineage":               {"OMNI\x01\x01\x00\x0f\x01x\x01y\x01z\x080123456g", Malformed},
		"lineage without its dot":  {"OMNI\x01\x01\x00\x17\x01x\x01y\x01z\x100123456701234567", Malformed},
		"lineage cut short":        {"OMNI\x01\x01\x00\x10\x01x\x01y\x01z\x0901234567.", Malformed},
		"bytes left over":          {"OMNI\x01\x01\x00\x07\x01x\x01y\x01zQ", Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			conn := rawDial(t, server)
			require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
			_, err := conn.Write([]byte(row.sent))
			require.NoError(t, err)
			reply, err := readAnswer(conn)
			require.NoError(t, err)
			require.Equal(t, answer{version: Version, code: row.code}, reply)
		})
	}
}

// Clients that connect and say nothing, or stop in the middle, delay nobody,
// and are gone when their time is up.
func TestSilentClients(t *testing.T) {
	quick := func(o *Options) { o.Limits.Handshake = 300 * time.Millisecond }
	server := listen(t, "server", quick)
	kb := kernel(t, server, "k")
	ka := kernel(t, listen(t, "client"), "k")
	var silent []net.Conn
	for i := range 20 {
		conn := rawDial(t, server)
		if i%2 == 0 {
			_, err := conn.Write([]byte("OMNI\x01"))
			require.NoError(t, err)
		}
		silent = append(silent, conn)
	}
	began := time.Now()
	_, err := ka.Layer().Dial(raft.ServerAddress(server.Address()), time.Second)
	require.NoError(t, err)
	accepted(t, kb)
	require.Less(t, time.Since(began), 250*time.Millisecond, "nobody waited for the silent ones")
	for _, conn := range silent {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	}
}

func TestPendingHandshakesAreBounded(t *testing.T) {
	server := listen(t, "server", func(o *Options) { o.Limits.Pending = 3 })
	kernel(t, server, "k")
	var open []net.Conn
	for range 3 {
		open = append(open, rawDial(t, server))
	}
	require.Eventually(t, func() bool { return server.shaking.Load() == 3 }, 5*time.Second, time.Millisecond)
	fourth := rawDial(t, server)
	require.NoError(t, fourth.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, err := fourth.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "closed at once")

	require.NoError(t, open[0].Close())
	require.Eventually(t, func() bool { return server.shaking.Load() == 2 }, 5*time.Second, time.Millisecond)
	client := kernel(t, listen(t, "client"), "k")
	_, err = client.Layer().Dial(raft.ServerAddress(server.Address()), time.Second)
	require.NoError(t, err)
}

func TestStreamsAreBounded(t *testing.T) {
	server := listen(t, "server", func(o *Options) { o.Limits.Streams = 2 })
	kb := kernel(t, server, "k")
	kernel(t, server, "other")
	client := kernel(t, listen(t, "client"), "k")
	dial := func() (net.Conn, error) {
		return client.Layer().Dial(raft.ServerAddress(server.Address()), time.Second)
	}
	_, err := dial()
	require.NoError(t, err)
	first := accepted(t, kb)
	_, err = dial()
	require.NoError(t, err)
	accepted(t, kb)
	_, err = dial()
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Busy, refused.Code)

	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "twice frees one place, not two")
	_, err = dial()
	require.NoError(t, err)
	_, err = dial()
	require.ErrorAs(t, err, &refused)
}

// One listener, two kernels: neither sees the other's streams, and one can end
// and come back.
func TestSeveralKernels(t *testing.T) {
	a, b := listen(t, "a"), listen(t, "b")
	for _, id := range []string{"red", "blue"} {
		kernel(t, a, id)
		kernel(t, b, id).Peers().Handle(Handler(echoAs(id)))
	}
	_, err := a.Kernel("red")
	require.ErrorContains(t, err, "already open")
	ask := func(id string) (string, error) {
		out, err := a.kernels[id].Peers().Call(within(t, time.Second), b.Address(), 1, []byte("?"))
		return string(out), err
	}
	for _, id := range []string{"red", "blue"} {
		out, err := ask(id)
		require.NoError(t, err)
		require.Equal(t, id+" a?", out)
	}
	require.NoError(t, b.kernels["red"].Close())
	_, err = ask("red")
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, WrongKernel, refused.Code)
	_, err = ask("blue")
	require.NoError(t, err)
	kernel(t, b, "red").Peers().Handle(Handler(echoAs("again")))
	out, err := ask("red")
	require.NoError(t, err)
	require.Equal(t, "again a?", out)
}

func TestOptionsAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"no cluster":      func(o *Options) { o.ClusterID = "" },
		"long node":       func(o *Options) { o.NodeID = strings.Repeat("n", MaxID+1) },
		"unspecified":     func(o *Options) { o.Listen = "0.0.0.0:0" },
		"bad address":     func(o *Options) { o.Listen = "nowhere:xx" },
		"bad advertising": func(o *Options) { o.Advertise = ":7000" },
	} {
		o := Options{Listen: "127.0.0.1:0", ClusterID: "c", NodeID: "n"}
		spoil(&o)
		_, err := Listen(o)
		assert.Error(t, err, name)
	}
	e := listen(t, "n", func(o *Options) { o.Listen, o.Advertise = "0.0.0.0:0", "node-1.example:7000" })
	require.Equal(t, "node-1.example:7000", e.Address())
	_, err := e.Kernel("")
	require.Error(t, err)
	require.NoError(t, e.Close())
	_, err = e.Kernel("late")
	require.ErrorIs(t, err, net.ErrClosed)
}

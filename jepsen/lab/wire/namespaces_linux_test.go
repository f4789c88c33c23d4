//go:build root

package wire_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
)

// pair is two namespaces, a and b, on a switch, with real network stacks.
type pair struct {
	*wire.Switch
	spaces    [2]string
	addresses [2]string
}

func newPair(t testing.TB) *pair {
	t.Helper()
	require.NoError(t, netns.Usable(), "this test is about real networks")
	p := new(pair)
	var hosts []wire.Host
	neighbours := []netns.Neighbour{
		{Address: netip.MustParseAddr("10.99.0.1"), MAC: [6]byte{2, 5: 1}}, {Address: netip.MustParseAddr("10.99.0.2"), MAC: [6]byte{2, 5: 2}},
	}
	for i, n := range neighbours {
		id := string(rune('a' + i))
		p.spaces[i] = fmt.Sprintf("omj-%d-0-%s", os.Getpid(), id)
		p.addresses[i] = n.Address.String()
		require.NoError(t, netns.Add(p.spaces[i]))
		t.Cleanup(func() { require.NoError(t, netns.Delete(p.spaces[i])) })
		card, err := netns.Plug(p.spaces[i], netns.Interface{
			Name: "lab0", MAC: n.MAC, Address: netip.PrefixFrom(n.Address, 24), Neighbours: []netns.Neighbour{neighbours[1-i]},
		})
		require.NoError(t, err)
		hosts = append(hosts, wire.Host{ID: id, MAC: n.MAC, Frames: card})
	}
	var err error
	p.Switch, err = wire.New(1, hosts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// serve listens in b.
func (p *pair) serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	var l net.Listener
	require.NoError(t, netns.Do(p.spaces[1], func() (err error) {
		l, err = net.Listen("tcp", p.addresses[1]+":0")
		return err
	}))
	accept(t, l, handle)
	return l.Addr().String()
}

func accept(t testing.TB, l net.Listener, handle func(net.Conn)) {
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
}

// dial connects from a.
func (p *pair) dial(network, address string) (conn net.Conn, err error) {
	err = netns.Do(p.spaces[0], func() error {
		conn, err = net.DialTimeout(network, address, time.Second)
		return err
	})
	return conn, err
}

// echo answers datagrams in b with themselves, and returns a socket in a that is
// connected to it.
func (p *pair) echo(t *testing.T) net.Conn {
	t.Helper()
	var server net.PacketConn
	require.NoError(t, netns.Do(p.spaces[1], func() (err error) {
		server, err = net.ListenPacket("udp", p.addresses[1]+":0")
		return err
	}))
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		datagram := make([]byte, 2000)
		for {
			n, from, err := server.ReadFrom(datagram)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(datagram[:n], from)
		}
	}()
	conn, err := p.dial("udp", server.LocalAddr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ping sends numbered datagrams, and returns how often each came back, how many
// came behind a later one, and how long the fastest took.
func ping(t *testing.T, conn net.Conn, count int) (answers map[uint32]int, behind int, fastest time.Duration) {
	t.Helper()
	answers, fastest = make(map[uint32]int), time.Hour
	began, sent := time.Now(), make(chan struct{})
	go func() {
		defer close(sent)
		for n := range count {
			datagram := binary.BigEndian.AppendUint32(nil, uint32(n))
			_, _ = conn.Write(binary.BigEndian.AppendUint64(datagram, uint64(time.Since(began))))
			if n%8 == 7 {
				time.Sleep(time.Millisecond) // a pace, nothing waits for it
			}
		}
	}()
	var highest uint32
	datagram := make([]byte, 2000)
	for {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
		if _, err := conn.Read(datagram); err != nil {
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			select {
			case <-sent:
				return answers, behind, fastest
			default:
				continue
			}
		}
		n := binary.BigEndian.Uint32(datagram)
		fastest = min(fastest, time.Since(began)-time.Duration(binary.BigEndian.Uint64(datagram[4:])))
		answers[n]++
		if n < highest {
			behind++
		}
		highest = max(highest, n)
	}
}

// Datagrams between two real network stacks meet what the policy of each direction
// says.
func TestDatagrams(t *testing.T) {
	p := newPair(t)
	conn := p.echo(t)
	there, back := wire.Link{From: "a", To: "b"}, wire.Link{From: "b", To: "a"}
	const count = 1000
	under := func(rules wire.Rules) (map[uint32]int, int, time.Duration) {
		imposed, err := p.Impose(rules)
		require.NoError(t, err)
		defer imposed.Lift()
		return ping(t, conn, count)
	}
	answers, behind, fastest := under(nil)
	require.Len(t, answers, count)
	require.Zero(t, behind)
	require.Less(t, fastest, 20*time.Millisecond)

	before := p.Counts()
	answers, _, _ = under(wire.Rules{there: {Cut: true}})
	require.Empty(t, answers)
	require.EqualValues(t, before[back].Sent, p.Counts()[back].Sent, "nothing reached b")
	answers, _, _ = under(wire.Rules{back: {Cut: true}})
	require.Empty(t, answers)
	require.GreaterOrEqual(t, p.Counts()[back].Cut, int64(count), "all reached b")

	answers, _, _ = under(wire.Rules{there: {Loss: 0.3}})
	require.InDelta(t, count*0.7, len(answers), count*0.1)
	answers, _, _ = under(wire.Rules{there: {Duplicate: 0.5}})
	require.Len(t, answers, count)
	var twice int
	for _, times := range answers {
		twice += times - 1
	}
	require.InDelta(t, count*0.5, twice, count*0.1)
	answers, behind, _ = under(wire.Rules{back: {Reorder: 0.5}})
	require.Len(t, answers, count)
	require.Greater(t, behind, count/10)
	answers, behind, fastest = under(wire.Rules{there: {Delay: 20 * time.Millisecond}, back: {Delay: 10 * time.Millisecond, Jitter: 20 * time.Millisecond}})
	require.Len(t, answers, count)
	require.Zero(t, behind)
	require.GreaterOrEqual(t, fastest, 30*time.Millisecond)
}

// TCP gets everything across whatever does not cut the link, and finds it cut.
func TestTCP(t *testing.T) {
	p := newPair(t)
	address := p.serve(t, func(conn net.Conn) {
		sum := sha256.New()
		_, _ = io.Copy(sum, conn)
		_, _ = conn.Write(sum.Sum(nil))
	})
	data := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(data)
	want := sha256.Sum256(data)
	both := func(policy wire.Policy) wire.Rules { return wire.All([]string{"a", "b"}).With(policy) }
	for name, policy := range map[string]wire.Policy{
		"cable":     {},
		"loss":      {Loss: 0.02},
		"duplicate": {Duplicate: 0.5},
		"reorder":   {Reorder: 0.5},
		"jitter":    {Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond},
		"slow":      {BytesPerSecond: 2 << 20},
		"all":       {Loss: 0.005, Duplicate: 0.2, Reorder: 0.2, Delay: time.Millisecond, Jitter: time.Millisecond, BytesPerSecond: 8 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			imposed, err := p.Impose(both(policy))
			require.NoError(t, err)
			defer imposed.Lift()
			began := time.Now()
			conn, err := p.dial("tcp", address)
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
			_, err = conn.Write(data)
			require.NoError(t, err)
			tcp, _ := conn.(*net.TCPConn)
			require.NoError(t, tcp.CloseWrite())
			got, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.Equal(t, want[:], got)
			if name == "slow" {
				require.Greater(t, time.Since(began), 400*time.Millisecond)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		imposed, err := p.Impose(wire.Links{{From: "b", To: "a"}}.Cut())
		require.NoError(t, err)
		_, err = p.dial("tcp", address)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout(), "nobody says that it is unreachable: %v", err)
		imposed.Lift()
		conn, err := p.dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	})
}

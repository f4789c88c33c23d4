package raftstream

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes of the handshake, pinned: nodes of different versions read them.
func TestHelloBytes(t *testing.T) {
	h := hello{kind: StreamPeer, cluster: "c1", kernel: "default", node: "n7"}
	require.Equal(t, "4f4d4e490102000e"+"026331"+"0764656661756c74"+"026e37", hex.EncodeToString(h.encode()))
	read, err := readHello(bytes.NewReader(h.encode()))
	require.NoError(t, err)
	require.Equal(t, h, read)
	h.lineage = "3f9a0c51"
	require.Equal(t, "4f4d4e4901020017"+"026331"+"0764656661756c74"+"026e37"+"083366396130633531", hex.EncodeToString(h.encode()))
	read, err = readHello(bytes.NewReader(h.encode()))
	require.NoError(t, err)
	require.Equal(t, h, read)

	a := answer{version: 3, code: WrongKernel, node: "n7"}
	require.Equal(t, "4f4d4e490303"+"026e37", hex.EncodeToString(a.encode()))
	back, err := readAnswer(bytes.NewReader(a.encode()))
	require.NoError(t, err)
	require.Equal(t, a, back)
}

func TestLongestHello(t *testing.T) {
	id := strings.Repeat("x", MaxID)
	h := hello{kind: StreamRaft, cluster: id, kernel: id, node: id, lineage: strings.Repeat("00c0ffee.", 28)[:MaxLineage]}
	require.Len(t, h.encode(), helloHead+maxHelloBody)
	read, err := readHello(bytes.NewReader(h.encode()))
	require.NoError(t, err)
	require.Equal(t, h, read)
}

// Whatever arrives, readHello takes at most its bound, and what it accepts
// encodes to what was read.
func FuzzHello(f *testing.F) {
	f.Add(hello{kind: StreamRaft, cluster: "c", kernel: "k", node: "n"}.encode())
	f.Add(hello{kind: StreamPeer, cluster: "c", kernel: "k", node: "n", lineage: "3f9a0c51.00c0ffee"}.encode())
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("OMNI\x01\x01\xff\xff"))
	f.Add([]byte("OMNI\x02\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		h, err := readHello(r)
		taken := len(b) - r.Len()
		require.LessOrEqual(t, taken, helloHead+maxHelloBody)
		if err == nil {
			require.Equal(t, b[:taken], h.encode())
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(answer{version: 1, node: "n"}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		a, err := readAnswer(r)
		if err == nil {
			require.Equal(t, b[:len(b)-r.Len()], a.encode())
		}
	})
}

package segment

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// What reads a header reads its own bytes back, and nothing else without a word.
func FuzzHeader(f *testing.F) {
	h := headerOf(testOwner, logging.Head{FirstSeq: 9, Start: 70, ChainIn: [32]byte{1}})
	f.Add(h.append(nil))
	f.Add(sealHeader(make([]byte, headerBytes)))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead(b)
		if err == nil {
			require.Equal(t, b[:headerBytes], h.append(nil))
		}
	})
}

func FuzzGap(f *testing.F) {
	g := gap{owner: testOwner, start: 5, from: 100, firstSeq: 9, chain: [32]byte{4}}
	f.Add(g.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := parseGap(b)
		if err == nil {
			require.Equal(t, b, g.append(nil))
		}
	})
}

// A sidecar with a right checksum and any content costs no more than its length
// and leads nowhere outside.
func FuzzIndex(f *testing.F) {
	blocks := history(251, small, 30)
	dir := directory(logOf(f, blocks))
	b, err := buildIndex(dir, &blocks[29].after.Sealed[0], 0)
	require.NoError(f, err)
	f.Add(b, uint32(3), uint64(7))
	f.Fuzz(func(t *testing.T, b []byte, agent uint32, seq uint64) {
		if len(b) >= indexFixedBytes {
			copy(b, indexMagic)
			binary.LittleEndian.PutUint32(b[offsetVersion:], fileVersion)
			sealHeader(b)
		}
		if x, ok := parseIndex(b); ok {
			require.LessOrEqual(t, len(x.positions(agent)), len(b))
			x.seek(seq)
		}
	})
}

// What arrives from a peer is taken the same way wherever it is cut, and only as
// far as it is a log.
func FuzzAccept(f *testing.F) {
	blocks := history(252, 1<<20, 8)
	var stream []byte
	for i := range blocks {
		stream = append(stream, blocks[i].raw...)
	}
	f.Add(stream, 100)
	f.Add(stream[:len(stream)-3], 1)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		if cut < 1 {
			return
		}
		begin := logging.Genesis("default").Point
		whole := &partial{piece: Piece{To: uint64(len(b))}, verifier: logging.NewVerifier(begin)}
		pieces := &partial{piece: Piece{To: uint64(len(b))}, verifier: logging.NewVerifier(begin)}
		wholeErr := whole.take(b)
		var piecesErr error
		for rest := b; len(rest) > 0 && piecesErr == nil; {
			n := min(cut, len(rest))
			piecesErr = pieces.take(rest[:n])
			rest = rest[n:]
		}
		require.Equal(t, wholeErr, piecesErr)
		require.Equal(t, whole.verifier.Point(), pieces.verifier.Point())
		if wholeErr == nil {
			require.Equal(t, whole.rest, append([]byte(nil), pieces.rest...))
			require.Equal(t, uint64(len(b)), pieces.have())
		}
		// And as the file's reader does.
		verifier := logging.NewVerifier(begin)
		_, err := feedFile(bytes.NewReader(append(make([]byte, headerBytes), b...)), 0, int64(headerBytes+len(b)), verifier, uint64(len(b)))
		require.Equal(t, whole.verifier.Point(), verifier.Point())
		if wholeErr == nil && len(whole.rest) > 0 {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
	})
}

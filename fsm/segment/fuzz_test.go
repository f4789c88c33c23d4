package segment

import (
	"bytes"
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

// What arrives from a peer is taken the same way wherever it is cut, and only as
// far as it is a log.
func FuzzAccept(f *testing.F) {
	blocks := history(252, 1<<20, 8)
	var stream []byte
	for i := range blocks {
		stream = append(stream, blocks[i].raw...)
	}
	first, err := logging.Decode(blocks[0].raw)
	require.NoError(f, err)
	stub := logging.StubOf(&first)
	f.Add(stream, 100, false)
	f.Add(stream[:len(stream)-3], 1, false)
	f.Add(append(stub.AppendTo(nil), stream[len(first.Raw):]...), 7, true)
	f.Fuzz(func(t *testing.T, b []byte, cut int, archived bool) {
		if cut < 1 {
			return
		}
		begin := func() *partial {
			return &partial{
				piece: Piece{To: 1 << 40}, archived: archived,
				verifier: logging.NewVerifier(logging.Genesis("default").Point), fed: fed{offset: headerBytes},
			}
		}
		whole, pieces := begin(), begin()
		taken, wholeErr := whole.take(b)
		sum := 0
		var piecesErr error
		for rest := b; len(rest) > 0 && piecesErr == nil && !pieces.done(); {
			n := min(cut, len(rest))
			var some int
			some, piecesErr = pieces.take(rest[:n])
			sum += some
			rest = rest[n:]
		}
		require.Equal(t, wholeErr, piecesErr)
		require.Equal(t, whole.verifier.Point(), pieces.verifier.Point())
		require.Equal(t, whole.fed, pieces.fed)
		if wholeErr == nil {
			require.Equal(t, whole.rest, append([]byte(nil), pieces.rest...))
			require.Equal(t, taken, sum)
			require.Equal(t, uint64(headerBytes+taken), whole.fed.offset+uint64(len(whole.rest)))
		}
		// And as the file's reader does.
		verifier := logging.NewVerifier(logging.Genesis("default").Point)
		done, err := feedFile(bytes.NewReader(append(make([]byte, headerBytes), b...)), headerBytes, int64(headerBytes+len(b)), verifier, 1<<40, archived)
		require.Equal(t, whole.verifier.Point(), verifier.Point())
		require.Equal(t, whole.fed, done)
		if wholeErr == nil && len(whole.rest) > 0 {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
	})
}

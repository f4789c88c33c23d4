package logging

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes of a stub, written out.
func TestStubGoldenBytes(t *testing.T) {
	s := Stub{Bytes: 0x1234, Count: 5, Index: 0x77, Digest: [32]byte{1, 2}}
	b := s.AppendTo([]byte("before"))[6:]
	require.Equal(t, "38000000"+"26338ef3"+"34120000"+"05000000"+"7700000000000000"+"0102"+strings.Repeat("00", 30), hex.EncodeToString(b))
	read, err := DecodeStub(b)
	require.NoError(t, err)
	require.Equal(t, s, read)
	length, stub, err := ItemLen(b)
	require.NoError(t, err)
	require.True(t, stub)
	require.EqualValues(t, StubBytes, length)
	require.Less(t, StubBytes, MinBlockBytes, "or the length could not tell them apart")
}

// Any damage to a stub is noticed, and what a stub cannot be is refused.
func TestStubDamage(t *testing.T) {
	s := Stub{Bytes: 400, Count: 5, Index: 7}
	b := s.AppendTo(nil)
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		_, err := DecodeStub(b)
		require.Error(t, err, "bit %d", bit)
		b[bit/8] ^= 1 << (bit % 8)
	}
	for n := range len(b) {
		_, err := DecodeStub(b[:n])
		require.Equal(t, &DecodeError{Reason: Truncated, Offset: uint32(n)}, err)
	}
	_, err := DecodeStub(append(b, 0))
	require.Error(t, err)
	for _, wrong := range []Stub{{Bytes: MinBlockBytes - 1, Count: 1, Index: 1}, {Bytes: MaxBlockBytes + 1, Count: 1, Index: 1}, {Bytes: 400, Index: 1}, {Bytes: 400, Count: 1}} {
		_, err := DecodeStub(wrong.AppendTo(nil))
		require.Error(t, err)
	}
}

// LO-1: with stubs in the place of any blocks the log verifies to the same end, and
// with a stub that is not the block's it does not.
func TestVerifierTakesStubs(t *testing.T) {
	blocks, tables := chainOfBlocks(40, 700)
	feed := func(change func(i int, s *Stub)) (*Verifier, error) {
		v := NewVerifier(Genesis("default").Point)
		for i, raw := range blocks {
			if i%3 == 0 {
				if err := v.Feed(raw); err != nil {
					return v, err
				}
				continue
			}
			b, err := Decode(raw)
			require.NoError(t, err)
			s := StubOf(&b)
			change(i, &s)
			if err := v.FeedStub(&s); err != nil {
				return v, err
			}
		}
		return v, nil
	}
	v, err := feed(func(int, *Stub) {})
	require.NoError(t, err)
	at := v.Point()
	require.Equal(t, tables.Chain, at.Chain)
	require.Equal(t, tables.Position, at.Position)
	require.Equal(t, tables.NextSeq, at.NextSeq)
	for what, change := range map[string]func(s *Stub){
		"digest": func(s *Stub) { s.Digest[9] ^= 1 },
		"count":  func(s *Stub) { s.Count++ },
		"index":  func(s *Stub) { s.Index = 1 },
		"seq":    func(s *Stub) { s.Count = math.MaxUint32 },
	} {
		v, err := feed(func(i int, s *Stub) {
			if i == 20 {
				change(s)
			}
		})
		require.Error(t, err, what)
		require.Equal(t, err, v.FeedStub(&Stub{}), "final")
	}
	_, err = feed(func(i int, s *Stub) { s.Bytes++ })
	require.NoError(t, err, "only the end can tell")
}

func FuzzStub(f *testing.F) {
	s := Stub{Bytes: 400, Count: 5, Index: 7}
	f.Add(s.AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeStub(b)
		if err == nil {
			require.Equal(t, b, s.AppendTo(nil))
		}
		length, stub, err := ItemLen(b)
		if err == nil && !stub {
			require.GreaterOrEqual(t, length, uint32(MinBlockBytes))
		}
	})
}

package segment

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sealHeader repairs the checksum of a header or marker.
func sealHeader(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[offsetCRC:], crc32.Checksum(b[offsetVersion:], castagnoli))
	return b
}

// The bytes of a header, written out.
func TestHeaderGoldenBytes(t *testing.T) {
	h := head{owner: Owner("c", "k"), start: 0x1122, firstSeq: 7, chainIn: [32]byte{1, 2}}
	b := h.append([]byte("before"))[6:]
	require.Len(t, b, headerBytes)
	want := hex.EncodeToString([]byte("OMNISEG\n")) + "14e0220f" + "00000000" +
		"8ac275940d75ffbc5d8a2b85dfb90f396df6233bbd00e714bcfb51e363ad5bd3" +
		"2211000000000000" + "0700000000000000" + "0102" + strings.Repeat("00", 30)
	assert.Equal(t, want, hex.EncodeToString(b))
	read, err := parseHead(b)
	require.NoError(t, err)
	assert.Equal(t, h, read)
}

// Any damage to a header is noticed.
func TestHeaderDamage(t *testing.T) {
	h := head{owner: testOwner, start: 5, firstSeq: 9}
	b := h.append(nil)
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		_, err := parseHead(b)
		require.Equal(t, errTorn, err, "bit %d", bit)
		b[bit/8] ^= 1 << (bit % 8)
	}
	for n := range len(b) {
		_, err := parseHead(b[:n])
		require.Equal(t, errTorn, err, "%d bytes", n)
	}
}

// Any damage to a gap marker is noticed.
func TestGapDamage(t *testing.T) {
	g := gap{owner: testOwner, start: 5, from: 100, firstSeq: 9, chain: [32]byte{4}}
	b := g.append(nil)
	require.Len(t, b, gapBytes)
	read, err := parseGap(b)
	require.NoError(t, err)
	assert.Equal(t, g, read)
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		_, err := parseGap(b)
		require.Equal(t, errTorn, err, "bit %d", bit)
		b[bit/8] ^= 1 << (bit % 8)
	}
	for n := range len(b) {
		_, err := parseGap(b[:n])
		require.Equal(t, errTorn, err, "%d bytes", n)
	}
}

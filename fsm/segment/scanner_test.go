package segment

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// An exported log is blocks back to back: scanned, it verifies from genesis.
func TestScannerAndVerifier(t *testing.T) {
	blocks := history(71, small, 50)
	var export bytes.Buffer
	for i := range blocks {
		export.Write(blocks[i].raw)
	}
	for _, wrap := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader,
	} {
		scanner := NewScanner(wrap(bytes.NewReader(export.Bytes())))
		verifier := logging.NewVerifier(logging.Genesis("default").Point)
		seen := 0
		for {
			raw, err := scanner.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.NoError(t, verifier.Feed(raw))
			seen++
		}
		assert.Equal(t, len(blocks), seen)
		assert.Equal(t, blocks[49].after.Point, verifier.Point())
	}
}

func TestScannerErrors(t *testing.T) {
	block := history(72, small, 1)[0].raw
	for n := 1; n < len(block); n++ {
		_, err := NewScanner(bytes.NewReader(block[:n])).Next()
		require.Equal(t, io.ErrUnexpectedEOF, err, "%d bytes", n)
	}
	_, err := NewScanner(bytes.NewReader(nil)).Next()
	require.Equal(t, io.EOF, err)
	_, err = NewScanner(bytes.NewReader([]byte{1, 0, 0, 0})).Next()
	var malformed *logging.DecodeError
	require.ErrorAs(t, err, &malformed)
	_, err = NewScanner(iotest.ErrReader(errDisk)).Next()
	require.Equal(t, errDisk, err)
	_, err = NewScanner(io.MultiReader(bytes.NewReader(block[:30]), iotest.ErrReader(errDisk))).Next()
	require.Equal(t, errDisk, err)
}

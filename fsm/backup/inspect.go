package backup

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/flows"
)

// Inspect reads the header and the state of a backup of size bytes, and its
// trailer, and checks them. What lies between, the log, is not looked at: that
// Inspect finds nothing says that the backup was not cut, not that it is sound.
func Inspect(ctx context.Context, file io.ReadSeeker, size int64, lookup flows.Lookup) (Report, error) {
	r, err := NewReader(&interruptible{ctx, file})
	if err != nil {
		return Report{}, err
	}
	b := builder{restorer: kernel.NewRestorer()}
	if err := r.State(b.add); err != nil {
		return Report{}, r.broken(err)
	}
	found := Report{Checked: CheckedState}
	if found.Content, err = b.content(lookup, r.sum.StateDigest); err != nil {
		return Report{}, r.broken(err)
	}
	t, err := lastFrame(file, size)
	if err != nil {
		return Report{}, err
	}
	if t.stateBytes != r.sum.StateBytes || t.sections != r.sum.Sections || t.logBytes != r.header.LogBytes || t.records != r.header.BusSeq {
		return Report{}, &Broken{Offset: size - trailerFrame, Part: PartTrailer, What: "the trailer counts something else"}
	}
	found.Summary = r.sum
	found.Blocks, found.Records, found.Stubs = t.blocks, t.records, t.stubs
	found.Bytes, found.SHA256 = size, hex.EncodeToString(t.sum[:])
	return found, nil
}

// trailerFrame is how long the last frame is.
const trailerFrame = headBytes + trailerBytes + sumBytes

// lastFrame reads the trailer from the end of a file.
func lastFrame(file io.ReadSeeker, size int64) (trailer, error) {
	at := size - trailerFrame
	cut := &Broken{Offset: size, Part: PartTrailer, What: fmt.Sprintf("it ends after %d bytes, before its trailer", size)}
	if at < int64(startBytes) {
		return trailer{}, cut
	}
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return trailer{}, fmt.Errorf("read backup: %w", err)
	}
	var frame [trailerFrame]byte
	if _, err := io.ReadFull(file, frame[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return trailer{}, cut
		}
		return trailer{}, fmt.Errorf("read backup: %w", err)
	}
	checked := frame[:headBytes+trailerBytes]
	if Part(frame[0]) != PartTrailer || binary.LittleEndian.Uint32(frame[1:]) != trailerBytes {
		return trailer{}, cut
	}
	if checksum(at, checked) != binary.LittleEndian.Uint32(frame[len(checked):]) {
		return trailer{}, &Broken{Offset: at, Part: PartTrailer, What: "the checksum of a frame does not match"}
	}
	t, _ := parseTrailer(checked[headBytes:])
	return t, nil
}

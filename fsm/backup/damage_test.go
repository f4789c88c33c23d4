package backup_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

func verify(file []byte, deep bool) error {
	_, err := backup.Verify(context.Background(), bytes.NewReader(file), backup.Options{Deep: deep, Evaluators: kerneltest.Lookup})
	return err
}

func inspect(file []byte) error {
	_, err := backup.Inspect(context.Background(), bytes.NewReader(file), int64(len(file)), kerneltest.Lookup)
	return err
}

// places are the bytes of a backup that matter most, and some that do not: all that
// is not in a body, both ends of every body, and random ones.
func places(t *testing.T, file []byte) map[int]bool {
	at := make(map[int]bool)
	for i := range startBytes {
		at[i] = true
	}
	for _, f := range framesOf(t, file) {
		for i := range headBytes + 8 {
			at[f.offset+i] = true
		}
		for i := range sumBytes + 8 {
			at[f.end-1-i] = true
		}
	}
	choose := kerneltest.NewSeeded(11)
	for range 150 {
		at[choose.Pick("byte", len(file))] = true
	}
	return at
}

// Every flipped byte is noticed, and placed: in the frame in which it lies, by
// whoever reads it. Inspect does not read the log.
func TestEveryFlippedByteIsNoticed(t *testing.T) {
	file, _, _ := sample(t, 700)
	frames := framesOf(t, file)
	require.Greater(t, len(frames), 4, "there are several frames")
	for at := range places(t, file) {
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		_, err := backup.Copy(t.Context(), io.Discard, bytes.NewReader(damaged), nil)
		require.Error(t, err, "byte %d", at)
		inside := frame{}
		for _, f := range frames {
			if at >= f.offset && at < f.end {
				inside = f
			}
		}
		var newer *backup.NewerError
		if errors.As(err, &newer) {
			require.Equal(t, backup.PartStart, inside.part)
			require.GreaterOrEqual(t, at, 8)
			continue
		}
		var broken *backup.Broken
		require.ErrorAs(t, err, &broken, "byte %d", at)
		require.EqualValues(t, inside.offset, broken.Offset, "byte %d: %v", at, err)
		if err := inspect(damaged); inside.part == backup.PartLog {
			// The state's reader goes one frame too far, and so meets the log's first.
			require.True(t, err == nil || at < frames[firstOfLog(frames)].end, "byte %d", at)
		} else {
			require.Error(t, err, "byte %d", at)
		}
	}
}

func firstOfLog(frames []frame) int {
	for i, f := range frames {
		if f.part == backup.PartLog {
			return i
		}
	}
	return -1
}

// A backup that was cut, wherever, is never taken for a short one, nor one with
// something behind it for whole.
func TestEveryCutIsNoticed(t *testing.T) {
	file, _, _ := sample(t, 700)
	for n := range places(t, file) {
		_, err := backup.Copy(t.Context(), io.Discard, bytes.NewReader(file[:n]), nil)
		var broken *backup.Broken
		require.ErrorAs(t, err, &broken, "cut at byte %d", n)
		require.LessOrEqual(t, broken.Offset, int64(n))
		require.Error(t, inspect(file[:n]), "cut at byte %d", n)
	}
	long := append(bytes.Clone(file), 0)
	require.ErrorContains(t, verify(long, false), "something follows the trailer")
	require.Error(t, inspect(long))
}

// rebuilt is a backup with other frames, all of whose checksums are right.
func rebuilt(file []byte, frames []frame, body func(i int) []byte) []byte {
	out := bytes.Clone(file[:startBytes])
	for i := range frames {
		content := body(i)
		if content == nil {
			continue
		}
		at := len(out)
		out = append(out, byte(frames[i].part))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(content)))
		out = append(out, content...)
		whole := append(binary.LittleEndian.AppendUint64(nil, uint64(at)), out[at:]...)
		out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(whole, crc32.MakeTable(crc32.Castagnoli)))
	}
	return out
}

// Frames that are sound one by one and do not belong together are noticed too.
func TestFramesBelongTogether(t *testing.T) {
	file, _, _ := sample(t, 1500)
	other, _, _ := sample(t, 1400)
	frames, others := framesOf(t, file), framesOf(t, other)
	body := func(i int) []byte { return file[frames[i].offset+headBytes : frames[i].end-sumBytes] }
	require.Equal(t, file, rebuilt(file, frames, body))
	log, last := firstOfLog(frames), len(frames)-1
	require.Greater(t, last-log, 2, "several frames of the log")
	without := func(skip int) []byte {
		return rebuilt(file, frames, func(i int) []byte {
			if i == skip {
				return nil
			}
			return body(i)
		})
	}
	for i := range frames {
		var broken *backup.Broken
		require.ErrorAs(t, verify(without(i), false), &broken, "without frame %d", i)
	}
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"another header": {rebuilt(file, frames, func(i int) []byte {
			if i == 0 {
				return other[others[0].offset+headBytes : others[0].end-sumBytes]
			}
			return body(i)
		}), "not the one that the header names"},
		"another trailer": {rebuilt(file, frames, func(i int) []byte {
			if i == last {
				return other[others[len(others)-1].offset+headBytes : others[len(others)-1].end-sumBytes]
			}
			return body(i)
		}), "the digest over everything does not match"},
		"other counts": {rebuilt(file, frames, func(i int) []byte {
			if i == last {
				b := bytes.Clone(body(i))
				b[8]++
				return b
			}
			return body(i)
		}), "counts something else"},
		"frames of the log in another order": {rebuilt(file, frames, func(i int) []byte {
			switch i {
			case log:
				return body(log + 1)
			case log + 1:
				return body(log)
			}
			return body(i)
		}), "does not continue the log"},
		"half a block": {rebuilt(file, frames, func(i int) []byte {
			if i == log {
				return body(i)[:len(body(i))-1]
			}
			return body(i)
		}), "no whole block"},
		"an empty frame": {rebuilt(file, frames, func(i int) []byte {
			if i == log {
				return []byte{}
			}
			return body(i)
		}), "no whole block"},
	} {
		err := verify(c.file, false)
		var broken *backup.Broken
		require.ErrorAs(t, err, &broken, name)
		require.ErrorContains(t, err, c.says, name)
	}
	moved := bytes.Clone(file) // a frame of the same length in another's place
	a, b := frames[log], frames[log+1]
	if a.end-a.offset == b.end-b.offset {
		copy(moved[a.offset:a.end], file[b.offset:b.end])
		require.ErrorContains(t, verify(moved, false), "checksum of a frame")
	}
}

// A newer format and a newer kernel are called that, with who made the backup.
func TestNewerBackups(t *testing.T) {
	file, _, _ := sample(t, 10)
	newer := bytes.Clone(file)
	newer[8] = 3
	var named *backup.NewerError
	require.ErrorAs(t, verify(newer, false), &named)
	require.Equal(t, &backup.NewerError{What: "format", Version: 3}, named)
	frames := framesOf(t, file)
	header := bytes.Replace(file[frames[0].offset+headBytes:frames[0].end-sumBytes], []byte(`"kernel_version":1`), []byte(`"kernel_version":7`), 1)
	newer = rebuilt(file, frames, func(i int) []byte {
		if i == 0 {
			return header
		}
		return file[frames[i].offset+headBytes : frames[i].end-sumBytes]
	})
	require.ErrorAs(t, verify(newer, false), &named)
	require.Equal(t, &backup.NewerError{What: "kernel version", Version: 7, Known: kernel.Version, Binary: "v0"}, named)
	require.ErrorContains(t, named, "a newer omni (v0)")
}

// Memory grows with what has arrived, not with what a length promises.
func TestLengthsAreNotTrusted(t *testing.T) {
	file, _, _ := sample(t, 10)
	frames := framesOf(t, file)
	at := frames[firstOfLog(frames)].offset
	long := bytes.Clone(file[:at+headBytes])
	binary.LittleEndian.PutUint32(long[at+1:], 16<<20)
	before := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := backup.Copy(context.Background(), io.Discard, bytes.NewReader(long), nil)
			if err == nil {
				b.Fatal("a cut backup was read")
			}
		}
	})
	require.Less(t, before.AllocedBytesPerOp(), int64(4<<20))
	binary.LittleEndian.PutUint32(long[at+1:], 17<<20)
	require.ErrorContains(t, verify(long, false), "impossible")
}

// A state that is sound and is not what the log leads to is found by folding the
// log, and by nothing else.
func TestDeepFindsAForgedState(t *testing.T) {
	h, store := history(t, 30)
	forged := *h.State()
	forged.Timers.Next++
	var file bytes.Buffer
	_, err := backup.Write(t.Context(), &file, source(&forged, store))
	require.NoError(t, err)
	require.NoError(t, verify(file.Bytes(), false))
	err = verify(file.Bytes(), true)
	var broken *backup.Broken
	require.ErrorAs(t, err, &broken)
	require.ErrorContains(t, err, "the log does not lead to the state")
}

package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// Arbitrary bytes are refused, or are a backup: then they are one for every
// reader. The second form fuzzes what lies inside sound frames.
func FuzzReader(f *testing.F) {
	file, _, _ := sample(f, 30)
	f.Add(file, false, uint16(0), byte(0))
	f.Add(file[:len(file)/2], false, uint16(0), byte(0))
	frames := framesOf(f, file)
	for i := range frames {
		f.Add([]byte{}, true, uint16(frames[i].offset+headBytes+1), byte(i))
	}
	f.Fuzz(func(t *testing.T, input []byte, inside bool, at uint16, change byte) {
		if inside {
			input = rebuilt(file, frames, func(i int) []byte {
				body := bytes.Clone(file[frames[i].offset+headBytes : frames[i].end-sumBytes])
				if offset := int(at) - frames[i].offset - headBytes; offset >= 0 && offset < len(body) {
					body[offset] ^= change
				}
				return body
			})
		}
		ctx := context.Background()
		_, copied := backup.Copy(ctx, io.Discard, bytes.NewReader(input), nil)
		_, verified := backup.Verify(ctx, bytes.NewReader(input), backup.Options{Evaluators: kerneltest.Lookup})
		_, deep := backup.Verify(ctx, bytes.NewReader(input), backup.Options{Deep: true, Evaluators: kerneltest.Lookup})
		_, inspected := backup.Inspect(ctx, bytes.NewReader(input), int64(len(input)), kerneltest.Lookup)
		if verified == nil && (copied != nil || inspected != nil) || deep == nil && verified != nil {
			t.Fatalf("copy %v, verify %v, deep %v, inspect %v", copied, verified, deep, inspected)
		}
		var broken *backup.Broken
		if errors.As(copied, &broken) && (broken.Offset < 0 || broken.Offset > int64(len(input))) {
			t.Fatalf("an offset outside of the file: %v", copied)
		}
	})
}

package backup_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// What it costs to make, copy and verify a backup, per byte of it: it must be the
// disk that is slow.
func BenchmarkBackup(b *testing.B) {
	h, store := history(b, 4000)
	var file bytes.Buffer
	if _, err := backup.Write(b.Context(), &file, source(h.State(), store)); err != nil {
		b.Fatal(err)
	}
	for name, step := range map[string]func(ctx context.Context) error{
		"write": func(ctx context.Context) error {
			_, err := backup.Write(ctx, io.Discard, source(h.State(), store))
			return err
		},
		"copy": func(ctx context.Context) error {
			_, err := backup.Copy(ctx, io.Discard, bytes.NewReader(file.Bytes()), nil)
			return err
		},
		"verify": func(ctx context.Context) error {
			_, err := backup.Verify(ctx, bytes.NewReader(file.Bytes()), backup.Options{Evaluators: kerneltest.Lookup})
			return err
		},
		"deep": func(ctx context.Context) error {
			_, err := backup.Verify(ctx, bytes.NewReader(file.Bytes()), backup.Options{Deep: true, Evaluators: kerneltest.Lookup})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if err := step(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package backup

import (
	"errors"
	"fmt"
)

// ErrNotBooted answers Write for a kernel that has nothing to back up yet.
var ErrNotBooted = errors.New("backup: the cluster has no configuration yet: there is nothing to back up")

// Broken says that a stream is no complete, sound backup.
type Broken struct {
	Offset int64 // bytes into the stream: where the frame or the block begins that is not sound
	Part   Part
	What   string
	Err    error // more about it; may be nil
}

// Error implements error.
func (b *Broken) Error() string {
	s := fmt.Sprintf("backup: broken at byte %d (%s): %s", b.Offset, b.Part, b.What)
	if b.Err != nil {
		s += ": " + b.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (b *Broken) Unwrap() error { return b.Err }

// NewerError says that a backup is of a format, or of a kernel version, that this
// program does not know.
type NewerError struct {
	What    string // "format" or "kernel version"
	Version uint64
	Known   uint64
	Binary  string // that made it; empty when that cannot be read
}

// Error implements error.
func (e *NewerError) Error() string {
	by := "a newer omni"
	if e.Binary != "" {
		by += " (" + e.Binary + ")"
	}
	return fmt.Sprintf("backup: made by %s: it has %s %d, this program knows up to %d: use a newer omni", by, e.What, e.Version, e.Known)
}

// PartialError says that something needs every block of the log, and the backup has
// stubs in the places of some.
type PartialError struct {
	FullFrom uint64 // busSeq from which on all are there
}

// Error implements error.
func (e *PartialError) Error() string {
	return fmt.Sprintf("backup: before busSeq %d it has only the digests of what was archived, and this takes all of the log: use a backup made where the archive was", e.FullFrom)
}

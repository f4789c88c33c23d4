package segment

import (
	"errors"
	"fmt"
	"os"
)

// ErrClosed answers every call after Close.
var ErrClosed = errors.New("execution log: closed")

// ErrNotReady answers every call before Resume or Reset.
var ErrNotReady = errors.New("execution log: not resumed yet")

// ErrNotMissing answers Have, Accept and Complete for a piece that is not the one
// which Missing names, or no longer: ask Missing again.
var ErrNotMissing = errors.New("execution log: this piece is not the one that is missing")

// errNoFile: a segment of the manifest has no file any more.
var errNoFile = errors.New("the segment's file is missing")

// HistoryBehindError answers a read of history that this node does not hold
// (yet): it holds everything from FirstSeq on. The API calls it HISTORY_BEHIND.
type HistoryBehindError struct{ FirstSeq uint64 }

// Error implements error.
func (e *HistoryBehindError) Error() string {
	return fmt.Sprintf("execution log: history begins at busSeq %d on this node", e.FirstSeq)
}

// CompactedError answers a read of a block that was archived and whose archive is
// not here: from busSeq FirstSeq on everything is. The API calls it COMPACTED.
type CompactedError struct{ FirstSeq uint64 }

// Error implements error.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("execution log: archived; everything from busSeq %d on is here", e.FirstSeq)
}

// AheadError answers a read beyond what has been published here: the next
// record will be NextSeq.
type AheadError struct{ NextSeq uint64 }

// Error implements error.
func (e *AheadError) Error() string {
	return fmt.Sprintf("execution log: ends before busSeq %d on this node", e.NextSeq)
}

// DivergenceError says that the files hold a valid block, at Position, that is
// not the one which the committed event at Index gives (REPLAY_DIVERGENCE).
// Seq is the first record that differs, 0 when the difference is not in one
// record; What names the difference. It is final: the node must stop.
type DivergenceError struct {
	Position uint64
	Index    uint64
	Seq      uint64
	What     string
}

// Error implements error.
func (e *DivergenceError) Error() string {
	text := fmt.Sprintf("execution log: divergence at position %d, index %d: %s", e.Position, e.Index, e.What)
	if e.Seq != 0 {
		text += fmt.Sprintf(" (busSeq %d)", e.Seq)
	}
	return text
}

// CorruptError says that what lies at Position of the log, in the file Path at
// Offset, is not what belongs there. Err tells more. Path is empty when the block
// was still in memory.
type CorruptError struct {
	Position uint64
	Path     string
	Offset   int64 // bytes from the file's beginning
	Err      error
}

// Error implements error.
func (e *CorruptError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("execution log: corrupt at position %d: %v", e.Position, e.Err)
	}
	return fmt.Sprintf("execution log: corrupt at position %d, in %s at offset %d: %v", e.Position, e.Path, e.Offset, e.Err)
}

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// isCorrupt tells damage from other failures.
func isCorrupt(err error) bool {
	var damaged *CorruptError
	return errors.As(err, &damaged)
}

// corrupt names what is wrong at a position in the segment that begins at start.
func (d directory) corrupt(start, position uint64, err error) *CorruptError {
	return &CorruptError{
		Position: position, Path: d.path(start, segmentSuffix),
		Offset: offsetIn(start, position), Err: err,
	}
}

// corruptIn is corrupt for an open file of the segment.
func corruptIn(f *os.File, start, position uint64, err error) *CorruptError {
	return &CorruptError{Position: position, Path: f.Name(), Offset: offsetIn(start, position), Err: err}
}

// corruptFile says that a file beside a segment is no such file.
func (d directory) corruptFile(start uint64, suffix string, err error) *CorruptError {
	return &CorruptError{Position: start, Path: d.path(start, suffix), Err: err}
}

// OffsetError answers Accept and Complete: of the piece, what lies before Have is
// here, and what follows has to come next.
type OffsetError struct{ Have uint64 }

// Error implements error.
func (e *OffsetError) Error() string {
	return fmt.Sprintf("execution log: the piece is here up to position %d, and must go on there", e.Have)
}

// GapError is Resume's answer when the local log ends at Have and the restored
// state stands on a log that ends at Want. It happens when a snapshot from the
// leader was stored but the node stopped before Reset, or files were lost.
type GapError struct{ Have, Want uint64 }

// Error implements error.
func (e *GapError) Error() string {
	return fmt.Sprintf("execution log: ends at position %d, but the restored state needs it up to %d", e.Have, e.Want)
}

// ForeignError says that a file belongs to another cluster or kernel.
type ForeignError struct{ Path string }

// Error implements error.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("execution log: %s belongs to another cluster or kernel", e.Path)
}

// VersionError says that a file was written in a format this program does not
// know.
type VersionError struct {
	Path    string
	Version uint32
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("execution log: %s has format version %d, this program reads version %d", e.Path, e.Version, fileVersion)
}

package segment

import (
	"errors"
	"fmt"
)

// ErrClosed answers every call after Close.
var ErrClosed = errors.New("execution log: closed")

// ErrNotReady answers every call before Resume or Reset.
var ErrNotReady = errors.New("execution log: not resumed yet")

// HistoryBehindError answers a read of history that this node does not hold
// (yet): it holds everything from FirstSeq on. The API calls it HISTORY_BEHIND.
type HistoryBehindError struct{ FirstSeq uint64 }

// Error implements error.
func (e *HistoryBehindError) Error() string {
	return fmt.Sprintf("execution log: history begins at busSeq %d on this node", e.FirstSeq)
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

// CorruptError says that what lies at Position on disk is not the block that
// belongs there. Err tells more.
type CorruptError struct {
	Position uint64
	Err      error
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("execution log: corrupt at position %d: %v", e.Position, e.Err)
}

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

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

package raftstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Kind names the files that hold the log.
type Kind string

// The two kinds. Bolt is the default; WAL stores large batches faster and is
// younger.
const (
	Bolt Kind = "bolt"
	WAL  Kind = "wal"
)

// Defaults of Options.
const (
	DefaultLockTimeout = time.Second
	DefaultStall       = 10 * time.Second
)

// Errors that callers branch on.
var (
	// ErrBusy: another process, or another store in this one, holds the directory.
	ErrBusy = errors.New("data directory is in use by another process")
	// ErrOtherKind: the directory holds a store of the other kind. Opening an
	// empty one beside it would forget a vote.
	ErrOtherKind = errors.New("data directory holds a store of another kind")
	// ErrFailed: an earlier operation failed, nothing is acknowledged any more.
	ErrFailed = errors.New("raft store has failed")
	// ErrStalled: a write took longer than Options.Stall.
	ErrStalled = errors.New("write to the raft store is stuck")
	// ErrCorrupt: what was read is not what was stored.
	ErrCorrupt = errors.New("raft store is damaged")
	// ErrLayout: the files are of this kind and not of this version.
	ErrLayout = errors.New("raft store was written by another version")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("raft store is closed")
)

// Options of Open.
type Options struct {
	// Kind of files; empty means Bolt.
	Kind Kind
	// Backend, when it is set, is opened instead of files: the disk of a
	// simulation. It may leave a gap between entries no more than Bolt does.
	Backend func() (Backend, error)
	// Dir holds the files; made with mode 0700 when missing.
	Dir string
	// LockTimeout bounds the wait for a directory that is in use; zero means
	// DefaultLockTimeout.
	LockTimeout time.Duration
	// Stall is how long one write may take before Fatal is called with
	// ErrStalled; zero means DefaultStall. It bounds how long a leader with a
	// stuck disk keeps a cluster from electing another.
	Stall time.Duration
	// Fatal must end the process, or close what serves, without waiting for the
	// store. It is called at most once, from any goroutine, and may return.
	// Required.
	Fatal func(error)
	// Logger takes the segment library's warnings; nil means none.
	Logger hclog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.Kind == "" {
		o.Kind = Bolt
	}
	if o.Kind != Bolt && o.Kind != WAL {
		return o, fmt.Errorf("unknown kind of raft store %q, want %q or %q", o.Kind, Bolt, WAL)
	}
	if o.Dir == "" {
		return o, errors.New("raft store needs a directory")
	}
	if o.Fatal == nil {
		return o, errors.New("raft store needs a fatal function")
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = DefaultLockTimeout
	}
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return o, nil
}

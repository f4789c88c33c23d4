package raftstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// cachedEntries is how many of the newest entries are kept in memory: as many
// as are in flight at most, so that under load no entry that is replicated or
// applied has to be read back from the disk and decoded again. Entries above
// 64 KiB go one at a time, which bounds the cache to about that many 64 KiB.
const cachedEntries = 1024

// Store is one group's log and stable store. Logs and Stable may be used from
// any goroutine.
type Store struct {
	backend backend
	kind    Kind
	path    string // of the file or directory that failures name
	lock    *os.File
	cached  *raft.LogCache
	vote    pendingVote
	bytes   atomic.Uint64 // entry bytes since the last Forget or CountFrom
	stall   time.Duration
	fatal   func(error)
	failure atomic.Pointer[error] // the first failure; set once
	closed  atomic.Bool
}

// Open takes the directory's lock and opens the store in it, making an empty
// one when there is none. ErrBusy and ErrOtherKind are told apart; any other
// error means the files cannot be read.
func Open(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	if err := syncDir(filepath.Dir(o.Dir)); err != nil {
		return nil, err
	}
	lock, err := lockDir(o.Dir, o.LockTimeout)
	if err != nil {
		return nil, err
	}
	files, err := openBackend(o)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return newStore(files, lock, o)
}

func newStore(files backend, lock *os.File, o Options) (*Store, error) {
	s := &Store{backend: files, kind: o.Kind, path: o.path(), lock: lock, stall: o.Stall, fatal: o.Fatal}
	cached, err := raft.NewLogCache(cachedEntries, logs{s})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("log cache: %w", err), s.Close())
	}
	s.cached = cached
	return s, nil
}

// Path is where the entries are: a file or a directory.
func (s *Store) Path() string { return s.path }

// Logs is the group's log store, the newest entries cached.
func (s *Store) Logs() raft.LogStore { return s.cached }

// Stable is the group's stable store: term and vote.
func (s *Store) Stable() raft.StableStore { return stable{s} }

// Err is the failure that ended the store; nil while it is sound.
func (s *Store) Err() error {
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Close releases files and lock. Call it after the group has stopped; calls
// after it answer ErrClosed and are no failure.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	err := s.backend.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("close the raft store: %w", err)
	}
	return nil
}

// readable tells whether a read may begin. What was acknowledged before a
// failure can still be read.
func (s *Store) readable() error {
	if s.closed.Load() {
		return ErrClosed
	}
	return nil
}

// writable tells whether a write may begin.
func (s *Store) writable() error {
	if err := s.readable(); err != nil {
		return err
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return nil
}

// fail ends the store: the first failure is kept, and Fatal is told once.
func (s *Store) fail(operation string, err error) error {
	failure := fmt.Errorf("raft store %s: %s: %w", s.path, operation, err)
	if s.closed.Load() {
		return failure
	}
	if s.failure.CompareAndSwap(nil, &failure) {
		s.fatal(failure)
	}
	return failure
}

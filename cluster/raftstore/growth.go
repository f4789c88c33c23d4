package raftstore

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Bytes is how many bytes of entries were stored since the last Forget or
// CountFrom. It is what a snapshot would spare the next start.
func (s *Store) Bytes() uint64 { return s.bytes.Load() }

// Forget takes n bytes off, when a snapshot that covers them is durable.
// Entries stored while the snapshot was written stay counted.
func (s *Store) Forget(n uint64) {
	for {
		have := s.bytes.Load()
		if s.bytes.CompareAndSwap(have, have-min(n, have)) {
			return
		}
	}
}

// CountFrom counts anew after a restart: the entries from index on, which the
// last snapshot does not cover.
func (s *Store) CountFrom(index uint64) error {
	first, err := s.cached.FirstIndex()
	if err != nil {
		return err
	}
	last, err := s.cached.LastIndex()
	if err != nil {
		return err
	}
	var size uint64
	for i := max(index, first, 1); i <= last; i++ {
		var entry raft.Log
		err := s.cached.GetLog(i, &entry)
		if errors.Is(err, raft.ErrLogNotFound) {
			return fmt.Errorf("entry %d is missing between %d and %d: %w", i, first, last, ErrCorrupt)
		}
		if err != nil {
			return err
		}
		size += sizeOf(&entry)
	}
	s.bytes.Store(size)
	return nil
}

package raftstore

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// entryOverhead stands for an entry's index, term, time and framing on disk.
const entryOverhead = 48

// logs is the raft.LogStore under the cache.
type logs struct{ *Store }

var (
	_ raft.LogStore          = logs{}
	_ raft.MonotonicLogStore = logs{}
)

// IsMonotonic tells the library that the segments allow no gap, so that it
// removes the whole log after a snapshot was installed.
func (l logs) IsMonotonic() bool { return l.kind == WAL }

func (l logs) FirstIndex() (uint64, error) { return l.edge("read first index", l.backend.FirstIndex) }

func (l logs) LastIndex() (uint64, error) { return l.edge("read last index", l.backend.LastIndex) }

func (l logs) edge(operation string, read func() (uint64, error)) (uint64, error) {
	if err := l.readable(); err != nil {
		return 0, err
	}
	index, err := read()
	if err != nil {
		return 0, l.fail(operation, err)
	}
	return index, nil
}

// GetLog reads one entry. raft.ErrLogNotFound is an answer; everything else
// is a failure of the store.
func (l logs) GetLog(index uint64, entry *raft.Log) error {
	if err := l.readable(); err != nil {
		return err
	}
	if l.kind == WAL {
		// The segment that is being written still finds what was dropped from
		// its front.
		if first, err := l.FirstIndex(); err != nil {
			return err
		} else if index < first {
			return raft.ErrLogNotFound
		}
	}
	err := l.backend.GetLog(index, entry)
	if errors.Is(err, raft.ErrLogNotFound) {
		return raft.ErrLogNotFound
	}
	if err != nil {
		return l.fail(fmt.Sprintf("read entry %d", index), err)
	}
	if entry.Index != index {
		return l.fail(fmt.Sprintf("read entry %d", index), fmt.Errorf("it says it is %d: %w", entry.Index, ErrCorrupt))
	}
	return nil
}

func (l logs) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs returns when the entries are durable.
func (l logs) StoreLogs(entries []*raft.Log) error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.closeGap(entries); err != nil {
		return err
	}
	timer := l.guard("store entries")
	err := l.backend.StoreLogs(entries)
	timer.Stop()
	if err != nil {
		return l.fail("store entries", err)
	}
	var size uint64
	for _, entry := range entries {
		size += sizeOf(entry)
	}
	l.bytes.Add(size)
	return nil
}

// closeGap drops the log when entries are stored that do not continue it.
//
// The library leaves a gap behind a snapshot that is durable, and only there:
// what is before the gap is of no use any more, and may never have been
// committed. Neither kind of file can hold a gap. For segments the library drops
// the log itself, but not when it is stopped between the snapshot and that.
func (l logs) closeGap(entries []*raft.Log) error {
	last, err := l.LastIndex()
	if err != nil || last == 0 || len(entries) == 0 || entries[0].Index <= last+1 {
		return err
	}
	return l.cached.DeleteRange(0, last)
}

func sizeOf(entry *raft.Log) uint64 {
	return uint64(len(entry.Data)) + uint64(len(entry.Extensions)) + entryOverhead
}

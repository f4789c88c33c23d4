package raftstore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// chunkLog is a log over another one, of which every entry is a chunk: some
// entries with consecutive indexes, under the first one's index (chunk.go).
// What a transaction costs goes by its values and pages much more than by its
// bytes, and the library encodes every value by reflection.
//
// A chunk is written once and never added to. After every transaction the
// chunks on the disk follow one another without a gap and without an overlap:
//
//   - StoreLogs adds chunks behind the last one, in one transaction.
//   - DeleteRange is two transactions. The first parts the chunk that has entries
//     on both sides of where the log is cut: two shorter ones are stored, the
//     first of them in its place. The log holds what it held before. The second
//     removes chunks, each as a whole, from the front of the log or its end.
//
// So a crash leaves the log as it was before an operation or after it, and what
// was deleted does not come back. Between a deletion's two transactions it is as
// before, in one chunk more.
//
// Reads do not wait for writes: a deletion takes milliseconds at a time, and
// Raft's main loop reads. So a read may look into a chunk that has just been
// parted or removed. Then it looks again while no write is running.
type chunkLog struct {
	backend // of the chunks; also keeps the stable values

	writing sync.Mutex // held by StoreLogs and DeleteRange
	buffer  []byte     // of StoreLogs, guarded by writing

	mu      sync.RWMutex // guards what follows; never held while the disk is used
	chunks  []uint64     // first index of each, ascending: 8 bytes for every chunk of the log
	next    uint64       // the index behind the last entry; 0 when there is none
	version uint64       // goes up when chunks are removed

	recent atomic.Pointer[recentChunk]
}

// recentChunk is the chunk that was read last: whoever reads an entry mostly
// reads the next one too. It is right for as long as the list has the version
// that it had before the chunk was read, since other entries may be stored in
// the place of deleted ones.
type recentChunk struct {
	version uint64
	chunk
}

// openChunkLog reads all chunks, and refuses what is not a log without a hole.
func openChunkLog(files backend) (*chunkLog, error) {
	l := &chunkLog{backend: files}
	first, err := files.FirstIndex()
	if err != nil {
		return nil, err
	}
	last, err := files.LastIndex()
	if err != nil || last == 0 {
		return l, err
	}
	for l.next = first; l.next <= last; {
		c, err := l.load(l.next)
		if err != nil {
			return nil, err
		}
		l.chunks = append(l.chunks, c.first)
		l.next += c.count
	}
	if end := l.chunks[len(l.chunks)-1]; end != last {
		return nil, fmt.Errorf("the chunk from %d reaches %d and over the one from %d: %w", end, l.next-1, last, ErrCorrupt)
	}
	return l, nil
}

// load reads one chunk.
func (l *chunkLog) load(first uint64) (chunk, error) {
	var record raft.Log
	err := l.backend.GetLog(first, &record)
	if errors.Is(err, raft.ErrLogNotFound) {
		return chunk{}, fmt.Errorf("no chunk begins with entry %d: %w", first, ErrCorrupt)
	}
	if err != nil {
		return chunk{}, fmt.Errorf("the chunk from %d: %w", first, err)
	}
	return openChunk(first, record.Data)
}

// FirstIndex is 0 for an empty log.
func (l *chunkLog) FirstIndex() (uint64, error) {
	first, _ := l.bounds()
	return first, nil
}

// LastIndex is 0 for an empty log.
func (l *chunkLog) LastIndex() (uint64, error) {
	_, last := l.bounds()
	return last, nil
}

func (l *chunkLog) bounds() (first, last uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.chunks) == 0 {
		return 0, 0
	}
	return l.chunks[0], l.next - 1
}

// place tells where the chunk that holds index begins, by which version of the
// list.
func (l *chunkLog) place(index uint64) (first, version uint64, found bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.chunks) == 0 || index < l.chunks[0] || index >= l.next {
		return 0, 0, false
	}
	i, exact := slices.BinarySearch(l.chunks, index)
	if !exact {
		i--
	}
	return l.chunks[i], l.version, true
}

// GetLog copies one entry, or answers raft.ErrLogNotFound.
func (l *chunkLog) GetLog(index uint64, entry *raft.Log) error {
	err := l.read(index, entry)
	if err == nil || errors.Is(err, raft.ErrLogNotFound) {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.read(index, entry)
}

func (l *chunkLog) read(index uint64, entry *raft.Log) error {
	first, version, found := l.place(index)
	if !found {
		return raft.ErrLogNotFound
	}
	if recent := l.recent.Load(); recent != nil && recent.first == first && recent.version == version {
		return recent.read(index, entry)
	}
	c, err := l.load(first)
	if err != nil {
		return err
	}
	l.recent.Store(&recentChunk{version, c})
	return c.read(index, entry)
}

// StoreLog stores one entry.
func (l *chunkLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs adds entries behind the last one, in one transaction.
func (l *chunkLog) StoreLogs(entries []*raft.Log) error {
	if len(entries) == 0 {
		return nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.follow(entries); err != nil {
		return err
	}
	var records []*raft.Log
	buffer := l.buffer[:0]
	for rest := entries; len(rest) > 0; {
		// A buffer that grows leaves its old bytes, and who refers to them, as
		// they are.
		start := len(buffer)
		var n int
		buffer, n = appendChunk(buffer, rest)
		records = append(records, recordOf(rest[0].Index, buffer[start:]))
		rest = rest[n:]
	}
	if l.buffer = buffer; cap(buffer) > spareBytes {
		l.buffer = nil
	}
	if err := l.backend.StoreLogs(records); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, record := range records {
		l.chunks = append(l.chunks, record.Index)
	}
	l.next = entries[len(entries)-1].Index + 1
	return nil
}

// spareBytes bounds the buffer that is kept between two calls of StoreLogs.
const spareBytes = 1 << 20

// recordOf is a chunk as an entry of the database.
func recordOf(first uint64, b []byte) *raft.Log {
	return &raft.Log{Index: first, Type: chunkType, Data: b}
}

// chunkType keeps a reader that knows no chunks from taking one for a command.
const chunkType raft.LogType = 0xff

// follow refuses entries that do not continue the log.
func (l *chunkLog) follow(entries []*raft.Log) error {
	_, last := l.bounds()
	next := last + 1
	if last == 0 {
		next = max(entries[0].Index, 1)
	}
	for _, entry := range entries {
		if entry.Index != next {
			return fmt.Errorf("entry %d is to be stored, and the log reaches %d", entry.Index, next-1)
		}
		next++
	}
	return nil
}

// DeleteRange removes the entries low to high, which are the front of the log
// or its end.
func (l *chunkLog) DeleteRange(low, high uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	first, last := l.bounds()
	low, high = max(low, first), min(high, last)
	switch {
	case last == 0 || low > high:
		return nil
	case low > first && high < last:
		return fmt.Errorf("entries %d to %d are in the middle of the log %d to %d", low, high, first, last)
	}
	cut := low
	if low == first {
		cut = high + 1
	}
	if err := l.part(cut); err != nil {
		return err
	}
	if err := l.backend.DeleteRange(low, high); err != nil {
		return err
	}
	l.forget(low, high)
	return nil
}

// part makes the entry at an index the first one of a chunk.
func (l *chunkLog) part(at uint64) error {
	first, _, found := l.place(at)
	if !found || first == at {
		return nil
	}
	c, err := l.load(first)
	if err != nil {
		return err
	}
	before, after, err := c.part(at)
	if err != nil {
		return err
	}
	if err := l.backend.StoreLogs([]*raft.Log{recordOf(first, before.seal()), recordOf(at, after.seal())}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearch(l.chunks, at)
	l.chunks = slices.Insert(l.chunks, i, at)
	return nil
}

// forget takes the chunks from low to high off the list.
func (l *chunkLog) forget(low, high uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	i, _ := slices.BinarySearch(l.chunks, low)
	j, _ := slices.BinarySearch(l.chunks, high+1)
	switch {
	case i == 0 && j == len(l.chunks):
		l.chunks, l.next = nil, 0
	case i == 0:
		l.chunks = l.chunks[j:]
	default:
		l.chunks, l.next = l.chunks[:i], low
	}
}

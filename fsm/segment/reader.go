package segment

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// errNoBlock: a position that is not the beginning of a block.
var errNoBlock = errors.New("no block begins here")

// How much a reader takes from a file at a time, in bytes: for one that goes
// forward, and for one that goes from block to block.
const (
	aheadForward = 256 << 10
	aheadSingle  = 4 << 10
)

// reader reads blocks at positions, best at growing ones. It is used by one
// goroutine and closed at the end.
type reader struct {
	store  *Store
	ahead  int
	pinned *chunk
	window []byte // readable bytes of the log from position at
	at     uint64
	epoch  uint64
	start  uint64 // of the segment of what follows
	source *segmentFile
	sparse *sparse // where the source is compacted
	end    uint64  // of what sparse finds
	buffer []byte
}

func (s *Store) reader(ahead int) *reader { return &reader{store: s, ahead: ahead} }

// close lets go of everything. The reader can be used again.
func (r *reader) close() {
	r.unpin()
	if r.source != nil {
		r.source.close()
	}
	r.source, r.sparse, r.window = nil, nil, nil
}

func (r *reader) unpin() {
	if r.pinned != nil {
		r.store.unpin(r.pinned)
		r.pinned, r.window = nil, nil
	}
}

// block gives the verified block at a position, valid until the next call. Where
// only its stub is here, it answers *CompactedError.
func (r *reader) block(position uint64) (logging.Block, error) {
	i, err := r.item(position)
	if err == nil && i.Archived() {
		err = r.store.compactedError(r.start)
	}
	return i.Block, err
}

// item gives the verified item at a position, valid until the next call.
func (r *reader) item(position uint64) (Item, error) {
	i, err := r.try(position)
	for isCorrupt(err) && r.outdated() {
		// What it looked at has been exchanged meanwhile.
		r.close()
		i, err = r.try(position)
	}
	if damage := (*CorruptError)(nil); errors.As(err, &damage) && damage.Path != "" {
		r.store.damaged(r.start, r.epoch)
		if r.outdated() { // there was something better to read
			r.close()
			return r.try(position)
		}
	}
	return i, err
}

// try is item, in the files as they were opened.
func (r *reader) try(position uint64) (Item, error) {
	if r.sparse != nil && position >= r.start && position < r.end {
		return r.sparse.at(position)
	}
	raw := r.inWindow(position)
	if raw == nil {
		where, err := r.locate(position)
		if err != nil {
			return Item{}, err
		}
		if r.sparse != nil && where.chunk == nil {
			return r.sparse.at(position)
		}
		if raw, err = r.fetch(position, where); err != nil {
			return Item{}, err
		}
	}
	b, err := logging.Decode(raw)
	if err != nil {
		return Item{}, r.wrong(position, err)
	}
	return Item{Position: position, FirstSeq: b.FirstSeq, Block: b}, nil
}

// wrong says that what the window shows at a position is not what belongs there.
func (r *reader) wrong(position uint64, err error) *CorruptError {
	switch {
	case r.pinned != nil:
		return &CorruptError{Position: position, Err: err}
	case r.sparse != nil:
		return r.source.corrupt(position, 0, err)
	}
	return r.source.corrupt(position, r.source.offset(position), err)
}

// outdated tells whether the files were exchanged since the reader looked.
func (r *reader) outdated() bool {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.store.epoch != r.epoch
}

// stray says that a sound block at a position is not the one that belongs there.
// When the files were exchanged meanwhile, that says nothing about them.
func (r *reader) stray(position uint64, err error) error {
	s := r.store
	s.mu.Lock()
	exchanged, floor := s.epoch != r.epoch, s.floor.NextSeq
	s.mu.Unlock()
	if exchanged {
		return &HistoryBehindError{FirstSeq: floor}
	}
	if r.pinned == nil {
		s.damaged(r.start, r.epoch)
	}
	return r.wrong(position, err)
}

// inWindow gives the whole block at position if the window holds it.
func (r *reader) inWindow(position uint64) []byte {
	if position < r.at || position-r.at >= uint64(len(r.window)) {
		return nil
	}
	b := r.window[position-r.at:]
	length, err := logging.BlockLen(b)
	if err != nil || uint64(length) > uint64(len(b)) {
		return nil
	}
	return b[:length:length]
}

// locate finds where a position is, and opens the file of its segment.
func (r *reader) locate(position uint64) (span, error) {
	r.unpin()
	where, err := r.store.locate(position)
	if err != nil {
		return span{}, err
	}
	r.epoch = where.epoch
	if where.chunk != nil {
		r.pinned = where.chunk
		return where, nil
	}
	if r.source != nil && r.start == where.start {
		return where, nil
	}
	r.close()
	r.start, r.end = where.start, where.limit
	return where, r.open(&where)
}

// open the file of a segment.
func (r *reader) open(where *span) error {
	if where.entry == nil {
		src, err := openForReading(r.store.dir.path(where.start, segmentSuffix), where.start)
		if err == nil && src == nil {
			err = r.store.dir.corrupt(where.start, where.start, errNoFile)
		}
		r.source = src
		return err
	}
	src, err := r.store.openSource(where.entry)
	if err != nil {
		return err
	}
	r.source = src
	if !src.compacted() {
		return nil
	}
	index, err := r.store.indexes.get(r.store.dir, src, where.entry, where.start)
	if err != nil {
		return err
	}
	r.sparse = &sparse{source: src, index: index, buffer: r.ahead}
	return nil
}

// fetch moves the window to position and gives the block there.
func (r *reader) fetch(position uint64, where span) ([]byte, error) {
	if where.chunk != nil {
		r.window, r.at = where.data, position
	} else if err := r.fill(position, where, r.ahead); err != nil {
		return nil, err
	}
	length, err := logging.BlockLen(r.window)
	if err != nil {
		return nil, r.wrong(position, err)
	}
	if uint64(length) > uint64(len(r.window)) && where.chunk == nil && where.limit-position >= uint64(length) {
		if err := r.fill(position, where, int(length)); err != nil {
			return nil, err
		}
	}
	if uint64(length) > uint64(len(r.window)) {
		return nil, r.wrong(position, errNoBlock)
	}
	return r.window[:length:length], nil
}

// fill reads up to n bytes of the file into the window.
func (r *reader) fill(position uint64, where span, n int) error {
	n = int(min(uint64(n), where.limit-position))
	if cap(r.buffer) < n {
		r.buffer = make([]byte, n)
	}
	got, err := r.source.file.ReadAt(r.buffer[:n], offsetIn(where.start, position))
	if errors.Is(err, syscall.EIO) {
		return r.wrong(position, err)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read execution log: %w", err)
	}
	// A file that is shorter than it was may still hold this block.
	r.window, r.at = r.buffer[:got], position
	return nil
}

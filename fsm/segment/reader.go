package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// span is where a piece of the log can be read: in a pinned chunk, or in the
// file of the segment that begins at start, up to the position limit.
type span struct {
	chunk *chunk
	data  []byte // of the chunk, from the position asked for
	start uint64
	limit uint64
	epoch uint64
}

// locate finds where the block at position is. The caller unpins the chunk.
func (s *Store) locate(position uint64) (span, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readable(); err != nil {
		return span{}, err
	}
	switch {
	case position < s.floor.Position:
		return span{}, &HistoryBehindError{FirstSeq: s.floor.NextSeq}
	case position >= s.published.position:
		return span{}, &AheadError{NextSeq: s.published.seq}
	}
	if position >= s.written {
		c := s.memory.holding(position)
		if c == nil {
			return span{}, &CorruptError{Position: position, Err: errNoBlock}
		}
		c.pins++
		end := min(c.end(), s.published.position)
		return span{chunk: c, data: c.data[position-c.start : end-c.start], epoch: s.epoch}, nil
	}
	found := span{limit: min(s.written, s.published.position), epoch: s.epoch}
	for i, segment := range s.live {
		if segment.start > position {
			found.limit = min(found.limit, segment.start)
			break
		}
		found.start = s.live[i].start
	}
	if position < s.live[0].start {
		entry := sealedAround(s.end.Sealed, position)
		found.start, found.limit = entry.Start, min(found.limit, entry.End())
	}
	return found, nil
}

// readable tells whether the store can be read at all. Called with mu held.
func (s *Store) readable() error {
	switch s.phase {
	case opened:
		return ErrNotReady
	case closed:
		return ErrClosed
	}
	return nil
}

func (s *Store) unpin(c *chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.pins--
}

// sealedAround finds the manifest entry in which position lies, which exists.
func sealedAround(sealed []logging.Segment, position uint64) *logging.Segment {
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].End() > position })
	return &sealed[i]
}

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
	file   *os.File
	start  uint64 // of the file's segment
	buffer []byte
}

func (s *Store) reader(ahead int) *reader { return &reader{store: s, ahead: ahead} }

func (r *reader) close() {
	r.unpin()
	if r.file != nil {
		r.file.Close() // read only: nothing to lose
		r.file = nil
	}
}

func (r *reader) unpin() {
	if r.pinned != nil {
		r.store.unpin(r.pinned)
		r.pinned, r.window = nil, nil
	}
}

// block gives the verified block at a position, valid until the next call.
func (r *reader) block(position uint64) (logging.Block, error) {
	b, err := r.try(position)
	for isCorrupt(err) && r.outdated() {
		// What it looked at has been exchanged meanwhile.
		r.close()
		r.window = nil
		b, err = r.try(position)
	}
	if damage := (*CorruptError)(nil); errors.As(err, &damage) && damage.Path != "" {
		r.store.damaged(r.start, r.epoch)
	}
	return b, err
}

// try is block, in the files as they were opened.
func (r *reader) try(position uint64) (logging.Block, error) {
	raw := r.inWindow(position)
	if raw == nil {
		var err error
		if raw, err = r.fetch(position); err != nil {
			return logging.Block{}, err
		}
	}
	b, err := logging.Decode(raw)
	if err != nil {
		return logging.Block{}, r.wrong(position, err)
	}
	return b, nil
}

// wrong says that what the window shows at a position is not what belongs there.
func (r *reader) wrong(position uint64, err error) *CorruptError {
	if r.pinned != nil {
		return &CorruptError{Position: position, Err: err}
	}
	return r.store.dir.corrupt(r.start, position, err)
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

// fetch moves the window to position and gives the block there.
func (r *reader) fetch(position uint64) ([]byte, error) {
	r.unpin()
	where, err := r.store.locate(position)
	if err != nil {
		return nil, err
	}
	r.epoch = where.epoch
	if where.chunk != nil {
		r.pinned, r.window, r.at = where.chunk, where.data, position
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

// open the file of a segment.
func (r *reader) open(start uint64) error {
	if r.file != nil {
		r.file.Close() // read only: nothing to lose
	}
	r.file, r.start = nil, start
	file, err := os.Open(r.store.dir.path(start, segmentSuffix))
	if notExist(err) {
		return r.store.dir.corrupt(start, start, errNoFile)
	}
	if err != nil {
		return fmt.Errorf("read execution log: %w", err)
	}
	r.file = file
	return nil
}

// fill reads up to n bytes of the file into the window.
func (r *reader) fill(position uint64, where span, n int) error {
	if r.file == nil || r.start != where.start {
		if err := r.open(where.start); err != nil {
			return err
		}
	}
	n = int(min(uint64(n), where.limit-position))
	if cap(r.buffer) < n {
		r.buffer = make([]byte, n)
	}
	got, err := r.file.ReadAt(r.buffer[:n], offsetIn(where.start, position))
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

package segment

import "github.com/omnikernel/omnikernel/kernel/logging"

// chunk is a piece of the log in memory, on its way to the file. It holds whole
// blocks of one segment. Its bytes never change once they are appended, so a
// reader that has pinned it may look at what was published without a lock.
// All fields are guarded by Store.mu.
type chunk struct {
	start   uint64 // position of its first byte
	data    []byte
	flushed int  // bytes of data that are in the file
	closed  bool // takes no more blocks
	pins    int  // readers that look at data

	seals bool         // the segment ends with this chunk
	next  logging.Head // and this one follows
}

func (c *chunk) end() uint64 { return c.start + uint64(len(c.data)) }

// chunks is the list of chunks not fully written, in order, with the spare ones
// for reuse. Guarded by Store.mu.
type chunks struct {
	waiting  []*chunk
	spare    []*chunk
	buffered int // bytes not yet written
}

// maxSpare bounds what is kept for reuse.
const maxSpare = 8

// room gives the chunk that takes n more bytes at position.
func (l *chunks) room(position uint64, n int) *chunk {
	if c := l.last(); c != nil && !c.closed {
		if len(c.data)+n <= cap(c.data) {
			return c
		}
		c.closed = true
	}
	var c *chunk
	switch k := len(l.spare); {
	case n > chunkBytes:
		c = &chunk{data: make([]byte, 0, n)} // one large block, alone
	case k > 0:
		c, l.spare = l.spare[k-1], l.spare[:k-1]
		*c = chunk{data: c.data[:0]}
	default:
		c = &chunk{data: make([]byte, 0, chunkBytes)}
	}
	c.start = position
	l.waiting = append(l.waiting, c)
	return c
}

// last is the newest chunk; nil when all is written.
func (l *chunks) last() *chunk {
	if len(l.waiting) == 0 {
		return nil
	}
	return l.waiting[len(l.waiting)-1]
}

// wrote notes that the first n unwritten bytes of the first chunk are in the
// file. It tells whether the chunk is done with.
func (l *chunks) wrote(n int) (done bool) {
	c := l.waiting[0]
	c.flushed += n
	l.buffered -= n
	if !c.closed || c.flushed < len(c.data) {
		return false
	}
	copy(l.waiting, l.waiting[1:])
	l.waiting[len(l.waiting)-1] = nil
	l.waiting = l.waiting[:len(l.waiting)-1]
	// A pinned chunk is left to its readers and the garbage collector.
	if c.pins == 0 && cap(c.data) == chunkBytes && len(l.spare) < maxSpare {
		l.spare = append(l.spare, c)
	}
	return true
}

// holding gives the chunk in which position lies; nil when none does.
func (l *chunks) holding(position uint64) *chunk {
	for _, c := range l.waiting {
		if position >= c.start && position < c.end() {
			return c
		}
	}
	return nil
}

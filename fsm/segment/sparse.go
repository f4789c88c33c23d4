package segment

import (
	"errors"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// sparse finds items in a compacted segment by their positions, best at growing
// ones. It is used by one goroutine.
type sparse struct {
	source *segmentFile
	index  *index
	buffer int // bytes read at a time
	items  *items
}

// errInStub: of the block at this position only the stub is here, so nothing can be
// given from its middle.
var errInStub = errors.New("the block around this position was archived")

// at gives the item that begins at a position.
func (x *sparse) at(position uint64) (Item, error) {
	i, err := x.around(position)
	if err == nil && i.Position != position {
		return Item{}, x.source.corrupt(position, x.items.offset, errNoBlock)
	}
	return i, err
}

// around gives the item in which a position lies.
func (x *sparse) around(position uint64) (Item, error) {
	from := x.index.markAt(position)
	// Going on is better than going back to a mark that lies before.
	if x.items == nil || position < x.items.position || from.position > x.items.position {
		x.items = itemsIn(x.source.file, x.source.size, from, true, x.buffer)
	}
	for {
		at, offset := x.items.position, x.items.offset
		i, err := x.items.next()
		switch {
		case err != nil && contentual(err):
			x.items = nil
			return Item{}, x.source.corrupt(at, offset, err)
		case err != nil:
			x.items = nil
			return Item{}, err
		case position < x.items.position:
			return i, nil
		}
	}
}

// serve gives what the file has from a position on, until the position limit, as
// much as fits into dst: the bytes of blocks that are kept, and whole stubs. next is
// the position after it.
func (x *sparse) serve(position, limit uint64, dst []byte) (n int, next uint64, err error) {
	for next = position; next < limit && n < len(dst); {
		i, err := x.around(next)
		if err != nil {
			return n, next, err
		}
		if !i.Archived() {
			copied := copy(dst[n:], i.Block.Raw[next-i.Position:])
			n, next = n+copied, next+uint64(copied)
			continue
		}
		switch {
		case i.Position != next:
			return n, next, errInStub
		case len(dst)-n >= logging.StubBytes:
			n += len(i.Stub.AppendTo(dst[n:n]))
			next += i.Bytes()
		case n == 0:
			return 0, next, io.ErrShortBuffer
		default:
			return n, next, nil
		}
	}
	return n, next, nil
}

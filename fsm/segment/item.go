package segment

import (
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Item is what the log holds at a position: a block, or the stub of one that was
// archived and is not kept here.
type Item struct {
	Position uint64
	FirstSeq uint64
	Block    logging.Block // Raw is nil where only the stub is here
	Stub     logging.Stub  // where only it is here
}

// Archived tells whether only the block's stub is here.
func (i *Item) Archived() bool { return i.Block.Raw == nil }

// Bytes is the length of the block in the log.
func (i *Item) Bytes() uint64 {
	if i.Archived() {
		return uint64(i.Stub.Bytes)
	}
	return uint64(len(i.Block.Raw))
}

// LastSeq is the busSeq of the block's last record.
func (i *Item) LastSeq() uint64 {
	if i.Archived() {
		return i.FirstSeq + uint64(i.Stub.Count) - 1
	}
	return i.Block.LastSeq()
}

// Digest is the block's.
func (i *Item) Digest() [logging.HashBytes]byte {
	if i.Archived() {
		return i.Stub.Digest
	}
	return i.Block.Digest()
}

// feed gives the item to a verifier.
func (i *Item) feed(v *logging.Verifier) error {
	if i.Archived() {
		return v.FeedStub(&i.Stub)
	}
	return v.Feed(i.Block.Raw)
}

// items reads the items of a segment's file, in order, from a place on.
type items struct {
	scanner  *Scanner
	position uint64 // of the next one
	seq      uint64 // its first busSeq; 0: as the block says
	offset   uint64 // in the file
}

// itemsIn reads from the mark on. Without stubs one is no block.
func itemsIn(f io.ReaderAt, size int64, from mark, stubs bool, buffer int) *items {
	scanner := newScanner(io.NewSectionReader(f, int64(from.offset), max(size-int64(from.offset), 0)), buffer)
	scanner.stubs = stubs
	return &items{scanner: scanner, position: from.position, seq: from.seq, offset: from.offset}
}

// next gives the next item, which is valid until the next call, or what the scanner
// or the decoder says.
func (r *items) next() (Item, error) {
	raw, err := r.scanner.Next()
	if err != nil {
		return Item{}, err
	}
	i := Item{Position: r.position, FirstSeq: r.seq}
	if len(raw) == logging.StubBytes {
		i.Stub, err = logging.DecodeStub(raw)
	} else if i.Block, err = logging.Decode(raw); err == nil {
		i.FirstSeq = i.Block.FirstSeq
	}
	if err != nil {
		return Item{}, err
	}
	r.position += i.Bytes()
	r.seq = i.LastSeq() + 1
	r.offset += uint64(len(raw))
	return i, nil
}

// mark is where the next item begins.
func (r *items) mark() mark { return mark{seq: r.seq, position: r.position, offset: r.offset} }

package segment

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Drop tells whether a block, at a position, is needed no more as of the event at
// the Raft index archivedAt. It must be a function of these alone, on every replica
// and for ever.
type Drop func(position uint64, block *logging.Block, archivedAt uint64) bool

// compaction writes a compacted segment, which is verified as it is written.
type compaction struct {
	to       *bufio.Writer
	verifier *logging.Verifier
	head     compactedHead
	buffer   []byte
}

// compact writes what the items of a segment leave when the blocks that drop names
// (nil: none) become stubs, to a temporary file whose name it gives. What is not the
// segment is a *CorruptError that names no file: the caller knows it.
func (s *Store) compact(from *items, entry *logging.Segment, drop Drop) (path string, err error) {
	f, err := os.CreateTemp(string(s.dir), filepath.Base(s.dir.path(entry.Start, compactedSuffix))+".*"+tempSuffix)
	if err != nil {
		return "", fmt.Errorf("compact segment: %w", err)
	}
	head := headOfSegment(entry)
	c := &compaction{
		to:       bufio.NewWriterSize(io.NewOffsetWriter(f, compactedBytes), scanBuffer),
		verifier: logging.NewVerifier(beginningOf(head)),
		head: compactedHead{
			head: headerOf(s.options.Owner, head), chainOut: entry.ChainOut,
			archivedAt: entry.ArchivedAt, bytes: entry.Bytes,
		},
	}
	err = s.copyItems(c, from, entry, drop)
	if err == nil {
		err = c.to.Flush()
	}
	if err == nil {
		_, err = f.WriteAt(c.head.append(nil), 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("compact segment: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// copyItems takes all of the segment's items and checks that they are the segment.
func (s *Store) copyItems(c *compaction, from *items, entry *logging.Segment, drop Drop) error {
	for from.position < entry.End() {
		if s.isClosing() {
			return ErrClosed
		}
		here := from.mark()
		i, err := from.next()
		if err == nil {
			err = i.feed(c.verifier)
		}
		switch {
		case err != nil && (contentual(err) || errors.Is(err, syscall.EIO)):
			return &CorruptError{Position: here.position, Offset: int64(here.offset), Err: err}
		case err != nil:
			return err
		}
		if !i.Archived() && drop != nil && drop(i.Position, &i.Block, entry.ArchivedAt) {
			i.Stub = logging.StubOf(&i.Block)
			i.Block = logging.Block{}
		}
		if err := c.add(&i); err != nil {
			return err
		}
	}
	if at, end := c.verifier.Point(), endOf(entry); !sameEnd(&at, &end) {
		return &CorruptError{Position: entry.Start, Err: errOtherChain}
	}
	return nil
}

// add writes an item.
func (c *compaction) add(i *Item) error {
	raw := i.Block.Raw
	if i.Archived() {
		c.buffer = i.Stub.AppendTo(c.buffer[:0])
		raw = c.buffer
		c.head.dropped++
	} else {
		c.head.kept++
	}
	c.head.size += uint64(len(raw))
	_, err := c.to.Write(raw)
	return err
}

func (s *Store) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

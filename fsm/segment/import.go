package segment

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Import writes the files of a log, from its first block to its last, into a
// directory that no store has open: for a log in which stubs stand for archived
// blocks, and which therefore cannot be appended. Its segments are those of the
// tables. Whoever calls it has verified what it is given.
type Import struct {
	dir    directory
	owner  [32]byte
	tables *logging.Tables
	next   int // segment that is written, in the manifest; the tail behind them
	at     logging.Point
	file   *importing // nil between two segments
}

// importing is the file of a segment that is being written.
type importing struct {
	file  *os.File
	to    *bufio.Writer
	begin logging.Head
	room  int64         // kept for the header
	head  compactedHead // what it holds
}

// ErrImport says that what was added is not the log of the tables.
var ErrImport = errors.New("execution log: what is imported is not the log that its manifest names")

// NewImport begins an import into dir, which must have no log in it.
func NewImport(dir string, owner [32]byte, t *logging.Tables) (*Import, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("import execution log: %w", err)
	}
	return &Import{dir: directory(dir), owner: owner, tables: t}, nil
}

// Add takes the next block, or its stub, and where the log stands after it.
func (i *Import) Add(raw []byte, after logging.Point) error {
	if i.file == nil {
		if err := i.begin(); err != nil {
			return err
		}
	}
	f := i.file
	if len(raw) == logging.StubBytes {
		f.head.dropped++
	} else {
		f.head.kept++
	}
	f.head.size += uint64(len(raw))
	if _, err := f.to.Write(raw); err != nil {
		return fmt.Errorf("import execution log: %w", err)
	}
	i.at = after
	if i.next == len(i.tables.Sealed) || after.Position < i.tables.Sealed[i.next].End() {
		return nil
	}
	entry := &i.tables.Sealed[i.next]
	if end := endOf(entry); !sameEnd(&after, &end) {
		return ErrImport
	}
	i.next++
	return i.finish(entry)
}

// Finish makes everything durable.
func (i *Import) Finish() error {
	switch end := &i.tables.Point; {
	case i.next != len(i.tables.Sealed) || i.at.Position != end.Position || i.at.Chain != end.Chain:
		return ErrImport
	case i.file == nil:
		return nil // the log ends with a segment
	case i.file.head.dropped > 0:
		return ErrImport
	}
	return i.finish(nil)
}

// Abort removes what was not finished.
func (i *Import) Abort() error {
	if i.file == nil {
		return nil
	}
	f := i.file.file
	i.file = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (i *Import) begin() error {
	f := &importing{begin: i.tables.Tail, room: headerBytes}
	if i.next < len(i.tables.Sealed) {
		entry := &i.tables.Sealed[i.next]
		f.begin = headOfSegment(entry)
		if entry.ArchivedAt != 0 {
			f.room = compactedBytes
		}
	}
	var err error
	if f.file, err = i.temporary(f.begin.Start); err != nil {
		return err
	}
	f.to = bufio.NewWriterSize(io.NewOffsetWriter(f.file, f.room), scanBuffer)
	i.file = f
	return nil
}

func (i *Import) temporary(start uint64) (*os.File, error) {
	f, err := os.CreateTemp(string(i.dir), filepath.Base(i.dir.path(start, segmentSuffix))+".*"+tempSuffix)
	if err != nil {
		return nil, fmt.Errorf("import execution log: %w", err)
	}
	return f, nil
}

// finish gives the file its header and its name: a compacted segment's when stubs are
// in it, as of no index that is known; entry is nil for the tail.
func (i *Import) finish(entry *logging.Segment) error {
	f := i.file
	if err := f.to.Flush(); err != nil {
		return fmt.Errorf("import execution log: %w", err)
	}
	suffix, whole := segmentSuffix, headerOf(i.owner, f.begin)
	header := whole.append(nil)
	switch {
	case f.head.dropped > 0 && f.room == compactedBytes:
		f.head.head, f.head.chainOut, f.head.bytes = whole, entry.ChainOut, entry.Bytes
		suffix, header = compactedSuffix, f.head.append(nil)
	case f.head.dropped > 0:
		return ErrImport // a segment that was never archived
	case f.room == compactedBytes:
		if err := i.shift(f); err != nil {
			return err
		}
	}
	_, err := f.file.WriteAt(header, 0)
	if err == nil {
		err = f.file.Sync()
	}
	if err == nil {
		err = f.file.Close()
	}
	if err != nil {
		return fmt.Errorf("import execution log: %w", err)
	}
	i.file = nil
	return i.dir.rename(f.file.Name(), f.begin.Start, suffix)
}

// shift copies what was written behind room for a longer header: whether stubs come
// is known at a segment's end only.
func (i *Import) shift(f *importing) error {
	to, err := i.temporary(f.begin.Start)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(to, headerBytes), io.NewSectionReader(f.file, f.room, int64(f.head.size)))
	from := f.file
	f.file, f.room = to, headerBytes
	if err = errors.Join(err, from.Close(), os.Remove(from.Name())); err != nil {
		return fmt.Errorf("import execution log: %w", err)
	}
	return nil
}

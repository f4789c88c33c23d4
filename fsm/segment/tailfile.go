package segment

import (
	"fmt"
	"io"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// handle is what the store does to the file it appends to. It is *os.File; a
// test puts a failing disk in its place.
type handle interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// openFile opens the segment file that is appended to, creating it if needed.
func openFile(path string) (handle, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
}

// tailFile is the segment file that is being appended to.
type tailFile struct {
	handle
	start uint64
}

// offset of a position in the file.
func (t *tailFile) offset(position uint64) int64 {
	return offsetIn(t.start, position)
}

// offsetIn is the file offset of a position in the segment that begins at start.
func offsetIn(start, position uint64) int64 {
	return headerBytes + int64(position-start)
}

// createTail makes the segment file of h anew, with only its header, extended to
// the offset of position; what lies between means nothing. The file and its name
// are durable when it returns.
func (s *Store) createTail(h logging.Head, position uint64) (*tailFile, error) {
	file, err := s.open(s.dir.path(h.Start, segmentSuffix))
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	t := &tailFile{handle: file, start: h.Start}
	if position == h.Start {
		// A marker of an earlier file of this name does not describe this one.
		err = os.Remove(s.dir.path(h.Start, gapSuffix))
		if notExist(err) {
			err = nil
		}
	}
	header := headerOf(s.options.Owner, h)
	if err == nil {
		err = t.Truncate(0)
	}
	if err == nil {
		_, err = t.WriteAt(header.append(nil), 0)
	}
	if err == nil && position > h.Start {
		err = t.Truncate(t.offset(position))
	}
	if err == nil {
		err = t.Sync()
	}
	if err == nil {
		err = s.dir.sync()
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("create segment: %w", err)
	}
	return t, nil
}

package segment

import (
	"errors"
	"fmt"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// site is where the file lies that a sealed segment is read from.
type site uint8

const (
	inLog     site = iota // the full segment, among the others
	inArchive             // the full segment, in the archive
	inStubs               // the compacted segment
)

// segmentFile is an open file that a sealed segment is read from.
type segmentFile struct {
	file  *os.File
	size  int64
	where site
	sized bool // it has the segment's header and length
	whole bool // … and no gap marker
	head  compactedHead
	start uint64
}

func (x *segmentFile) compacted() bool { return x.where == inStubs }

// checksum tells a compacted file from another; 0 for a full one.
func (x *segmentFile) checksum() uint32 { return x.head.checksum }

// begin is the mark of the segment's first block.
func (x *segmentFile) begin(entry *logging.Segment) mark {
	return mark{seq: entry.FirstSeq, position: entry.Start, offset: x.offset(entry.Start)}
}

// offset of a position in the file, which for a compacted one must be the start.
func (x *segmentFile) offset(position uint64) uint64 {
	if x.compacted() {
		return compactedBytes
	}
	return uint64(offsetIn(x.start, position))
}

func (x *segmentFile) corrupt(position, offset uint64, err error) *CorruptError {
	return &CorruptError{Position: position, Path: x.file.Name(), Offset: int64(offset), Err: err}
}

func (x *segmentFile) close() { _ = x.file.Close() } // read only: nothing to lose

// errNotWhole: a file without the segment's header, or not of its length.
var errNotWhole = errors.New("the file is not the whole segment")

// openSource opens the best file that there is of a sealed segment: the full one,
// here or in the archive, else the compacted one, and else what is left of the full
// one. Where there is none it answers *CorruptError. Files are looked for in the
// order in which they are moved, so that none is missed.
func (s *Store) openSource(entry *logging.Segment) (*segmentFile, error) {
	full, err := s.openFull(s.dir, entry)
	if err != nil || (full != nil && full.whole) {
		return full, err
	}
	better, err := s.openKept(entry)
	switch {
	case err != nil || better != nil:
		if full != nil {
			full.close()
		}
		return better, err
	case full != nil:
		return full, nil
	}
	return nil, s.dir.corrupt(entry.Start, entry.Start, errNoFile)
}

// openKept opens what archiving leaves of a segment; nil when there is nothing.
func (s *Store) openKept(entry *logging.Segment) (*segmentFile, error) {
	archived, err := s.openFull(s.archive, entry)
	if err != nil {
		return nil, err
	}
	if archived != nil {
		if archived.where = inArchive; archived.whole {
			return archived, nil
		}
		archived.close()
	}
	return s.openCompacted(entry)
}

// openFull opens a full segment; nil when there is none.
func (s *Store) openFull(d directory, entry *logging.Segment) (*segmentFile, error) {
	x, err := openForReading(d.path(entry.Start, segmentSuffix), entry.Start)
	if x == nil || err != nil {
		return nil, err
	}
	h, err := readHead(x.file, x.file.Name())
	x.sized = err == nil && h.begins(s.options.Owner, headOfSegment(entry)) && x.size == offsetIn(entry.Start, entry.End())
	_, err = os.Lstat(d.path(entry.Start, gapSuffix))
	x.whole = x.sized && notExist(err)
	return x, nil
}

// openCompacted opens a compacted segment; nil when there is none that belongs here.
func (s *Store) openCompacted(entry *logging.Segment) (*segmentFile, error) {
	x, err := openForReading(s.dir.path(entry.Start, compactedSuffix), entry.Start)
	if x == nil || err != nil {
		return nil, err
	}
	x.where = inStubs
	x.head, err = readCompacted(x.file, x.file.Name())
	if err != nil || !x.head.belongs(s.options.Owner, entry) || x.size != int64(compactedBytes+x.head.size) {
		x.close()
		return nil, nil
	}
	x.sized, x.whole = true, true
	return x, nil
}

// hereFrom gives the point from which on a sealed segment is here: its beginning, or
// what its gap marker says. Its content is verified block by block when it is read.
func (s *Store) hereFrom(entry *logging.Segment) (from logging.Point, here bool) {
	src, err := s.openSource(entry)
	if err != nil {
		return from, false
	}
	src.close()
	if src.whole {
		return beginningOf(headOfSegment(entry)), true
	}
	if !src.sized {
		return from, false
	}
	from, err = s.dir.begin(s.options.Owner, headOfSegment(entry))
	return from, err == nil && from.Position < entry.End()
}

func (s *Store) isHere(entry *logging.Segment) bool {
	_, here := s.hereFrom(entry)
	return here
}

// openForReading opens a file of the segment that begins at start; nil when it is not there.
func openForReading(path string, start uint64) (*segmentFile, error) {
	f, err := os.Open(path)
	if notExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open segment: %w", err), f.Close())
	}
	return &segmentFile{file: f, size: info.Size(), start: start}, nil
}

package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// rest reads what the files hold beyond the log's end: bytes that were derived
// before the last crash and wait to be compared. Guarded by Store.files.
type rest struct {
	file   *tailFile
	size   int64 // of the file
	window []byte
	at     int64 // file offset of window
}

// restWindow is how much is read at a time, in bytes.
const restWindow = 1 << 20

// peek gives up to n bytes at a position; fewer at the end of the file.
func (r *rest) peek(position uint64, n int) ([]byte, error) {
	offset := r.file.offset(position)
	n = int(min(int64(n), r.size-offset))
	if n <= 0 {
		return nil, nil
	}
	if from := offset - r.at; from >= 0 && from+int64(n) <= int64(len(r.window)) {
		return r.window[from : from+int64(n)], nil
	}
	want := int(min(int64(max(n, restWindow)), r.size-offset))
	if cap(r.window) < want {
		r.window = make([]byte, want)
	}
	r.window, r.at = r.window[:want], offset
	if _, err := r.file.ReadAt(r.window, offset); err != nil && !errors.Is(err, io.EOF) {
		r.window = r.window[:0]
		return nil, fmt.Errorf("read segment: %w", err)
	}
	return r.window[:n], nil
}

// block gives the valid block at a position, if there is one.
func (r *rest) block(position uint64) (b logging.Block, ok bool, err error) {
	prefix, err := r.peek(position, logging.LengthBytes)
	if err != nil {
		return logging.Block{}, false, err
	}
	length, malformed := logging.BlockLen(prefix)
	if malformed != nil {
		return logging.Block{}, false, nil
	}
	raw, err := r.peek(position, int(length))
	if err != nil {
		return logging.Block{}, false, err
	}
	b, malformed = logging.Decode(raw)
	return b, malformed == nil, nil
}

// compare a re-derived block with what the files hold. It answers true when the
// block was kept; false when comparing has ended and the block is to be written.
func (s *Store) compare(block []byte, after *logging.Tables) (kept bool, err error) {
	s.files.Lock()
	defer s.files.Unlock()
	position := after.Position - uint64(len(block))
	stored, err := s.rest.peek(position, len(block))
	if err != nil {
		return false, s.fail(err)
	}
	if !bytes.Equal(stored, block) {
		return false, s.differs(position, block)
	}
	s.mu.Lock()
	sealed := s.advance(after)
	s.written, s.synced = after.Position, after.Position
	s.kept += uint64(len(block))
	s.mu.Unlock()
	if sealed {
		err = s.compareNext(after)
	} else if s.rest.size == s.rest.file.offset(after.Position) {
		err = s.endComparing(after.Position)
	}
	if err != nil {
		return false, s.fail(err)
	}
	return true, nil
}

// differs judges the bytes at position, which are not the block: none, another
// valid block, or no block at all.
func (s *Store) differs(position uint64, block []byte) error {
	stored, valid, err := s.rest.block(position)
	if err != nil {
		return s.fail(err)
	}
	if valid {
		return s.fail(divergence(position, &stored, block))
	}
	if err := s.endComparing(position); err != nil {
		return s.fail(err)
	}
	return nil
}

// compareNext goes on in the file of the segment that follows a kept one.
func (s *Store) compareNext(after *logging.Tables) error {
	if err := s.cutRest(after.Position); err != nil {
		return err
	}
	if err := s.recall(after.Tail.Start); err != nil {
		return err
	}
	path := s.dir.path(after.Tail.Start, segmentSuffix)
	h, err := headOf(path)
	missing := notExist(err) || errors.Is(err, errTorn)
	switch {
	case missing:
		s.log.Info("execution log goes on in a new segment", "position", after.Position, "because", err)
	case err != nil:
		return fmt.Errorf("open segment: %w", err)
	case h.start != after.Tail.Start || h.firstSeq != after.Tail.FirstSeq || h.chainIn != after.Tail.ChainIn:
		return &DivergenceError{Position: after.Position, Index: after.LastIndex, What: "segment header"}
	}
	var tail *tailFile
	var size int64 = headerBytes
	if missing {
		tail, err = s.createTail(after.Tail, after.Position)
	} else {
		tail, size, err = s.reopenTail(path, after.Tail.Start)
	}
	if err != nil {
		return err
	}
	err = s.tail.Close()
	s.tail, s.rest = tail, &rest{file: tail, size: size}
	s.retire()
	if err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	if size == headerBytes {
		return s.endComparing(after.Position)
	}
	return nil
}

// reopenTail opens an existing segment file for going on.
func (s *Store) reopenTail(path string, start uint64) (*tailFile, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open segment: %w", err)
	}
	file, err := s.open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open segment: %w", err)
	}
	return &tailFile{handle: file, start: start}, info.Size(), nil
}

// cutRest removes what follows position in the current file. A valid block there
// is one that the log does not have.
func (s *Store) cutRest(position uint64) error {
	r := s.rest
	surplus := r.size - r.file.offset(position)
	if surplus <= 0 {
		return nil
	}
	stored, valid, err := r.block(position)
	if err != nil {
		return err
	}
	if valid {
		return &DivergenceError{Position: position, Index: stored.Index, Seq: stored.FirstSeq, What: "segment boundary"}
	}
	s.log.Warn("cut the execution log", "position", position, "bytes", surplus, "kind", r.kind(position))
	if err := r.file.Truncate(r.file.offset(position)); err != nil {
		return fmt.Errorf("cut segment: %w", err)
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("fsync segment: %w", err)
	}
	r.size, r.window = r.file.offset(position), nil
	s.mu.Lock()
	s.cut += uint64(surplus)
	s.mu.Unlock()
	return nil
}

// kind of damage at a position that holds no valid block: "damaged" when an
// intact block follows where the length says, else "torn".
func (r *rest) kind(position uint64) string {
	prefix, err := r.peek(position, logging.LengthBytes)
	if err != nil {
		return "unreadable"
	}
	length, malformed := logging.BlockLen(prefix)
	if malformed != nil {
		return "torn"
	}
	if _, follows, err := r.block(position + uint64(length)); err == nil && follows {
		return "damaged"
	}
	return "torn"
}

// endComparing removes everything from position on, later files first, and goes
// over to writing. Called with files held.
func (s *Store) endComparing(position uint64) error {
	removed, err := s.dir.remove(func(start uint64) bool { return start > s.rest.file.start })
	if err != nil {
		return err
	}
	if removed > 0 {
		s.log.Warn("removed later files of the execution log", "position", position, "files", removed)
	}
	if err := s.cutRest(position); err != nil {
		return err
	}
	s.rest = nil
	s.setComparing(false)
	return nil
}

// syncFrom makes durable what the files hold from the tail on: a process that
// was killed leaves bytes in the page cache that no fsync has covered.
func (s *Store) syncFrom(start uint64, tail *tailFile) error {
	starts, err := s.dir.starts(segmentSuffix)
	if err != nil {
		return err
	}
	for _, later := range starts {
		if later <= start {
			continue
		}
		file, err := s.open(s.dir.path(later, segmentSuffix))
		if err == nil {
			err = errors.Join(file.Sync(), file.Close())
		}
		if err != nil {
			return fmt.Errorf("fsync segment: %w", err)
		}
	}
	if err := tail.Sync(); err != nil {
		return fmt.Errorf("fsync segment: %w", err)
	}
	return s.dir.sync()
}

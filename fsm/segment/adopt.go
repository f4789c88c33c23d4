package segment

import (
	"errors"
	"fmt"
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// errNotOnce: Resume belongs to the start of a store.
var errNotOnce = errors.New("execution log: already resumed")

// Resume goes on where the restored state says the log ends, once, after Open.
// What the files hold beyond that is kept and compared with what Append brings.
// It changes nothing when it answers *GapError (the local log ends before),
// *CorruptError (it is damaged before) or *DivergenceError (it is another log).
func (s *Store) Resume(t logging.Tables) error {
	s.mu.Lock()
	current := s.phase
	s.mu.Unlock()
	switch current {
	case ready:
		return errNotOnce
	case closed:
		return ErrClosed
	}
	s.repair.Lock()
	defer s.repair.Unlock()
	s.files.Lock()
	defer s.files.Unlock()
	found, err := s.verifyTail(&t)
	if err != nil {
		return err
	}
	tail, size, err := s.openTail(&t, found)
	if err != nil {
		return err
	}
	if err := s.syncFrom(t.Tail.Start, tail); err != nil {
		return errors.Join(err, tail.Close())
	}
	if err := s.install(&t, tail, found); err != nil {
		return errors.Join(err, tail.Close())
	}
	s.rest = &rest{file: tail, size: size}
	s.setComparing(true)
	if size <= tail.offset(t.Position) {
		return s.endComparing(t.Position)
	}
	return nil
}

// Reset goes on where a snapshot from the leader ends, from any state of the
// store, on the goroutine that appends. Whatever the files hold beyond is
// removed, and so is what contradicts the manifest. Where the log before is not
// here, or not intact, history begins at the snapshot: *HistoryBehindError below,
// until what Missing names has been fetched. The sound beginning of a file that is
// no longer whole counts as fetched.
func (s *Store) Reset(t logging.Tables) error {
	if err := s.drain(); err != nil {
		return err
	}
	s.repair.Lock()
	defer s.repair.Unlock()
	s.files.Lock()
	defer s.files.Unlock()
	s.dropPartial()
	found, err := s.verifyTail(&t)
	if err != nil {
		if !aboutContent(err) {
			return s.fail(err)
		}
		s.log.Warn("history is not here", "from", t.NextSeq, "position", t.Position, "because", err)
		found = tailFound{begin: t.Point}
	}
	s.withdraw(&t)
	if err := s.dropBeyond(&t); err != nil {
		return s.fail(err)
	}
	if found.begin.Position > t.Tail.Start && found.begin.Position == t.Position {
		if err := s.markGap(&t); err != nil {
			return s.fail(err)
		}
		if !found.usable {
			if err := s.dir.setAside(t.Tail.Start); err != nil {
				return s.fail(err)
			}
		}
	}
	tail, size, err := s.openTail(&t, found)
	if err == nil && size > tail.offset(t.Position) {
		if err = tail.Truncate(tail.offset(t.Position)); err == nil {
			err = tail.Sync()
		}
	}
	if err != nil {
		return s.fail(fmt.Errorf("reset execution log: %w", err))
	}
	if s.tail != nil {
		if err := s.tail.Close(); err != nil {
			return s.fail(fmt.Errorf("close segment: %w", err))
		}
	}
	if err := s.install(&t, tail, found); err != nil {
		return s.fail(err)
	}
	s.rest = nil
	s.setComparing(false)
	return nil
}

// drain waits until the flusher has nothing left to write.
func (s *Store) drain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && s.phase == ready && s.synced < s.end.Position {
		s.wanted = s.end.Position
		s.kickFlusher()
		s.moved.Wait()
	}
	if s.phase == closed {
		return ErrClosed
	}
	return s.err
}

// withdraw takes all history from the readers before files are exchanged.
func (s *Store) withdraw(t *logging.Tables) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.published = bound{position: t.Position, seq: t.NextSeq}
	s.floor = t.Point
}

// aboutContent tells what the files hold from a failure to read them.
func aboutContent(err error) bool {
	var short *GapError
	var damaged *CorruptError
	var other *DivergenceError
	return errors.As(err, &short) || errors.As(err, &damaged) || errors.As(err, &other)
}

// dropBeyond removes the files after the tail, and those that the manifest does
// not know or knows to be different. A segment of the manifest that is not whole
// is set aside for the sake of its beginning.
func (s *Store) dropBeyond(t *logging.Tables) error {
	starts, err := s.dir.starts(segmentSuffix)
	if err != nil {
		return err
	}
	for _, start := range starts {
		if entry, ok := sealedAt(t.Sealed, start); ok && !s.isHere(&entry) {
			if err := s.dir.setAside(start); err != nil {
				return err
			}
		}
	}
	_, err = s.dir.remove(func(start uint64) bool {
		if start >= t.Tail.Start {
			return start > t.Tail.Start
		}
		entry, ok := sealedAt(t.Sealed, start)
		return !ok || !s.isHere(&entry)
	})
	return err
}

// markGap writes down, before the file is touched, that the tail holds nothing
// before the log's end.
func (s *Store) markGap(t *logging.Tables) error {
	g := gap{
		owner: s.options.Owner, start: t.Tail.Start,
		from: t.Position, firstSeq: t.NextSeq, chain: t.Chain,
	}
	return s.dir.replace(s.dir.path(t.Tail.Start, gapSuffix), g.append(nil))
}

// openTail opens the file found, or makes it when there was nothing of use.
func (s *Store) openTail(t *logging.Tables, found tailFound) (*tailFile, int64, error) {
	if found.usable {
		file, err := s.open(s.dir.path(t.Tail.Start, segmentSuffix))
		if err != nil {
			return nil, 0, fmt.Errorf("open segment: %w", err)
		}
		return &tailFile{handle: file, start: t.Tail.Start}, found.size, nil
	}
	tail, err := s.createTail(t.Tail, found.begin.Position)
	if err != nil {
		return nil, 0, err
	}
	return tail, tail.offset(found.begin.Position), nil
}

// install makes the tables the end of the log. Called with repair and files held.
func (s *Store) install(t *logging.Tables, tail *tailFile, found tailFound) error {
	floor := s.floorOf(t.Sealed, found.begin)
	if floor.NextSeq > 1 {
		s.log.Warn("history is incomplete", "from", floor.NextSeq, "position", floor.Position)
	}
	bad, err := s.sweep(t, &floor)
	if err != nil {
		return err
	}
	s.tail = tail
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = *t
	s.published = bound{position: t.Position, seq: t.NextSeq}
	s.floor, s.bad = floor, bad
	s.archived = make(map[uint64]uint64)
	s.written, s.synced, s.wanted = t.Position, t.Position, 0
	s.memory.waiting, s.memory.buffered = nil, 0
	segment := newLive(t.Tail)
	segment.marks = found.marks
	s.live, s.unindexed = []*live{segment}, nil
	if s.phase == opened {
		s.phase = ready
	}
	s.wake()
	return nil
}

// floorOf goes back from a point as far as every segment is there in its full
// length: where the unbroken history that is here begins.
func (s *Store) floorOf(sealed []logging.Segment, floor logging.Point) logging.Point {
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].Start >= floor.Position })
	for i--; i >= 0; i-- {
		entry := &sealed[i]
		from, here := s.hereFrom(entry)
		if floor.Position != entry.End() || !here {
			break
		}
		floor = from
	}
	return floor
}

func (s *Store) setComparing(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.comparing = on
}

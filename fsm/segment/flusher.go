package segment

import (
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// flushLoop is the one goroutine that writes: full chunks as they come, all
// there is and an fsync every FlushEvery and when somebody waits in Sync.
func (s *Store) flushLoop() {
	defer func() {
		close(s.done)
		s.mu.Lock()
		s.wake() // whoever waits in Sync sees that nothing more will come
		s.mu.Unlock()
	}()
	ticker := time.NewTicker(s.options.FlushEvery)
	defer ticker.Stop()
	for {
		due, last := false, false
		select {
		case <-s.kick:
		case <-ticker.C:
			due = true
		case <-s.closing:
			due, last = true, true
		}
		if err := s.flush(due); err != nil {
			_ = s.fail(err) // sticky: Err and the next Append tell it
			return
		}
		if last {
			return
		}
		s.indexSealed()
	}
}

// flush writes the full chunks; with due, or when Sync waits, also the one that
// is still filling, and fsyncs.
func (s *Store) flush(due bool) error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	due = due || s.wanted > s.synced
	until := s.end.Position // not further, or steady appends would keep us here
	s.mu.Unlock()
	for {
		c, data, from := s.next(due, until)
		if c == nil {
			break
		}
		// A chunk that was written before it was closed has nothing left.
		if len(data) > 0 {
			if _, err := s.tail.WriteAt(data, s.tail.offset(from)); err != nil {
				return fmt.Errorf("write segment: %w", err)
			}
		}
		s.mu.Lock()
		s.written += uint64(len(data))
		done := s.memory.wrote(len(data))
		seals, next := done && c.seals, c.next
		s.moved.Broadcast()
		s.mu.Unlock()
		if seals {
			if err := s.seal(next); err != nil {
				return err
			}
		}
	}
	if !due {
		return nil
	}
	return s.fsync()
}

// next gives what is to be written: the first chunk, its unwritten bytes, and
// their position. It gives no chunk when there is nothing to do.
func (s *Store) next(partial bool, until uint64) (c *chunk, data []byte, from uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.memory.waiting) == 0 {
		return nil, nil, 0
	}
	c = s.memory.waiting[0]
	if !c.closed && (!partial || s.written >= until) {
		return nil, nil, 0
	}
	return c, c.data[c.flushed:], s.written
}

// fsync makes what is written durable. Called with files held.
func (s *Store) fsync() error {
	s.mu.Lock()
	written, synced := s.written, s.synced
	s.mu.Unlock()
	if written == synced {
		return nil
	}
	if err := s.tail.Sync(); err != nil {
		return fmt.Errorf("fsync segment: %w", err)
	}
	s.mu.Lock()
	s.synced = max(s.synced, written)
	s.moved.Broadcast()
	s.mu.Unlock()
	return nil
}

// seal ends the tail file, all of which is written, and begins the next one.
// Called with files held.
func (s *Store) seal(next logging.Head) error {
	if err := s.fsync(); err != nil {
		return err
	}
	if err := s.tail.Close(); err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	s.tail = nil
	tail, err := s.createTail(next, next.Start)
	if err != nil {
		return err
	}
	s.tail = tail
	s.retire()
	return nil
}

// retire hands the oldest live segment, whose file is complete, over to its
// sidecar index.
func (s *Store) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.live[0]
	s.live = append(s.live[:0], s.live[1:]...)
	if entry, ok := sealedAt(s.end.Sealed, done.start); ok {
		s.unindexed = append(s.unindexed, entry)
	}
}

// indexSealed writes the sidecars of freshly sealed segments. What cannot be
// indexed now is tried again when it is wanted.
func (s *Store) indexSealed() {
	for {
		s.mu.Lock()
		if len(s.unindexed) == 0 || s.phase == closed {
			s.mu.Unlock()
			return
		}
		entry, floor := s.unindexed[0], s.floor.Position
		s.unindexed = append(s.unindexed[:0], s.unindexed[1:]...)
		s.mu.Unlock()
		if _, err := s.loadIndex(&entry, floor); err != nil {
			s.log.Warn("segment not indexed", "segment", entry.Start, "error", err)
		}
	}
}

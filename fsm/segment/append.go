package segment

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// errOutOfOrder is a broken invariant of the caller: final, as every other
// failure of Append.
var errOutOfOrder = errors.New("execution log: appended block does not continue the log")

// Append adds a block, which is copied; after is the log's tables with the block
// taken into account. It is called on one goroutine. It copies into memory and
// returns, except while re-derived blocks are compared with the files after a
// restart, and when more than BufferBytes wait for the disk. The block is not
// seen by readers before Publish.
func (s *Store) Append(block []byte, after *logging.Tables) error {
	s.mu.Lock()
	err := s.check(block, after)
	comparing := s.comparing
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if comparing {
		if kept, err := s.compare(block, after); kept || err != nil {
			return err
		}
	}
	return s.buffer(block, after)
}

// check that the block may be appended. Called with mu held.
func (s *Store) check(block []byte, after *logging.Tables) error {
	switch {
	case s.err != nil:
		return s.err
	case s.phase == opened:
		return ErrNotReady
	case s.phase == closed:
		return ErrClosed
	case after.Position != s.end.Position+uint64(len(block)), after.NextSeq <= s.end.NextSeq,
		len(block) < logging.MinBlockBytes,
		after.Tail.Start != s.end.Tail.Start && after.Tail.Start != after.Position:
		return s.failLocked(errOutOfOrder)
	}
	return nil
}

// buffer puts the block into memory.
func (s *Store) buffer(block []byte, after *logging.Tables) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.memory.buffered >= s.options.BufferBytes && s.err == nil && s.phase == ready {
		s.kickFlusher()
		s.moved.Wait()
	}
	switch {
	case s.err != nil:
		return s.err
	case s.phase != ready:
		return ErrClosed
	}
	c := s.memory.room(s.end.Position, len(block))
	c.data = append(c.data, block...)
	s.memory.buffered += len(block)
	if s.advance(after) {
		c.closed, c.seals, c.next = true, true, after.Tail
	}
	if c.closed || len(s.memory.waiting) > 1 {
		s.kickFlusher()
	}
	return nil
}

// advance notes the block between end and after, and tells whether it was the
// last of its segment. Called with mu held.
func (s *Store) advance(after *logging.Tables) (sealed bool) {
	s.live[len(s.live)-1].note(s.end.Position, s.end.NextSeq)
	sealed = after.Tail.Start != s.end.Tail.Start
	s.end = *after
	if sealed {
		s.live = append(s.live, newLive(after.Tail))
	}
	return sealed
}

// Publish lets readers see all that was appended, and wakes those that wait for
// growth.
func (s *Store) Publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != ready || s.published.position == s.end.Position {
		return
	}
	s.published = bound{position: s.end.Position, seq: s.end.NextSeq}
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// Grown tells the busSeq that the next published record will have, and gives a
// channel that is closed when there are more, or when the store fails or is
// closed. To follow the log: read up to its end, take Grown, and wait only when
// its busSeq is the one that reading ended with.
func (s *Store) Grown() (nextSeq uint64, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown == nil {
		s.grown = make(chan struct{})
		if s.phase == closed || s.err != nil {
			close(s.grown)
			more, s.grown = s.grown, nil
			return s.published.seq, more
		}
	}
	return s.published.seq, s.grown
}

// Sync waits until everything before position is durable. A position beyond the
// last Append is the caller's error.
func (s *Store) Sync(ctx context.Context, position uint64) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moved.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == opened {
		return ErrNotReady
	}
	if position > s.end.Position {
		return fmt.Errorf("execution log: sync to position %d, but the log ends at %d", position, s.end.Position)
	}
	for s.synced < position {
		switch {
		case s.err != nil:
			return s.err
		case ctx.Err() != nil:
			return ctx.Err()
		case s.phase == closed && s.flusherEnded():
			return ErrClosed
		}
		if s.wanted < position {
			s.wanted = position
			s.kickFlusher()
		}
		s.moved.Wait()
	}
	return s.err
}

func (s *Store) flusherEnded() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// kickFlusher never blocks: one pending wake-up is enough.
func (s *Store) kickFlusher() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

package logsink

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxBytes is how much may wait for the reader; what comes then is dropped.
const maxBytes = 1 << 20

// Sink is a writer that never waits.
type Sink struct {
	to io.Writer

	mu      sync.Mutex // guards what follows
	waiting []byte
	dropped int       // writes, since the last one that found room
	lost    uint64    // writes that were dropped, ever
	writing bool      // what was taken is being written
	since   time.Time // when the write that goes on began
	closed  bool
	wake    chan struct{} // one place
	done    chan struct{} // closed when run has returned
}

// New makes a Sink. Close ends it.
func New(to io.Writer) *Sink {
	s := &Sink{to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.run()
	return s
}

// Write takes a line, or drops it when too much waits. Its error is nil.
func (s *Sink) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting)+len(line) > maxBytes {
		s.dropped++
		s.lost++
		return len(line), nil
	}
	if s.dropped > 0 {
		s.waiting = fmt.Appendf(s.waiting, "%d log lines were dropped: nobody read this output\n", s.dropped)
		s.dropped = 0
	}
	s.waiting = append(s.waiting, line...)
	s.stir()
	return len(line), nil
}

func (s *Sink) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Blocked is how long the write that goes on has been waiting; 0 when none does.
func (s *Sink) Blocked() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writing {
		return 0
	}
	return time.Since(s.since)
}

// Dropped is how many lines were dropped.
func (s *Sink) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

func (s *Sink) run() {
	defer close(s.done)
	for {
		lines, closed := s.take()
		switch {
		case len(lines) > 0:
			_, _ = s.to.Write(lines) // there is nowhere to say that it failed
		case closed:
			return
		default:
			<-s.wake
		}
	}
}

// take begins a write of what waits.
func (s *Sink) take() (lines []byte, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, s.waiting = s.waiting, nil
	if s.writing = len(lines) > 0; s.writing {
		s.since = time.Now()
	}
	return lines, s.closed
}

// Close writes what is left, as long as the context allows.
func (s *Sink) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stir()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
}

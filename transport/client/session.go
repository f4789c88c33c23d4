package client

import (
	"context"
	"sync"

	"github.com/omnikernel/omnikernel/transport/api"
)

// session numbers a client's commands (CL-3). Sequences are given in order;
// the floor is the lowest that has no settled answer yet; a sequence is given
// only while it is less than 256 above the floor.
type session struct {
	opening sync.Mutex // held while an id is asked for, so that one is

	mu      sync.Mutex // guards what follows
	id      string     // empty: none is open
	next    uint64     // the next sequence, from 1
	floor   uint64
	settled [api.SessionWindow]bool // by sequence modulo the window
	moved   chan struct{}           // closed when the floor rises or the session ends; nil when nobody waits
}

func newSession() *session { return &session{next: 1, floor: 1} }

// ticket is one sequence of one session.
type ticket struct {
	id  string
	seq uint64
}

// take gives the next n sequences, one after the other, as soon as the window
// has room for all of them. n is at most the window. ok is false when there is
// no session: open one.
func (s *session) take(ctx context.Context, n uint64) (first ticket, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.id == "" {
			return ticket{}, false, nil
		}
		if s.next+n <= s.floor+api.SessionWindow {
			first = ticket{s.id, s.next}
			s.next += n
			return first, true, nil
		}
		if s.moved == nil {
			s.moved = make(chan struct{})
		}
		moved := s.moved
		s.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return ticket{}, false, ctx.Err()
		}
	}
}

// floorOf is the floor to send with a ticket's command.
func (s *session) floorOf(t ticket) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.id != s.id {
		return t.seq // a session that has ended: nobody else waits in it
	}
	return s.floor
}

// settle says that the answer to a ticket is no longer wanted.
func (s *session) settle(t ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.id != s.id {
		return
	}
	s.settled[t.seq%api.SessionWindow] = true
	for s.floor < s.next && s.settled[s.floor%api.SessionWindow] {
		s.settled[s.floor%api.SessionWindow] = false
		s.floor++
		s.wake()
	}
}

// end forgets a session that has expired. The commands that are under way in it
// learn it each by itself.
func (s *session) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == id {
		s.id = ""
		s.wake()
	}
}

// begin starts a fresh session.
func (s *session) begin(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.next, s.floor = id, 1, 1
	s.settled = [api.SessionWindow]bool{}
	s.wake()
}

func (s *session) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id != ""
}

// wake everybody who waits in take. Called with mu held.
func (s *session) wake() {
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}

package raftstream

import (
	"net"
	"sync"
)

// streamSet knows the open connections of one owner, so that closing the owner
// closes them all and ends whoever reads from them.
type streamSet struct {
	mu     sync.Mutex // guards open and closed
	open   map[*stream]struct{}
	closed bool
}

// stream is a connection that leaves its set when it is closed.
type stream struct {
	net.Conn
	set     *streamSet
	node    string // the other side's id, as it says itself
	onClose func()
	once    sync.Once
}

// Close closes the connection; later calls do nothing.
func (s *stream) Close() error {
	var err error
	s.once.Do(func() {
		s.set.remove(s)
		err = s.Conn.Close()
		if s.onClose != nil {
			s.onClose()
		}
	})
	return err
}

// add wraps conn. It closes conn and answers nil when the set was closed.
// onClose runs once, also then.
func (set *streamSet) add(conn net.Conn, node string, onClose func()) *stream {
	s := &stream{Conn: conn, set: set, node: node, onClose: onClose}
	set.mu.Lock()
	closed := set.closed
	if !closed {
		if set.open == nil {
			set.open = make(map[*stream]struct{})
		}
		set.open[s] = struct{}{}
	}
	set.mu.Unlock()
	if closed {
		_ = s.Close()
		return nil
	}
	return s
}

func (set *streamSet) remove(s *stream) {
	set.mu.Lock()
	defer set.mu.Unlock()
	delete(set.open, s)
}

func (set *streamSet) close() {
	set.mu.Lock()
	set.closed = true
	set.mu.Unlock()
	set.drop()
}

// drop closes what is open.
func (set *streamSet) drop() {
	set.mu.Lock()
	open := make([]*stream, 0, len(set.open))
	for s := range set.open {
		open = append(open, s)
	}
	set.mu.Unlock()
	for _, s := range open {
		_ = s.Close()
	}
}

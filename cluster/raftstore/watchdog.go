package raftstore

import "time"

// guard watches one write. Stop the timer it returns when the write is over.
//
// A write that hangs cannot be given up: the library's goroutine stays in it.
// Meanwhile a leader goes on sending heartbeats, which need no disk, and
// nobody else is elected. So the process must end, and Fatal must not wait for
// the store.
func (s *Store) guard(operation string) *time.Timer {
	return time.AfterFunc(s.stall, func() { _ = s.fail(operation, ErrStalled) })
}

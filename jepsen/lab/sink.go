package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// sinkBytes is the room of a node's stderr pipe: a node whose stderr is not read
// should find out soon.
const sinkBytes = 4096

// padding is what a pipe is filled with, and never reaches the log.
const padding = 0

// stderr is the number of a process's file.
const stderr = 2

// sink is who reads a node's stderr, start after start. While it is blocked it does
// not.
type sink struct {
	change sync.Mutex // held while it is blocked or unblocked, from first to last

	mu      sync.Mutex    // guards what follows
	open    chan struct{} // closed while it reads
	blocked bool
	reader  *reader // of the newest process; nil when that has ended
}

func newSink() *sink {
	s := &sink{open: make(chan struct{})}
	close(s.open)
	return s
}

// reader reads one process's stderr.
type reader struct {
	sink  *sink
	from  *os.File
	stops chan struct{} // closed when it has stopped, after it was blocked; guarded by the sink's mu
	last  chan struct{} // closed when the process has ended: what is left is read, blocked or not
	done  chan struct{} // closed when it has read all
}

// read copies what comes through a pipe into a log, until its end.
func (s *sink) read(from, log *os.File) *reader {
	r := &reader{sink: s, from: from, last: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	s.reader = r
	s.mu.Unlock()
	go r.run(log)
	return r
}

func (r *reader) run(log io.Writer) {
	defer close(r.done)
	defer r.from.Close()
	text := make([]byte, sinkBytes)
	for {
		r.pass()
		n, err := r.from.Read(text)
		said := bytes.ReplaceAll(text[:n], []byte{padding}, nil)
		_, _ = log.Write(said) // a full disk has other witnesses
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// finish reads what a process that has ended has left.
func (r *reader) finish() {
	r.sink.mu.Lock()
	close(r.last)
	_ = r.from.SetReadDeadline(time.Time{}) // or it is read to its end already
	if r.sink.reader == r {
		r.sink.reader = nil
	}
	r.sink.mu.Unlock()
	<-r.done
}

// pass waits while the sink is blocked.
func (r *reader) pass() {
	r.sink.mu.Lock()
	open := r.sink.open
	if r.stops != nil {
		close(r.stops)
		r.stops = nil
	}
	r.sink.mu.Unlock()
	select {
	case <-open:
	case <-r.last:
	}
}

// block makes the reader stop that there is, and says when it has; nil when there is
// none.
func (s *sink) block() (r *reader, stopped <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocked {
		return nil, nil, nil
	}
	s.blocked, s.open = true, make(chan struct{})
	if s.reader == nil {
		return nil, nil, nil
	}
	s.reader.stops = make(chan struct{})
	return s.reader, s.reader.stops, s.reader.from.SetReadDeadline(time.Unix(1, 0))
}

// BlockStderr stops reading the node's stderr, and fills the pipe: from now on its
// writes to it wait. Of a process that is started meanwhile nothing is read either,
// but it has the room of a pipe.
func (n *Node) BlockStderr() error {
	s := n.sink
	s.change.Lock()
	defer s.change.Unlock()
	r, stopped, err := s.block()
	if r == nil {
		return nil
	}
	if err == nil {
		select { // a read under way would take what fills the pipe
		case <-stopped:
		case <-r.done:
		}
		err = fill(r.from)
	}
	if errors.Is(err, os.ErrClosed) { // the process has ended
		err = nil
	}
	return err
}

// UnblockStderr reads on.
func (n *Node) UnblockStderr() error {
	s := n.sink
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.blocked {
		return nil
	}
	s.blocked = false
	defer close(s.open)
	if s.reader == nil {
		return nil
	}
	err := s.reader.from.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrClosed) { // the process has ended
		err = nil
	}
	return err
}

// StderrWaits tells whether the node waits at this moment to write to its stderr: a
// sink that blocks is no fault before.
func (n *Node) StderrWaits() (bool, error) {
	pid := n.PID()
	if pid == 0 {
		return false, fmt.Errorf("%s: %w", n.id, ErrDown)
	}
	return writes(pid, stderr)
}

package disk

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Op is what a Fault strikes.
type Op string

const (
	// Fsync is fsync and fdatasync, of files and of directories.
	Fsync Op = "fsync"
	// Write is all that changes something: writes, truncating and allocating, and
	// creating, renaming and removing names. Removing needs no room: ENOSPC does not
	// strike it.
	Write Op = "write"
	// Read is reading a file's content. What the kernel has in its cache is read
	// again after an Inject.
	Read Op = "read"
)

// Fault is one way in which a Faulty fails.
type Fault struct {
	Op Op
	// Files is a pattern (path.Match) of the base names that it strikes; empty is
	// every file and directory.
	Files string
	// After is how many operations pass before the first is struck; Times how many
	// are struck, 0 for all until the fault is healed.
	After, Times int
	// Errno is what a struck operation answers; 0 leaves it in order, or flips a
	// bit when it is a Read.
	Errno syscall.Errno
	// Delay is how long a struck operation takes before that. It ends early when the
	// fault is healed.
	Delay time.Duration
	// Part of a struck write to a file is done before it fails.
	Part bool
}

// Valid says what is wrong with a fault.
func (f Fault) Valid() error {
	switch {
	case f.Op != Fsync && f.Op != Write && f.Op != Read:
		return fmt.Errorf("fault: unknown operation %q, want %q, %q or %q", f.Op, Fsync, Write, Read)
	case f.After < 0 || f.Times < 0 || f.Delay < 0:
		return fmt.Errorf("fault: negative numbers in %+v", f)
	case f.Op != Read && f.Errno == 0 && f.Delay == 0:
		return fmt.Errorf("fault: neither an error nor a delay in %+v", f)
	case f.Part && (f.Op != Write || f.Errno == 0):
		return fmt.Errorf("fault: only a write that fails can be done in part: %+v", f)
	}
	if _, err := path.Match(f.Files, ""); err != nil {
		return fmt.Errorf("fault: pattern %q: %w", f.Files, err)
	}
	return nil
}

// active is a fault that is switched on.
type active struct {
	Fault
	seen, struck int
	healed       chan struct{}
}

// faults are those that are switched on, the oldest first.
type faults struct {
	mu     sync.Mutex
	active []*active
}

func (s *faults) add(f Fault) *active {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &active{Fault: f, healed: make(chan struct{})}
	s.active = append(s.active, a)
	return a
}

func (s *faults) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.active {
		close(a.healed)
	}
	s.active = nil
}

// struck is how many operations the fault has struck.
func (s *faults) struck(a *active) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return a.struck
}

// strike is the fault that strikes an operation, nil without one.
func (s *faults) strike(op Op, name string, removes bool) *active {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.active, func(a *active) bool {
		if a.Op != op || (a.Times > 0 && a.struck >= a.Times) || (removes && a.Errno == syscall.ENOSPC) {
			return false
		}
		if matches, _ := path.Match(a.Files, name); a.Files != "" && !matches { // the pattern is valid
			return false
		}
		a.seen++
		return a.seen > a.After
	})
	if i < 0 {
		return nil
	}
	s.active[i].struck++
	return s.active[i]
}

// wait lets the fault's delay go by, and tells whether the caller still lives. What
// the dead were waiting for is not done.
func (a *active) wait(ctx context.Context) bool {
	if a.Delay == 0 {
		return true
	}
	timer := time.NewTimer(a.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.healed:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// before is what every operation does first.
func (s *faults) before(ctx context.Context, op Op, name string, removes bool) (*active, syscall.Errno) {
	a := s.strike(op, name, removes)
	if a == nil {
		return nil, 0
	}
	if !a.wait(ctx) {
		return a, syscall.EINTR
	}
	return a, a.Errno
}

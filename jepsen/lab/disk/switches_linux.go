package disk

import (
	"slices"
	"syscall"
	"time"
)

// Switches are the faults of a Faulty disk that scenarios know, each on or off by
// itself.
type Switches struct {
	disk *Faulty
	on   map[string]*active
}

// Switches of a disk, all off. They are for one goroutine.
func (d *Faulty) Switches() *Switches {
	return &Switches{disk: d, on: make(map[string]*active)}
}

// set replaces what a switch does; nil is nothing.
func (s *Switches) set(name string, f *Fault) error {
	if before := s.on[name]; before != nil {
		s.disk.faults.healOne(before)
		delete(s.on, name)
	}
	if f != nil {
		s.on[name] = s.disk.faults.add(*f)
	}
	return nil
}

// healOne switches one fault off.
func (s *faults) healOne(a *active) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.active, a); i >= 0 {
		close(a.healed)
		s.active = slices.Delete(s.active, i, i+1)
	}
}

func when(on bool, f Fault) *Fault {
	if !on {
		return nil
	}
	return &f
}

// Cut takes the power away and gives it back (LoseUnsynced).
func (s *Switches) Cut(seed uint64) error {
	_, err := s.disk.LoseUnsynced(seed)
	return err
}

// Fill leaves no room on the disk, Free gives it back.
func (s *Switches) Fill() error {
	return s.set("full", &Fault{Op: Write, Errno: syscall.ENOSPC, Part: true})
}

// Free gives the room back.
func (s *Switches) Free() error { return s.set("full", nil) }

// FailSync makes every fsync fail.
func (s *Switches) FailSync(on bool) error {
	return s.set("fsync", when(on, Fault{Op: Fsync, Errno: syscall.EIO}))
}

// FailWrite makes every write fail.
func (s *Switches) FailWrite(on bool) error {
	return s.set("write", when(on, Fault{Op: Write, Errno: syscall.EIO}))
}

// SlowSync makes every fsync take longer; 0 is as long as it does.
func (s *Switches) SlowSync(by time.Duration) error {
	return s.set("slow", when(by > 0, Fault{Op: Fsync, Delay: by}))
}

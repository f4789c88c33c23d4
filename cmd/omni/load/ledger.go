package load

import (
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/client"
)

// Fate of a command, as its client was told.
type Fate uint8

// The fates.
const (
	Acknowledged Fate = iota + 1 // it took effect
	Refused                      // it did not and will not
	InDoubt                      // nobody said
)

// FateOf tells a command's fate from the error that the client returned.
func FateOf(err error) Fate {
	switch {
	case err == nil:
		return Acknowledged
	case client.Definite(err):
		return Refused
	default:
		return InDoubt
	}
}

// Write is one command of a load, under a name that no other has.
type Write struct {
	Name    string
	Due     time.Time // when the schedule wanted it sent
	Begun   time.Time // when it was
	Ended   time.Time
	Fate    Fate
	Node    string // who acknowledged it
	Index   uint64 // … as of which Raft index
	AgentID string // … and which agent came of it
}

// Ledger holds every command of a load. Any goroutine may use it.
type Ledger struct {
	mu     sync.Mutex // guards all fields
	writes []Write
	acked  int           // place of the last acknowledged one, plus one
	grown  chan struct{} // closed by the next Add; nil when nobody waits
}

// Add enters a command that has ended.
func (l *Ledger) Add(w Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, w)
	if w.Fate == Acknowledged {
		l.acked = len(l.writes)
	}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// Writes lists the commands in the order in which they ended. The caller must
// not change them.
func (l *Ledger) Writes() []Write {
	all, _ := l.since(0)
	return all
}

// Len is the number of commands.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.writes)
}

// LastAck is the latest command that was acknowledged.
func (l *Ledger) LastAck() (Write, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acked == 0 {
		return Write{}, false
	}
	return l.writes[l.acked-1], true
}

// AckedBetween counts the commands that were acknowledged in a span of time.
func (l *Ledger) AckedBetween(from, to time.Time) int {
	n := 0
	for _, w := range l.Writes() {
		if w.Fate == Acknowledged && !w.Ended.Before(from) && w.Ended.Before(to) {
			n++
		}
	}
	return n
}

// AwaitAck waits for an acknowledged command that suits, among those from place
// mark on (a former Len); false when done is closed first.
func (l *Ledger) AwaitAck(done <-chan struct{}, mark int, suits func(Write) bool) (Write, bool) {
	for {
		more, grown := l.since(mark)
		for _, w := range more {
			if w.Fate == Acknowledged && suits(w) {
				return w, true
			}
		}
		mark += len(more)
		select {
		case <-grown:
		case <-done:
			return Write{}, false
		}
	}
}

// since lists what was added from place n on, and what to wait on for more.
func (l *Ledger) since(n int) (more []Write, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.writes[n:len(l.writes):len(l.writes)], l.grown
}

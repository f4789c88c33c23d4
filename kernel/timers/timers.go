package timers

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/tidwall/btree"
)

// Purpose says what is to be done when a timer is due. Numbers are part of
// the log format.
type Purpose uint8

// The purposes.
const (
	CallDeadline  Purpose = iota + 1 // an external call has had its time
	SleepOver                        // timer.sleep has ended
	ResumableOver                    // a hibernated agent has expired (row 10)
	RetentionOver                    // a terminated agent shrinks to a tombstone (LC-8)
)

// Timer is one deadline.
type Timer struct {
	_        struct{} `cbor:",toarray"`
	Deadline int64    // kernel clock, Unix milliseconds
	ID       uint64   // dense, never reused: earlier made is earlier fired
	Purpose  Purpose
	Agent    uint32
	Tick     uint64
	Call     uint32 // callIndex, for the purposes that concern a call
}

// Row is the module's part of an agent's row: the one timer that belongs to
// the agent's state (every purpose but CallDeadline). ID 0 is none.
type Row struct {
	_        struct{} `cbor:",toarray"`
	Deadline int64
	ID       uint64
}

func less(a, b Timer) bool {
	if a.Deadline != b.Deadline {
		return a.Deadline < b.Deadline
	}
	return a.ID < b.ID
}

// Tables is the module's state.
type Tables struct {
	Next   uint64 // the last id given
	sorted *btree.BTreeG[Timer]
}

// New returns empty tables.
func New() Tables {
	return Tables{sorted: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true, Degree: 8})}
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables { return Tables{Next: t.Next, sorted: t.sorted.Copy()} }

// First is the earliest timer.
func (t *Tables) First() (Timer, bool) { return t.sorted.Min() }

// Len is the number of timers.
func (t *Tables) Len() int { return t.sorted.Len() }

// All yields the timers in the order in which they fire.
func (t *Tables) All(yield func(Timer) bool) { t.sorted.Scan(yield) }

// Load puts a timer back from a snapshot.
func (t *Tables) Load(timer Timer) { t.sorted.Set(timer) }

// Set is the body of a TimerSet record.
type Set struct{ Timer Timer }

// AppendTo writes the body's log form.
func (s *Set) AppendTo(dst []byte) []byte {
	dst = bus.AppendInt(dst, s.Timer.Deadline)
	dst = bus.AppendUint(dst, s.Timer.ID)
	dst = append(dst, byte(s.Timer.Purpose))
	dst = bus.AppendUint(dst, uint64(s.Timer.Agent))
	dst = bus.AppendUint(dst, s.Timer.Tick)
	return bus.AppendUint(dst, uint64(s.Timer.Call))
}

func decodeTimer(d *bus.Decoder) Timer {
	return Timer{
		Deadline: d.Int(), ID: d.Uint(), Purpose: Purpose(d.Byte()), Agent: d.Uint32(), Tick: d.Uint(), Call: d.Uint32(),
	}
}

// DecodeSet reads the body of a TimerSet record.
func DecodeSet(b []byte) (*Set, bool) {
	d := bus.NewDecoder(b)
	s := &Set{Timer: decodeTimer(d)}
	return s, d.Done()
}

// ApplySet takes a TimerSet record in.
func (t *Tables) ApplySet(row *Row, s *Set) {
	if s.Timer.Purpose != CallDeadline {
		*row = Row{Deadline: s.Timer.Deadline, ID: s.Timer.ID}
	}
	t.sorted.Set(s.Timer)
	t.Next = max(t.Next, s.Timer.ID)
}

// Cleared is the body of a TimerCleared record: the timer fired, or is no
// longer wanted.
type Cleared struct {
	Deadline int64
	ID       uint64
	Fired    bool
}

// AppendTo writes the body's log form.
func (c *Cleared) AppendTo(dst []byte) []byte {
	dst = bus.AppendInt(dst, c.Deadline)
	dst = bus.AppendUint(dst, c.ID)
	return bus.AppendBool(dst, c.Fired)
}

// DecodeCleared reads the body of a TimerCleared record.
func DecodeCleared(b []byte) (*Cleared, bool) {
	d := bus.NewDecoder(b)
	c := &Cleared{Deadline: d.Int(), ID: d.Uint(), Fired: d.Bool()}
	return c, d.Done()
}

// ApplyCleared takes a TimerCleared record in.
func (t *Tables) ApplyCleared(row *Row, c *Cleared) {
	if row.ID == c.ID {
		*row = Row{}
	}
	t.sorted.Delete(Timer{Deadline: c.Deadline, ID: c.ID})
}

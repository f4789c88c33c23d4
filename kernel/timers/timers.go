package timers

import (
	"cmp"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// Purpose says what is to be done when a timer is due. Numbers are part of
// the log format.
type Purpose uint8

// The purposes.
const (
	CallDeadline    Purpose = iota + 1 // an external call has had its time
	SleepOver                          // timer.sleep has ended
	ResumableOver                      // a hibernated agent has expired (row 10)
	RetentionOver                      // a terminated agent shrinks to a tombstone (LC-8)
	ReceiveOver                        // mailbox.receive has waited long enough
	BackoffOver                        // a TRANSIENT fault is recovered (FA-1)
	EscalationOver                     // nobody decided in time (PE-3)
	DelegationOver                     // the wait for children has had its time (LC-12)
	TokenOver                          // an agent's token expires (DE-2)
	ReservationOver                    // what a call came to was never told (RU-3)
	BudgetOver                         // an agent's time at work comes to a mark (RU-3)
)

// own reports whether a timer belongs to the agent's state: there is one such
// at a time. The others belong to a call or a token.
func (p Purpose) own() bool {
	switch p {
	case SleepOver, ResumableOver, RetentionOver, ReceiveOver, BackoffOver:
		return true
	}
	return false
}

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
// the agent's state. ID 0 is none.
type Row struct {
	_        struct{} `cbor:",toarray"`
	Deadline int64
	ID       uint64
}

// order is where a timer stands among all: earlier ones fire first.
type order struct {
	deadline int64
	id       uint64
}

// Compare puts earlier deadlines first, and among equal ones the timer that
// was made earlier.
func (o order) Compare(other order) int {
	if c := cmp.Compare(o.deadline, other.deadline); c != 0 {
		return c
	}
	return cmp.Compare(o.id, other.id)
}

// task is the rest of a timer.
type task struct {
	tick    uint64
	agent   uint32
	call    uint32
	purpose Purpose
}

func (t task) at(o order) Timer {
	return Timer{Deadline: o.deadline, ID: o.id, Purpose: t.purpose, Agent: t.agent, Tick: t.tick, Call: t.call}
}

// Tables is the module's state.
type Tables struct {
	Next   uint64 // the last id given
	sorted table.Sorted[order, task]
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables { return Tables{Next: t.Next, sorted: t.sorted.Publish()} }

// First is the earliest timer.
func (t *Tables) First() (Timer, bool) {
	at, rest, ok := t.sorted.First()
	return rest.at(at), ok
}

// Len is the number of timers.
func (t *Tables) Len() int { return t.sorted.Len() }

// All yields the timers in the order in which they fire.
func (t *Tables) All(yield func(Timer) bool) {
	t.sorted.All(func(at order, rest task) bool { return yield(rest.at(at)) })
}

// Load puts a timer back from a snapshot.
func (t *Tables) Load(timer Timer) {
	t.sorted.Set(order{timer.Deadline, timer.ID}, task{timer.Tick, timer.Agent, timer.Call, timer.Purpose})
}

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
	if s.Timer.Purpose.own() {
		*row = Row{Deadline: s.Timer.Deadline, ID: s.Timer.ID}
	}
	t.Load(s.Timer)
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
	t.sorted.Delete(order{c.Deadline, c.ID})
}

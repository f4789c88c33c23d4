package budgets

import (
	"cmp"

	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Key names a call.
type Key struct {
	_     struct{} `cbor:",toarray"`
	Agent uint32
	Tick  uint64
	Call  uint32 // callIndex within the tick, from 1
}

// Compare orders calls by agent, tick and call.
func (k Key) Compare(other Key) int {
	if c := cmp.Compare(k.Agent, other.Agent); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Tick, other.Tick); c != 0 {
		return c
	}
	return cmp.Compare(k.Call, other.Call)
}

// Reservation is what a call may yet come to. It is there until it is settled,
// even when its agent is not (RU-3). Entries are replaced, never changed in place.
type Reservation struct {
	_        struct{} `cbor:",toarray"`
	Key      Key
	Account  uint32 // the lowest that it is reserved in
	Cost     Amounts
	Started  bool   // it may have been called: dispatched, or such that it needs no dispatch
	Again    bool   // … which every leader may make anew
	Term     uint64 // in which it was reserved
	Deadline int64  // kernel clock, Unix milliseconds: what is not known by then is taken for Cost
	Timer    uint64 // id of the timer that says so; 0 while the call's own timer does
}

// Waiter is a call that waits for room. Entries are replaced, never changed in
// place.
type Waiter struct {
	_          struct{} `cbor:",toarray"`
	Key        Key
	Since      uint64 // busSeq of the record: earlier ones go first
	Account    uint32 // that has no room
	Tool       string
	Args       value.Raw
	Resource   string
	Idempotent bool
	Cost       Amounts
	Deadline   int64  // of the call, kernel clock, Unix milliseconds
	Timer      uint64 // id of the deadline's timer
	Revision   uint64 // of a registered tool, as the call was judged
}

// place is where a call waits.
type place struct {
	account uint32
	since   uint64
}

// Compare orders by account, then by age.
func (p place) Compare(other place) int {
	if c := cmp.Compare(p.account, other.account); c != 0 {
		return c
	}
	return cmp.Compare(p.since, other.since)
}

// holder is the key of an account.
type holder uint32

// Compare orders accounts by their agents.
func (h holder) Compare(other holder) int { return cmp.Compare(h, other) }

// Tables is the module's state. The zero value is empty.
type Tables struct {
	accounts table.Sorted[holder, *Account]
	reserved table.Sorted[Key, *Reservation]
	waiters  table.Sorted[Key, *Waiter]
	queues   table.Sorted[place, Key]
	ready    table.Sorted[holder, struct{}] // accounts whose first waiter may find room
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{
		accounts: t.accounts.Publish(), reserved: t.reserved.Publish(), waiters: t.waiters.Publish(),
		queues: t.queues.Publish(), ready: t.ready.Publish(),
	}
}

// Len is the number of accounts.
func (t *Tables) Len() int { return t.accounts.Len() }

// Waiters is the number of calls that wait for room.
func (t *Tables) Waiters() int { return t.waiters.Len() }

// Open is the number of reservations that are not settled yet.
func (t *Tables) Open() int { return t.reserved.Len() }

// Get finds the account that an agent holds itself.
func (t *Tables) Get(agent uint32) (*Account, bool) { return t.accounts.Get(holder(agent)) }

// Reservation finds what is reserved for a call.
func (t *Tables) Reservation(k Key) (*Reservation, bool) { return t.reserved.Get(k) }

// Waiter finds a call that waits for room.
func (t *Tables) Waiter(k Key) (*Waiter, bool) { return t.waiters.Get(k) }

// WaitersOf yields the calls of an agent that wait for room.
func (t *Tables) WaitersOf(agent uint32, yield func(*Waiter) bool) {
	t.waiters.From(Key{Agent: agent}, func(k Key, w *Waiter) bool { return k.Agent == agent && yield(w) })
}

// Up yields an account and those above it, upwards.
func (t *Tables) Up(agent uint32, yield func(*Account) bool) {
	for at := agent; at != 0; {
		a, ok := t.Get(at)
		if !ok || !yield(a) {
			return
		}
		at = a.Above
	}
}

// Next is the call that is to be looked at next, where room may have been made,
// and the account that it waits in; false when there is none.
func (t *Tables) Next() (w *Waiter, ok bool) {
	account, _, ok := t.ready.First()
	if !ok {
		return nil, false
	}
	t.queues.From(place{account: uint32(account)}, func(p place, k Key) bool {
		if p.account == uint32(account) {
			w, _ = t.waiters.Get(k)
		}
		return false
	})
	if w == nil {
		panic("budgets: room is offered where nobody waits")
	}
	return w, true
}

// All yields the accounts in the order of their agents.
func (t *Tables) All(yield func(*Account) bool) {
	t.accounts.All(func(_ holder, a *Account) bool { return yield(a) })
}

// AllReserved yields the reservations in the order of their calls.
func (t *Tables) AllReserved(yield func(*Reservation) bool) {
	t.reserved.All(func(_ Key, r *Reservation) bool { return yield(r) })
}

// AllWaiters yields the calls that wait for room, in their order.
func (t *Tables) AllWaiters(yield func(*Waiter) bool) {
	t.waiters.All(func(_ Key, w *Waiter) bool { return yield(w) })
}

// AllReady yields the agents of the accounts whose first waiter is to be looked at.
func (t *Tables) AllReady(yield func(agent uint32) bool) {
	t.ready.All(func(h holder, _ struct{}) bool { return yield(uint32(h)) })
}

// Load puts an account back from a snapshot.
func (t *Tables) Load(a *Account) { t.accounts.Set(holder(a.Agent), a) }

// LoadReserved puts a reservation back from a snapshot.
func (t *Tables) LoadReserved(r *Reservation) { t.reserved.Set(r.Key, r) }

// LoadWaiter puts a waiting call back from a snapshot.
func (t *Tables) LoadWaiter(w *Waiter) {
	t.waiters.Set(w.Key, w)
	t.queues.Set(place{w.Account, w.Since}, w.Key)
}

// LoadReady puts an account back among those that are to be looked at.
func (t *Tables) LoadReady(agent uint32) { t.ready.Set(holder(agent), struct{}{}) }

// edit changes one account.
func (t *Tables) edit(agent uint32, change func(*Account)) {
	a, ok := t.Get(agent)
	if !ok {
		return
	}
	dup := *a
	change(&dup)
	t.Load(&dup)
}

// editUp changes an account and those above it.
func (t *Tables) editUp(agent uint32, change func(*Account)) {
	for at := agent; at != 0; {
		a, ok := t.Get(at)
		if !ok {
			return
		}
		t.edit(at, change)
		at = a.Above
	}
}

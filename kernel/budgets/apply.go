package budgets

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ApplyOpened gives the agent its account.
func (t *Tables) ApplyOpened(agent uint32, b *Opened) {
	t.Load(&Account{Agent: agent, Above: b.Above, Limits: b.Limits})
}

// ApplyChanged gives the account its limits: a value that is another has not been
// warned of, and whoever waits may find room.
func (t *Tables) ApplyChanged(agent uint32, b *Changed) {
	t.edit(agent, func(a *Account) {
		for _, k := range [...]Kind{Tokens, USDMicros, WallMillis} {
			if a.Limits.Of(k) != b.Limits.Of(k) || a.Limits.WarnPercent != b.Limits.WarnPercent {
				a.Warned &^= k.bit()
			}
			if a.Limits.Of(k) != b.Limits.Of(k) {
				a.Passed &^= k.bit()
			}
		}
		a.Limits = b.Limits
	})
	t.offer(agent)
}

// ApplyReserved notes what a call may come to, and that it waits no more.
func (t *Tables) ApplyReserved(agent uint32, tick, term uint64, b *Reserved) {
	key := Key{Agent: agent, Tick: tick, Call: b.Call}
	t.unqueue(key)
	t.LoadReserved(&Reservation{
		Key: key, Account: b.Account, Cost: b.Cost, Started: b.Started, Again: b.Started, Term: term, Deadline: b.Deadline,
	})
	t.editUp(b.Account, func(a *Account) { a.Reserved = a.Reserved.Plus(b.Cost) })
}

// ApplyWaiting puts a call into the queue of an account.
func (t *Tables) ApplyWaiting(agent uint32, tick uint64, at bus.At, b *Waiting) {
	t.LoadWaiter(&Waiter{
		Key: Key{Agent: agent, Tick: tick, Call: b.Call}, Since: at.Seq, Account: b.Account, Tool: b.Tool,
		Args: append(value.Raw(nil), b.Args...), Resource: b.Resource, Idempotent: b.Idempotent, Cost: b.Cost,
		Deadline: b.Deadline, Timer: b.Timer, Revision: b.Revision,
	})
	t.edit(b.Account, func(a *Account) { a.Waiting++ })
}

// ApplyBlocked ends the look at an account's queue, or moves its first to the
// account that has no room for it.
func (t *Tables) ApplyBlocked(agent uint32, tick uint64, b *Blocked) {
	w, ok := t.Waiter(Key{Agent: agent, Tick: tick, Call: b.Call})
	if !ok {
		return
	}
	if w.Account == b.Account {
		t.ready.Delete(holder(b.Account))
		return
	}
	t.unqueue(w.Key)
	dup := *w
	dup.Account = b.Account
	t.LoadWaiter(&dup)
	t.edit(b.Account, func(a *Account) { a.Waiting++ })
}

// ApplyDispatched notes that a call may have been made from now on.
func (t *Tables) ApplyDispatched(agent uint32, tick uint64, call uint32) {
	if r, ok := t.Reservation(Key{Agent: agent, Tick: tick, Call: call}); ok && !r.Started {
		dup := *r
		dup.Started = true
		t.LoadReserved(&dup)
	}
}

// ApplyResolved notes that a call has its end: it waits no more.
func (t *Tables) ApplyResolved(agent uint32, tick uint64, call uint32) {
	if t.waiters.Len() > 0 {
		t.unqueue(Key{Agent: agent, Tick: tick, Call: call})
	}
}

// ApplySettled turns a reservation into what the call came to, and offers the
// room that this makes.
func (t *Tables) ApplySettled(agent uint32, tick uint64, b *Settled) {
	r, ok := t.Reservation(Key{Agent: agent, Tick: tick, Call: b.Call})
	if !ok {
		return
	}
	t.reserved.Delete(r.Key)
	t.editUp(r.Account, func(a *Account) {
		a.Reserved = a.Reserved.Minus(r.Cost)
		a.Settled = a.Settled.Plus(b.Used)
		a.Overrun = a.Overrun.Plus(b.Used.Beyond(r.Cost))
	})
	t.Up(r.Account, func(a *Account) bool {
		t.offer(a.Agent)
		return true
	})
}

// ApplyOutlived gives a reservation a timer of its own.
func (t *Tables) ApplyOutlived(agent uint32, tick uint64, b *Outlived) {
	if r, ok := t.Reservation(Key{Agent: agent, Tick: tick, Call: b.Call}); ok {
		dup := *r
		dup.Timer = b.Timer
		t.LoadReserved(&dup)
	}
}

// ApplyWarned notes that the present limit has had its warning.
func (t *Tables) ApplyWarned(agent uint32, b *Mark) {
	t.edit(agent, func(a *Account) { a.Warned |= b.Kind.bit() })
}

// ApplyExceeded notes that the present limit was found exceeded.
func (t *Tables) ApplyExceeded(agent uint32, b *Mark) {
	t.edit(agent, func(a *Account) { a.Passed |= b.Kind.bit() })
}

// ApplyClock starts, stops or goes on with the time at work.
func (t *Tables) ApplyClock(agent uint32, at bus.At, b *Clock) {
	t.edit(agent, func(a *Account) {
		a.Spent, a.Since = a.Worked(at.Now), 0
		if b.Running {
			a.Since = at.Now
		}
		a.Deadline, a.Timer = b.Deadline, b.Timer
	})
}

// offer has an account's first waiter looked at, if there is one.
func (t *Tables) offer(agent uint32) {
	if a, ok := t.Get(agent); ok && a.Waiting > 0 {
		t.LoadReady(agent)
	}
}

// unqueue takes a call out of the queue that it waits in, if it does. Whoever
// stood behind it is next to be looked at.
func (t *Tables) unqueue(k Key) {
	w, ok := t.Waiter(k)
	if !ok {
		return
	}
	t.waiters.Delete(k)
	t.queues.Delete(place{w.Account, w.Since})
	t.edit(w.Account, func(a *Account) { a.Waiting-- })
	t.ready.Delete(holder(w.Account))
	t.offer(w.Account)
}

package workers

import (
	"errors"
	"time"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

// fenceBits are what is left in a fence for the count of hand-outs within a term.
const fenceBits = 20

// Lease is one hand-out of a call.
type Lease struct {
	Key   tools.Key
	Fence uint64 // of one call they only grow
}

// ErrLost says that a lease is over, or was never the newest. ErrClosing says that a
// result was shown with it, and is being committed.
var (
	ErrLost    = errors.New("this lease is over: it ran out, or the call was given to another worker")
	ErrClosing = errors.New("a result that was shown with this lease is being committed")
)

// Take takes up to most calls of the tools for a worker, the oldest first, as far as
// their revisions may have more lent. Each must be followed by Lend, Return or Drop.
func (b *Broker) Take(names []string, worker string, most int, now time.Time) (taken []Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.open && len(taken) < most {
		e := b.oldest(names, now)
		if e == nil {
			break
		}
		of := b.lines[e.Revision]
		of.queue.Remove(e.place)
		of.out++
		e.stage, e.place, e.worker = handing, nil, worker
		e.handed++
		e.fence = b.term<<fenceBits | e.handed
		taken = append(taken, Lease{e.Key, e.fence})
	}
	return taken
}

// oldest finds the call that has waited longest and may be handed out. One that is over
// keeps its line waiting until Expire has seen it.
func (b *Broker) oldest(names []string, now time.Time) (found *entry) {
	for _, name := range names {
		for _, of := range b.tools[name] {
			first := of.queue.Front()
			if first == nil || of.out >= of.most {
				continue
			}
			if e := first.Value.(*entry); now.Before(e.Until) && (found == nil || e.number < found.number) {
				found = e
			}
		}
	}
	return found
}

// Lend begins the lease of a call that was taken, and that is handed out now; false
// when the term in which it was taken is not open any more.
func (b *Broker) Lend(l Lease, now time.Time) (c Call, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[l.Key]
	if !b.open || e == nil || e.stage != handing || e.fence != l.Fence {
		return Call{}, false
	}
	b.lend(e, now)
	return e.Call, true
}

func (b *Broker) lend(e *entry, now time.Time) {
	e.stage, e.since = lent, now
	b.extend(e, now)
}

func (b *Broker) extend(e *entry, now time.Time) {
	e.until = now.Add(e.Lease)
	if e.until.After(e.Until) {
		e.until = e.Until
	}
}

// Return puts a call back that was taken, and that no worker was told of. No poll is
// woken: what kept it from being handed out would keep the next one, too.
func (b *Broker) Return(l Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[l.Key]; e != nil && (e.stage == handing || e.stage == closing) && e.fence == l.Fence {
		b.lines[e.Revision].out--
		b.enqueue(e)
	}
}

// Keep keeps a call from everybody that was taken, and that has a result on its way.
func (b *Broker) Keep(key tools.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[key]; e != nil && e.stage != waiting {
		e.stage, e.fence = closing, 0
	}
}

// Extend takes a sign of life, and says how long the call has from now on.
func (b *Broker) Extend(l Lease, now time.Time) (lease, left time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.shown(l, now)
	if err != nil {
		return 0, 0, err
	}
	b.extend(e, now)
	return e.until.Sub(now), e.Until.Sub(now), nil
}

// shown finds the entry of a lease that is shown, if that is the newest. Of a call that
// an earlier leader dispatched the first one is: it was handed out once, in the term
// of its dispatch.
func (b *Broker) shown(l Lease, now time.Time) (*entry, error) {
	e := b.entries[l.Key]
	switch {
	case !b.open || e == nil:
		return nil, ErrLost
	case e.stage == closing && e.fence == l.Fence:
		return nil, ErrClosing
	case e.stage != lent || !now.Before(e.until):
		return nil, ErrLost
	case e.fence == 0 && e.Dispatched == l.Fence>>fenceBits:
		e.fence = l.Fence
	case e.fence != l.Fence:
		return nil, ErrLost
	}
	return e, nil
}

// Close takes the lease of a call whose result is there: it does not run out while that
// is proposed. It says since when the worker had it.
func (b *Broker) Close(l Lease, now time.Time) (since time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.shown(l, now)
	if err != nil {
		return time.Time{}, err
	}
	e.stage = closing
	return e.since, nil
}

// Reopen gives the lease back: the result was not committed.
func (b *Broker) Reopen(l Lease, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[l.Key]; e != nil && e.stage == closing && e.fence == l.Fence {
		e.stage = lent
		b.extend(e, now)
	}
}

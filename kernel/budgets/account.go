package budgets

import "math/bits"

// Limits is what an account allows. 0 is no limit of that kind.
type Limits struct {
	_           struct{} `cbor:",toarray"`
	Tokens      uint64
	USDMicros   uint64
	WallMillis  int64  // of the time that the agent is at work
	WarnPercent uint32 // of a limit, at which there is a warning; 0 for none
}

// Of is the limit of that kind; 0 for none.
func (l *Limits) Of(k Kind) uint64 {
	switch k {
	case Tokens:
		return l.Tokens
	case USDMicros:
		return l.USDMicros
	}
	return uint64(l.WallMillis)
}

// warnAt is the amount at which there is a warning, rounded up; 0 for never.
func (l *Limits) warnAt(k Kind) uint64 {
	hi, lo := bits.Mul64(l.Of(k), uint64(l.WarnPercent))
	if hi != 0 {
		return 0
	}
	return (lo + 99) / 100
}

// Account is what one agent, with all below it, may spend, may yet spend by
// calls under way, and has spent. Entries are replaced, never changed in place.
type Account struct {
	_        struct{} `cbor:",toarray"`
	Agent    uint32   // who holds it
	Above    uint32   // the account that is charged too; 0 for none
	Limits   Limits
	Reserved Amounts
	Settled  Amounts
	Overrun  Amounts // part of Settled: beyond what calls had declared
	Waiting  uint32  // calls that wait for room in this account

	Warned uint8 // a bit for each Kind whose present limit has had its warning
	Passed uint8 // … and for each that was found exceeded

	// The time at work: Spent before Since, and since then if there is a Since.
	Spent    int64  // milliseconds
	Since    int64  // kernel clock, Unix milliseconds; 0 while the agent is not at work
	Deadline int64  // of the timer
	Timer    uint64 // id of the timer for the next warning or the limit; 0 for none
}

// Room tells whether an account can take a cost on.
type Room uint8

// The answers.
const (
	Fits    Room = iota
	Crowded      // once other calls have come to less than they may
	Lacking      // never
)

// Room tells whether there is room for a call, beside what is about to be
// reserved with it, and if not, for want of what.
func (a *Account) Room(cost, beside Amounts) (Room, Kind) {
	room, scarce := Fits, Kind(0)
	for _, k := range [...]Kind{Tokens, USDMicros} {
		limit, wanted := a.Limits.Of(k), k.of(cost)
		if limit == 0 || wanted == 0 {
			continue
		}
		switch {
		case plus(k.of(a.Settled), wanted) > limit:
			return Lacking, k
		case room == Fits && plus(plus(k.of(a.Settled), k.of(a.taken(beside))), wanted) > limit:
			room, scarce = Crowded, k
		}
	}
	return room, scarce
}

// Used is what counts against the limit of that kind at a moment of the kernel
// clock.
func (a *Account) Used(k Kind, now int64) uint64 {
	if k != WallMillis {
		return k.of(a.Settled)
	}
	return uint64(a.Worked(now))
}

// Worked is the time that the agent has been at work, in milliseconds.
func (a *Account) Worked(now int64) int64 {
	if a.Since == 0 {
		return a.Spent
	}
	return a.Spent + max(0, now-a.Since)
}

// Warns reports whether a warning is due, which is given once for each value of a
// limit.
func (a *Account) Warns(k Kind, now int64) bool {
	at := a.Limits.warnAt(k)
	return at > 0 && a.Warned&k.bit() == 0 && a.Used(k, now) >= at
}

// Exceeded reports whether more was used than the limit allows, and nobody has
// said so yet of its present value. Time is up when all of it was used.
func (a *Account) Exceeded(k Kind, now int64) bool {
	limit := a.Limits.Of(k)
	if limit == 0 || a.Passed&k.bit() != 0 {
		return false
	}
	used := a.Used(k, now)
	return used > limit || k == WallMillis && used == limit
}

// HasPassed reports whether the present limit was found exceeded.
func (a *Account) HasPassed(k Kind) bool { return a.Passed&k.bit() != 0 }

// NextMoment is when the account's time comes to its warning or its end, if the
// agent is at work from now on; false when it has no such moment.
func (a *Account) NextMoment(now int64) (moment int64, ok bool) {
	if a.Limits.WallMillis == 0 || a.Passed&WallMillis.bit() != 0 {
		return 0, false
	}
	next := a.Limits.WallMillis
	if at := int64(a.Limits.warnAt(WallMillis)); at > 0 && a.Warned&WallMillis.bit() == 0 {
		next = min(next, at)
	}
	return now + max(0, next-a.Worked(now)), true
}

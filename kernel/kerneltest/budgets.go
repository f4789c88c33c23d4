package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// ledger is what the log says of budgets, kept in the plainest way: every amount
// by itself, every sum made anew.
type ledger struct {
	limits   map[uint32]budgets.Limits
	above    map[uint32]uint32
	open     map[tools.Key]budgets.Reserved
	settled  map[uint32][]budgets.Amounts
	reported map[tools.Key]tools.Usage
	over     map[uint32]budgets.Amounts // beyond what was declared, as BUDGET_OVERRUN says
	overrun  map[tools.Key]budgets.Amounts
}

// CheckBudgets adds up what the log says of budgets, and compares (RU-3): nothing
// is reserved that an account has no room for, every settlement is what its tool
// reported, no reservation is settled twice, and time is what agents were at work.
func (s *Sim) CheckBudgets() {
	s.T.Helper()
	l := &ledger{
		limits: make(map[uint32]budgets.Limits), above: make(map[uint32]uint32), open: make(map[tools.Key]budgets.Reserved),
		settled: make(map[uint32][]budgets.Amounts), reported: make(map[tools.Key]tools.Usage),
		over: make(map[uint32]budgets.Amounts), overrun: make(map[tools.Key]budgets.Amounts),
	}
	for _, r := range s.All() {
		l.take(s.T, r)
	}
	st := s.State()
	accounts := 0
	st.Budgets.All(func(a *budgets.Account) bool {
		accounts++
		require.Equal(s.T, l.limits[a.Agent], a.Limits, "account %d", a.Agent)
		require.Equal(s.T, l.above[a.Agent], a.Above, "account %d", a.Agent)
		require.Equal(s.T, l.reservedIn(a.Agent), a.Reserved, "account %d", a.Agent)
		require.Equal(s.T, sum(l.settled[a.Agent]), a.Settled, "account %d", a.Agent)
		require.Equal(s.T, l.over[a.Agent], a.Overrun, "account %d", a.Agent)
		beyond := a.Settled.Plus(a.Reserved)
		for _, one := range [...][3]uint64{
			{a.Limits.Tokens, beyond.Tokens, a.Overrun.Tokens}, {a.Limits.USDMicros, beyond.USDMicros, a.Overrun.USDMicros},
		} {
			require.True(s.T, one[0] == 0 || one[1] <= one[0]+one[2], "account %d: %d of %d, %d of it beyond what was declared", a.Agent, one[1], one[0], one[2])
		}
		return true
	})
	require.Len(s.T, l.limits, accounts)
	left := 0
	st.Budgets.AllReserved(func(r *budgets.Reservation) bool {
		left++
		require.Contains(s.T, l.open, tools.Key{Agent: r.Key.Agent, Tick: r.Key.Tick, Call: r.Key.Call})
		_, waits := st.Tools.Get(tools.Key{Agent: r.Key.Agent, Tick: r.Key.Tick, Call: r.Key.Call})
		require.NotEqual(s.T, waits, r.Timer != 0, "a reservation ends with its call, or by its own timer")
		return true
	})
	require.Len(s.T, l.open, left)
	s.checkTime()
}

func (l *ledger) take(t TB, r Record) {
	key := tools.Key{Agent: r.Agent, Tick: r.Tick}
	switch b := r.Content.(type) {
	case *budgets.Opened:
		l.limits[r.Agent], l.above[r.Agent] = b.Limits, b.Above
	case *budgets.Changed:
		l.limits[r.Agent] = b.Limits
	case *budgets.Reserved:
		key.Call = b.Call
		require.NotContains(t, l.open, key)
		for at := b.Account; at != 0; at = l.above[at] {
			taken := sum(l.settled[at]).Plus(l.reservedIn(at)).Plus(b.Cost)
			limits := l.limits[at]
			require.True(t, b.Cost.Tokens == 0 || limits.Tokens == 0 || taken.Tokens <= limits.Tokens, "account %d has no room: record %d", at, r.Seq)
			require.True(t, b.Cost.USDMicros == 0 || limits.USDMicros == 0 || taken.USDMicros <= limits.USDMicros, "account %d has no room: record %d", at, r.Seq)
		}
		l.open[key] = *b
	case *tools.ActionBody:
		key.Call = b.Call
		l.reported[key] = b.Usage
	case *tools.StaleBody:
		key.Call = b.Call
		l.reported[key] = b.Usage
	case *budgets.Overrun:
		key.Call = b.Call
		l.overrun[key] = b.Beyond
	case *budgets.Settled:
		key.Call = b.Call
		l.settle(t, key, b)
	}
}

func (l *ledger) settle(t TB, key tools.Key, b *budgets.Settled) {
	open, ok := l.open[key]
	require.True(t, ok, "settled without a reservation, or twice: %v", key)
	delete(l.open, key)
	reported, over := l.reported[key], l.overrun[key]
	switch b.How {
	case budgets.Reported:
		require.True(t, reported.Metered)
		require.Equal(t, budgets.Amounts{Tokens: reported.Tokens, USDMicros: reported.USDMicros}, b.Used)
	case budgets.Assumed:
		require.Equal(t, open.Cost, b.Used)
	case budgets.Returned:
		require.True(t, b.Used.Zero())
	}
	require.Equal(t, b.Used.Beyond(open.Cost), over)
	for at := open.Account; at != 0; at = l.above[at] {
		l.settled[at] = append(l.settled[at], b.Used)
		l.over[at] = l.over[at].Plus(over)
	}
}

// reservedIn is what is open in an account, and in those below it.
func (l *ledger) reservedIn(account uint32) (total budgets.Amounts) {
	for _, open := range l.open {
		for at := open.Account; at != 0; at = l.above[at] {
			if at == account {
				total = total.Plus(open.Cost)
			}
		}
	}
	return total
}

func sum(all []budgets.Amounts) (total budgets.Amounts) {
	for _, one := range all {
		total = total.Plus(one)
	}
	return total
}

package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// account is what the records so far say of one account.
type account struct {
	above    uint32
	limits   budgets.Limits
	reserved budgets.Amounts
	settled  budgets.Amounts
	spent    int64 // milliseconds at work before since
	since    int64 // kernel clock, Unix milliseconds; 0 while time stands still
}

// reservation is what a call may yet come to.
type reservation struct {
	account uint32
	cost    budgets.Amounts
}

// purse is what the records so far say of budgets. What it holds is what there is,
// accounts and open reservations, whatever became of the agents.
type purse struct {
	accounts map[uint32]*account
	open     map[tools.Key]reservation
	meter    map[tools.Key]tools.Usage // of calls that ended in this event
	over     map[tools.Key]budgets.Amounts
	shifted  []uint32 // accounts whose time this event may have started or stopped
}

func newPurse() purse {
	return purse{
		accounts: make(map[uint32]*account), open: make(map[tools.Key]reservation),
		meter: make(map[tools.Key]tools.Usage), over: make(map[tools.Key]budgets.Amounts),
	}
}

// budget looks at a record about budgets: nothing is reserved that there is no
// room for, and a reservation is settled once, at what the tool said or the call
// declared (RU-3). other is true for a record about something else.
func (a *Auditor) budget() (other bool) {
	key := tools.Key{Agent: a.record.Agent, Tick: a.record.Tick}
	switch body := a.record.Body.(type) {
	case *budgets.Opened:
		a.opened(body)
	case *budgets.Changed:
		a.limitsChanged(body)
	case *budgets.Reserved:
		key.Call = body.Call
		a.report.Reserved++
		a.reserved(key, body)
	case *budgets.Waiting:
		a.waitsForRoom(body)
	case *budgets.Overrun:
		key.Call = body.Call
		a.purse.over[key] = body.Beyond
	case *budgets.Settled:
		key.Call = body.Call
		a.settled(key, body)
	case *budgets.Mark:
		a.marked(body)
	case *budgets.Clock:
		a.clocked(body)
	default:
		return true
	}
	return false
}

func (a *Auditor) opened(b *budgets.Opened) {
	if a.purse.accounts[a.record.Agent] != nil {
		a.found(Budget, "the agent is given a second account")
		return
	}
	if b.Above != 0 && a.purse.accounts[b.Above] == nil {
		a.found(Budget, "the account is below that of agent %d, which holds none", b.Above)
		return
	}
	a.purse.accounts[a.record.Agent] = &account{above: b.Above, limits: b.Limits}
}

func (a *Auditor) limitsChanged(b *budgets.Changed) {
	held := a.purse.accounts[a.record.Agent]
	switch {
	case held == nil:
		a.found(Budget, "an account that is not there is given other limits")
		return
	case a.event.Kind != event.BudgetSet:
		a.found(Budget, "limits are changed, and no operator asked for it")
	}
	held.limits = b.Limits
}

// up calls each account that is charged, from the lowest.
func (a *Auditor) up(from uint32, each func(no uint32, held *account)) {
	for no := from; no != 0; {
		held := a.purse.accounts[no]
		if held == nil {
			return
		}
		each(no, held)
		no = held.above
	}
}

func (a *Auditor) reserved(key tools.Key, b *budgets.Reserved) {
	if _, twice := a.purse.open[key]; twice {
		a.found(Budget, "call %d has a reservation already", b.Call)
		return
	}
	if a.purse.accounts[b.Account] == nil || !a.above(b.Account, key.Agent) {
		a.found(Budget, "it is reserved in the account of agent %d, on which the agent does not draw", b.Account)
		a.purse.open[key] = reservation{0, b.Cost}
		return
	}
	a.purse.open[key] = reservation{b.Account, b.Cost}
	a.up(b.Account, func(no uint32, held *account) {
		held.reserved = held.reserved.Plus(b.Cost)
		taken := held.reserved.Plus(held.settled)
		if b.Cost.Tokens > 0 && held.limits.Tokens > 0 && taken.Tokens > held.limits.Tokens {
			a.found(Budget, "%d tokens are reserved or settled in the account of agent %d, which has %d", taken.Tokens, no, held.limits.Tokens)
		}
		if b.Cost.USDMicros > 0 && held.limits.USDMicros > 0 && taken.USDMicros > held.limits.USDMicros {
			a.found(Budget, "%d usd_micros are reserved or settled in the account of agent %d, which has %d", taken.USDMicros, no, held.limits.USDMicros)
		}
	})
}

// above reports whether the holder of an account is the agent or above it.
func (a *Auditor) above(account, agent uint32) bool {
	for at := agent; at != 0; {
		if at == account {
			return true
		}
		held := a.holders.Agent(at)
		if held == nil {
			return false
		}
		at = held.Parent()
	}
	return false
}

// waitsForRoom looks at a call that was authorised and is not made yet: it is
// judged again when it is.
func (a *Auditor) waitsForRoom(b *budgets.Waiting) {
	g := a.agents[a.record.Agent]
	if g == nil {
		a.notAlive()
		return
	}
	c := g.call(a.record.Tick, b.Call)
	if c == nil || c.verdict != allowed || !c.sameAs(g.no, a.record.Tick, &tools.RequestedBody{Tool: b.Tool, Args: b.Args, Resource: b.Resource}) {
		a.found(Unjudged, "call %d waits for room in a budget as another call than was asked for and judged", b.Call)
	}
	if c == nil {
		return
	}
	c.again()
	c.roomless, c.granted = true, c.approved || c.granted
	c.digest = permissions.CallDigest(g.no, a.record.Tick, c.no, c.tool, b.Args)
}

func (a *Auditor) settled(key tools.Key, b *budgets.Settled) {
	open, ok := a.purse.open[key]
	if !ok {
		a.found(Budget, "call %d is settled, and nothing is reserved for it", b.Call)
		return
	}
	delete(a.purse.open, key)
	meter, over := a.purse.meter[key], a.purse.over[key]
	switch {
	case b.How == budgets.Reported && b.Used != budgets.Amounts{Tokens: meter.Tokens, USDMicros: meter.USDMicros}:
		a.found(Budget, "call %d is settled at another amount than its tool reported", b.Call)
	case b.How == budgets.Assumed && b.Used != open.cost:
		a.found(Budget, "call %d is settled at another amount than it declared", b.Call)
	case b.How == budgets.Returned && !b.Used.Zero():
		a.found(Budget, "call %d was not made, and is charged", b.Call)
	case over != b.Used.Beyond(open.cost):
		a.found(Budget, "call %d came to more than it declared, and the overrun is not on record as it is", b.Call)
	}
	a.up(open.account, func(_ uint32, held *account) {
		held.reserved, held.settled = held.reserved.Minus(open.cost), held.settled.Plus(b.Used)
	})
}

// metered remembers what a call cost until it is settled, in the same event.
func (a *Auditor) metered(call uint32, usage tools.Usage) {
	if usage.Metered {
		a.purse.meter[tools.Key{Agent: a.record.Agent, Tick: a.record.Tick, Call: call}] = usage
	}
}

// marked looks at a warning, and at a limit that is exceeded.
func (a *Auditor) marked(b *budgets.Mark) {
	held := a.purse.accounts[a.record.Agent]
	if held == nil {
		a.found(Budget, "an account comes to a mark that is not there")
		return
	}
	settled, reserved := held.settled.Tokens, held.reserved.Tokens
	switch b.Kind {
	case budgets.USDMicros:
		settled, reserved = held.settled.USDMicros, held.reserved.USDMicros
	case budgets.WallMillis:
		settled, reserved = uint64(held.worked(a.now)), 0
	}
	if b.Used != settled || b.Reserved != reserved || b.Limit != held.limits.Of(b.Kind) {
		a.found(Budget, "the mark says %d used, %d reserved of %d, and the records before it %d, %d of %d", b.Used, b.Reserved, b.Limit, settled, reserved, held.limits.Of(b.Kind))
		return
	}
	if a.record.Kind == bus.BudgetExceeded && b.Used+b.Wanted <= b.Limit && (b.Kind != budgets.WallMillis || b.Used < b.Limit) {
		a.found(Budget, "a limit of %d is said to be exceeded by %d, and is not", b.Limit, b.Used+b.Wanted)
	}
}

package delegation_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

var codes = []failure.Code{failure.TokenRevoked, failure.TokenExpired, failure.Killed, failure.WaitTimeout}

// LC-10: over any history of growth, revocations, voidings and cancellations,
// drained in portions of any size, every cascade over a subtree visits whoever
// was below when it began, once, depth first and in pre-order, and one over a
// request its children; authority is what the tree says it is at every moment in
// between, and published copies keep what they had.
func TestForest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest()
		f.root()
		type copied struct {
			tables  delegation.Tables
			open    []delegation.Open
			waiting []expected
		}
		var published []copied
		actions := f.actions()
		actions["publish"] = func(*rapid.T) {
			published = append(published, copied{f.tables.Publish(), slices.Clone(f.open), slices.Clone(f.waiting)})
		}
		t.Repeat(actions)
		for f.visit(t, true) {
		}
		f.check(t)
		for i := range published {
			checkTables(t, &published[i].tables, published[i].open, published[i].waiting)
		}
	})
}

// actions are what can happen to the forest; "" is checked after each.
func (f *forest) actions() map[string]func(*rapid.T) {
	agent := func(t *rapid.T) uint32 { return rapid.Uint32Range(1, f.last()).Draw(t, "agent") }
	code := func(t *rapid.T) failure.Code { return rapid.SampledFrom(codes).Draw(t, "code") }
	request := func(do func(t *rapid.T, i int)) func(*rapid.T) {
		return func(t *rapid.T) {
			if len(f.open) > 0 {
				do(t, rapid.IntRange(0, len(f.open)-1).Draw(t, "request"))
			}
		}
	}
	grow := func(t *rapid.T) { // the rules of the kernel let only an agent with a token in force delegate
		parent := agent(t)
		if ok, _, _ := f.inForce(parent); ok && len(f.rows) < 120 {
			f.growBelow(t, parent, 4)
		}
	}
	return map[string]func(*rapid.T){
		"root": func(*rapid.T) { f.root() },
		"grow": grow, "grow again": grow, "and again": grow,
		"revoke": func(t *rapid.T) { f.revoke(agent(t), code(t), false) },
		"void":   func(t *rapid.T) { f.void(agent(t), code(t)) },
		"end":    func(t *rapid.T) { f.end(agent(t)) },
		"cancel": request(func(t *rapid.T, i int) { f.cancel(i, code(t)) }),
		"result": request(func(t *rapid.T, i int) { f.result(i, rapid.Bool().Draw(t, "ok")) }),
		"over":   request(func(_ *rapid.T, i int) { f.over(i) }),
		"drain": func(t *rapid.T) {
			for range rapid.IntRange(1, 12).Draw(t, "portion") {
				f.visit(t, rapid.Bool().Draw(t, "revokes"))
			}
		},
		"time":   func(t *rapid.T) { f.now += rapid.Int64Range(1, 5).Draw(t, "millis") },
		"reload": func(*rapid.T) { f.reload() },
		"":       func(t *rapid.T) { f.check(t) },
	}
}

func (f *forest) growBelow(t *rapid.T, parent, most uint32) {
	accepted := delegation.DelegationAccepted{
		Count:    rapid.Uint32Range(1, most).Draw(t, "count"),
		FailFast: rapid.Bool().Draw(t, "fail fast"), Handler: rapid.Bool().Draw(t, "handler"),
	}
	if accepted.Detached = rapid.IntRange(0, 3).Draw(t, "detached") == 0; !accepted.Detached {
		accepted.Deadline, accepted.Timer = f.now+9, f.seq
	}
	expires := rapid.SampledFrom([]int64{0, 0, f.now + 1, f.now + 20}).Draw(t, "expires")
	f.delegate(parent, rapid.Uint64Range(1, 3).Draw(t, "tick"), accepted, expires)
}

// LC-10: growth while a cascade is under way, even below what is void, which
// the rules forbid, changes nothing about whom it visits: who was there when it
// began, once and in order.
func TestGrowthDuringACascade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest()
		f.root()
		f.growBelow(t, 1, 3)
		for range rapid.IntRange(0, 12).Draw(t, "requests") {
			f.growBelow(t, rapid.Uint32Range(1, f.last()).Draw(t, "parent"), 3)
		}
		f.void(rapid.SampledFrom([]uint32{1, 1, f.parent[f.last()]}).Draw(t, "root"), failure.Killed)
		for len(f.waiting) > 0 {
			for range rapid.IntRange(1, 5).Draw(t, "portion") {
				f.visit(t, rapid.Bool().Draw(t, "revokes"))
			}
			if len(f.rows) < 80 {
				f.growBelow(t, rapid.Uint32Range(1, f.last()).Draw(t, "parent"), 2)
			}
		}
		f.check(t)
	})
}

// anyRows are rows that no history makes: links lead anywhere, and some rows
// are missing.
func anyRows(t *rapid.T, f *forest, numbers *rapid.Generator[uint32]) (rows func(no uint32) *delegation.Row) {
	row := rapid.Custom(func(t *rapid.T) delegation.Row {
		return delegation.Row{
			Parent: rapid.OneOf(rapid.Just(uint32(1)), numbers).Draw(t, "parent"), FirstChild: numbers.Draw(t, "first"),
			LastChild: numbers.Draw(t, "last"), NextSibling: numbers.Draw(t, "next"),
			Token: rapid.Uint64Range(0, 2).Draw(t, "token"), VoidBefore: rapid.Uint64Range(0, 3).Draw(t, "void before"),
		}
	})
	f.rows = append(f.rows, rapid.SliceOfN(row, 0, 6).Draw(t, "rows")...)
	missing := rapid.SliceOfN(numbers, 0, 1).Draw(t, "missing")
	return func(no uint32) *delegation.Row {
		if slices.Contains(missing, no) {
			return nil
		}
		return f.row(no)
	}
}

// INV-08: whatever the rows hold, walks end, and the appliers take in any record.
func TestWalksEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.OneOf(rapid.Uint32Range(0, 6), rapid.Uint32Range(0, 6), rapid.SampledFrom([]uint32{1 << 31, 1<<32 - 1}))
		f := newForest()
		rows := anyRows(t, f, numbers)
		for range rapid.IntRange(0, 2).Draw(t, "records") {
			at := f.at()
			parent, tick, call := numbers.Draw(t, "parent"), uint64(1), uint32(1)
			f.tables.ApplyIssued(rows, numbers.Draw(t, "agent"), at, &delegation.TokenIssued{Parent: parent})
			f.tables.ApplyAccepted(parent, tick, &delegation.DelegationAccepted{Call: call, First: numbers.Draw(t, "first"), Count: numbers.Draw(t, "count")})
			f.tables.ApplyResult(&delegation.ChildResult{Parent: parent, Tick: tick, Call: call})
			f.tables.ApplyCancelled(parent, at, &delegation.RequestCancelled{Tick: tick, Call: call, Code: failure.Killed})
			if row := rows(parent); row != nil {
				f.tables.ApplyVoided(row, parent, f.at(), &delegation.ChildrenVoided{Code: failure.Killed})
				f.tables.ApplyRevoked(row, parent, f.at(), &delegation.TokenRevoked{Code: failure.Killed, Cascade: true, Cursor: true})
			}
		}
		f.tables.LoadCascade(&delegation.Cascade{
			ID: rapid.Uint64Range(0, 9).Draw(t, "id"), Kind: delegation.Kind(rapid.IntRange(1, 2).Draw(t, "kind")),
			Root: numbers.Draw(t, "root"), Last: numbers.Draw(t, "last"), At: numbers.Draw(t, "at"),
		})
		for no := range f.last() + 2 {
			delegation.InForce(rows, no, 0)
			delegation.HasLive(rows, no)
			delegation.Root(rows, no)
			for other := range f.last() + 2 {
				delegation.IsAncestor(rows, other, no)
			}
			checkChildren(t, rows, no)
		}
		checkDrain(t, f, rows)
	})
}

// checkChildren: no agent is listed twice, and none that is another's.
func checkChildren(t *rapid.T, rows delegation.Rows, no uint32) {
	last := no
	delegation.Children(rows, no, func(child uint32) bool {
		require.Greater(t, child, last)
		require.Equal(t, no, rows(child).Parent)
		last = child
		return true
	})
}

// checkDrain: every cascade comes to its end, and visits nobody twice.
func checkDrain(t *rapid.T, f *forest, rows delegation.Rows) {
	var visited []uint32
	for c, ok := f.tables.FirstCascade(); ok; c, ok = f.tables.FirstCascade() {
		no, more := delegation.Next(c, rows)
		if !more {
			f.tables.ApplyMoved(&delegation.CascadeMoved{Done: true})
			visited = nil
			continue
		}
		require.NotNil(t, rows(no), "agent %d is none", no)
		require.NotContains(t, visited, no)
		visited = append(visited, no)
		f.tables.ApplyMoved(&delegation.CascadeMoved{At: no})
	}
}

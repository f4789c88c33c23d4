package delegation_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// forest drives the package as the kernel does, every record through its log
// form, beside a naive model: lists of children, sets of void agents, recursion.
type forest struct {
	rows   []delegation.Row // by number; 0 is unused
	tables delegation.Tables
	seq    uint64
	now    int64

	children map[uint32][]uint32
	parent   map[uint32]uint32
	expires  map[uint32]int64
	revoked  map[uint32]failure.Code
	voided   map[uint32]failure.Code // why those of its children are void that are in orphans
	orphans  map[uint32]bool
	ended    map[uint32]bool
	calls    map[uint32]uint32 // requests that the agent made so far
	open     []delegation.Open // by parent, tick, call
	waiting  []expected
}

// expected is what the model expects of one cascade.
type expected struct {
	cascade delegation.Cascade
	visits  []uint32
	visited []uint32
}

func newForest() *forest {
	return &forest{
		rows:     make([]delegation.Row, 1),
		children: map[uint32][]uint32{}, parent: map[uint32]uint32{}, expires: map[uint32]int64{},
		revoked: map[uint32]failure.Code{}, voided: map[uint32]failure.Code{}, orphans: map[uint32]bool{}, ended: map[uint32]bool{}, calls: map[uint32]uint32{},
	}
}

// row serves both as what reads and as what edits.
func (f *forest) row(no uint32) *delegation.Row {
	if no == 0 || no >= uint32(len(f.rows)) {
		return nil
	}
	return &f.rows[no]
}

func (f *forest) last() uint32 { return uint32(len(f.rows) - 1) }

func (f *forest) at() bus.At {
	f.seq++
	return bus.At{Seq: f.seq, Now: f.now}
}

// logged takes a body through the log.
func logged[T bus.Body](body T, decode func([]byte) (T, bool)) T {
	decoded, ok := decode(body.AppendTo(nil))
	if !ok {
		panic(fmt.Sprintf("%+v does not decode", body))
	}
	return decoded
}

// issue gives the next number to an agent, below nobody or by a request.
func (f *forest) issue(parent uint32, expires int64, tick uint64, call, position uint32) uint32 {
	f.rows = append(f.rows, delegation.Row{})
	no := f.last()
	body := &delegation.TokenIssued{
		Token: [16]byte{byte(no)}, Parent: parent, Depth: 3, Expires: expires, Tick: tick, Call: call, Position: position,
	}
	f.tables.ApplyIssued(f.row, no, f.at(), logged(body, delegation.DecodeTokenIssued))
	f.parent[no], f.expires[no] = parent, expires
	if parent != 0 {
		f.children[parent] = append(f.children[parent], no)
	}
	return no
}

func (f *forest) root() uint32 { return f.issue(0, 0, 0, 0, 0) }

// delegate makes children by one request.
func (f *forest) delegate(parent uint32, tick uint64, b delegation.DelegationAccepted, expires int64) {
	f.calls[parent]++
	b.Call, b.First = f.calls[parent], f.last()+1
	f.at()
	f.tables.ApplyAccepted(parent, tick, logged(&b, delegation.DecodeDelegationAccepted))
	if !b.Detached {
		f.open = append(f.open, delegation.Open{
			Parent: parent, Tick: tick, Call: b.Call, First: b.First, Count: b.Count, Open: b.Count,
			FailFast: b.FailFast, Handler: b.Handler, Deadline: b.Deadline, Timer: b.Timer,
		})
		slices.SortFunc(f.open, func(a, b delegation.Open) int {
			return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Call, b.Call))
		})
	}
	for position := range b.Count {
		f.issue(parent, expires, tick, b.Call, position)
	}
}

// below lists everything below the agent in pre-order, by recursion.
func (f *forest) below(no uint32) (list []uint32) {
	for _, child := range f.children[no] {
		list = append(append(list, child), f.below(child)...)
	}
	return list
}

func (f *forest) expectBelow(no uint32, at bus.At, code failure.Code) {
	f.waiting = append(f.waiting, expected{
		cascade: delegation.Cascade{ID: at.Seq, Kind: delegation.OfSubtree, Root: no, Code: code}, visits: f.below(no),
	})
}

// revoke takes one token, on a cascade's account or not.
func (f *forest) revoke(no uint32, code failure.Code, cursor bool) {
	at := f.at()
	body := &delegation.TokenRevoked{
		Code: code, Reason: "why", Token: [16]byte{1}, Parent: f.parent[no], Depth: 3, Expires: f.expires[no], Cascade: !cursor, Cursor: cursor,
	}
	f.tables.ApplyRevoked(f.row(no), no, at, logged(body, delegation.DecodeTokenRevoked))
	if f.revoked[no] != "" {
		return // the first reason stands
	}
	f.revoked[no] = code
	if !cursor {
		f.expectBelow(no, at, code)
	}
}

func (f *forest) void(no uint32, code failure.Code) {
	at := f.at()
	f.tables.ApplyVoided(f.row(no), no, at, logged(&delegation.ChildrenVoided{Code: code}, delegation.DecodeChildrenVoided))
	if len(f.children[no]) == 0 {
		return
	}
	f.voided[no] = code
	for _, child := range f.children[no] {
		f.orphans[child] = true
	}
	f.expectBelow(no, at, code)
}

func (f *forest) cancel(i int, code failure.Code) {
	o := &f.open[i]
	at := f.at()
	f.tables.ApplyCancelled(o.Parent, at, logged(&delegation.RequestCancelled{Tick: o.Tick, Call: o.Call, Code: code}, delegation.DecodeRequestCancelled))
	if code == failure.WaitTimeout {
		o.Deadline, o.Timer = 0, 0
	}
	if o.Cancelled {
		return
	}
	o.Cancelled = true
	e := expected{cascade: delegation.Cascade{ID: at.Seq, Kind: delegation.OfRequest, Root: o.First, Last: o.First + o.Count - 1, Code: code}}
	for position := range o.Count {
		e.visits = append(e.visits, o.First+position)
	}
	f.waiting = append(f.waiting, e)
}

func (f *forest) result(i int, ok bool) {
	o := &f.open[i]
	f.at()
	body := &delegation.ChildResult{Parent: o.Parent, Tick: o.Tick, Call: o.Call, OK: ok}
	if !ok {
		body.Code, body.Class = failure.Killed, failure.Permanent
	}
	f.tables.ApplyResult(logged(body, delegation.DecodeChildResult))
	o.Open -= min(o.Open, 1)
}

// end takes an agent to TERMINATED, once.
func (f *forest) end(no uint32) {
	if parent := f.parent[no]; parent != 0 && !f.ended[no] {
		f.row(parent).ApplyChildOver()
	}
	f.ended[no] = true
}

func (f *forest) over(i int) {
	o := f.open[i]
	f.at()
	f.tables.ApplyOver(o.Parent, o.Tick, logged(&delegation.DelegationOver{Call: o.Call}, delegation.DecodeDelegationOver))
	f.open = slices.Delete(f.open, i, i+1)
}

// visit takes the first cascade one step further and reports whether there was
// one. Some visits find nothing to revoke.
func (f *forest) visit(t require.TestingT, revokes bool) bool {
	c, ok := f.tables.FirstCascade()
	require.Equal(t, len(f.waiting) > 0, ok)
	if !ok {
		return false
	}
	first := &f.waiting[0]
	require.Equal(t, first.cascade, *c, "first in, first out")
	no, ok := delegation.Next(c, f.row)
	if !ok {
		require.Equal(t, first.visits, first.visited)
		f.waiting = f.waiting[1:]
		f.at()
		f.tables.ApplyMoved(logged(&delegation.CascadeMoved{Done: true}, delegation.DecodeCascadeMoved))
		return true
	}
	require.Less(t, len(first.visited), len(first.visits), "agent %d is visited by nobody's wish", no)
	first.visited, first.cascade.At = append(first.visited, no), no
	if revokes {
		f.revoke(no, c.Code, true)
		return true
	}
	f.at()
	f.tables.ApplyMoved(logged(&delegation.CascadeMoved{At: no}, delegation.DecodeCascadeMoved))
	return true
}

// reload takes the tables through what a snapshot keeps of them.
func (f *forest) reload() {
	var fresh delegation.Tables
	f.tables.All(func(o *delegation.Open) bool {
		dup := *o
		fresh.Load(&dup)
		return true
	})
	f.tables.AllCascades(func(c *delegation.Cascade) bool {
		dup := *c
		fresh.LoadCascade(&dup)
		return true
	})
	f.tables = fresh
}

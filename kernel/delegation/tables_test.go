package delegation_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

func requests(tables *delegation.Tables) (n int) {
	tables.All(func(*delegation.Open) bool { n++; return true })
	return n
}

func cascades(tables *delegation.Tables) (n int) {
	tables.AllCascades(func(*delegation.Cascade) bool { n++; return true })
	return n
}

// DE-3: a request counts its children off, and not below nobody.
func TestOpenRequest(t *testing.T) {
	var tables delegation.Tables
	tables.ApplyAccepted(7, 3, &delegation.DelegationAccepted{Call: 2, First: 8, Count: 2, FailFast: true, Handler: true, Deadline: 90, Timer: 5})
	tables.ApplyAccepted(7, 4, &delegation.DelegationAccepted{Call: 1, First: 10, Count: 1})
	tables.ApplyAccepted(6, 9, &delegation.DelegationAccepted{Call: 1, First: 11, Count: 1})
	tables.ApplyAccepted(8, 5, &delegation.DelegationAccepted{Call: 1, First: 12, Count: 1})
	tables.ApplyAccepted(9, 5, &delegation.DelegationAccepted{Call: 1, First: 13, Count: 1, Detached: true})
	tables.ApplyAccepted(9, 6, &delegation.DelegationAccepted{Call: 1, First: 14})
	require.Equal(t, 4, requests(&tables), "nobody waits for a detached one, or for no children")
	before := tables.Publish()
	want := delegation.Open{
		Parent: 7, Tick: 3, Call: 2, First: 8, Count: 2, Open: 2, FailFast: true, Handler: true, Deadline: 90, Timer: 5,
	}
	got, ok := tables.Get(7, 3, 2)
	require.True(t, ok)
	require.Equal(t, want, *got)
	for _, left := range []uint32{1, 0, 0} {
		tables.ApplyResult(&delegation.ChildResult{Parent: 7, Tick: 3, Call: 2, OK: left == 0})
		got, _ = tables.Get(7, 3, 2)
		require.Equal(t, left, got.Open)
	}
	tables.ApplyResult(&delegation.ChildResult{Parent: 1, Tick: 1, Call: 1})
	require.Equal(t, 4, requests(&tables), "a result of no request makes none")

	var ticks []uint64
	tables.OfParent(7, func(o *delegation.Open) bool {
		ticks = append(ticks, o.Tick)
		return true
	})
	require.Equal(t, []uint64{3, 4}, ticks)
	tables.ApplyOver(7, 3, &delegation.DelegationOver{Call: 2})
	tables.ApplyOver(7, 3, &delegation.DelegationOver{Call: 2})
	_, ok = tables.Get(7, 3, 2)
	require.False(t, ok)
	require.Equal(t, 3, requests(&tables))
	got, _ = before.Get(7, 3, 2)
	require.Equal(t, want, *got)
}

// PE-3: the tick waits again for the last of its own requests, not for one that
// the same agent made in another tick.
func TestNewest(t *testing.T) {
	var tables delegation.Tables
	for call, tick := range []uint64{3, 3, 4} {
		tables.ApplyAccepted(7, tick, &delegation.DelegationAccepted{Call: uint32(call + 1), First: 8, Count: 1})
	}
	newest, ok := tables.Newest(7, 3)
	require.True(t, ok)
	require.EqualValues(t, 2, newest.Call)
	_, ok = tables.Newest(7, 5)
	require.False(t, ok)
	_, ok = tables.Newest(6, 3)
	require.False(t, ok)
}

// DE-2, INV-08: an agent gets one token and one parent, which has a smaller
// number; what says otherwise changes nothing.
func TestIssueIsOnce(t *testing.T) {
	f := newForest()
	f.root()
	f.issue(1, 50, 4, 1, 1)
	f.issue(1, 0, 0, 0, 0)
	require.Equal(t, delegation.Row{
		Parent: 1, NextSibling: 3, Tick: 4, Call: 1, Position: 1, Depth: 3, Expires: 50, Token: 2,
	}, f.rows[2])
	f.rows = append(f.rows, delegation.Row{}, delegation.Row{}, delegation.Row{})
	before := slices.Clone(f.rows)
	issue := func(no, parent uint32) {
		f.tables.ApplyIssued(f.row, no, bus.At{Seq: 9}, &delegation.TokenIssued{Parent: parent, Depth: 9})
	}
	issue(2, 1) // again
	issue(3, 2) // another parent
	issue(4, 4) // itself
	issue(4, 5) // one that is below, or may come to be
	issue(4, 77)
	issue(77, 1)
	require.Equal(t, before, f.rows)
	issue(5, 1)
	issue(4, 1) // out of order
	require.Zero(t, f.rows[4])
	require.EqualValues(t, 5, f.rows[1].LastChild)
	require.Equal(t, []uint32{2, 3, 5}, childrenOf(f.row, 1))
}

// INV-13: who has no token has none in force.
func TestNoToken(t *testing.T) {
	f := newForest()
	f.rows = append(f.rows, delegation.Row{}, delegation.Row{Parent: 1, Token: 1})
	for no, account := range []uint32{0, 1, 1, 3} {
		ok, code, holder := delegation.InForce(f.row, uint32(no), 0)
		require.False(t, ok)
		require.Equal(t, failure.TokenRevoked, code)
		require.Equal(t, account, holder)
	}
}

// Kernel time decides: a token is void from the millisecond of its expiry on.
func TestExpiry(t *testing.T) {
	f := newForest()
	f.root()
	f.issue(1, 100, 0, 0, 0)
	f.issue(2, 0, 0, 0, 0)
	for now, want := range map[int64]bool{-5: true, 99: true, 100: false, 101: false} {
		for no := uint32(2); no <= 3; no++ {
			ok, code, holder := delegation.InForce(f.row, no, now)
			require.Equal(t, want, ok, "at %d", now)
			if !ok {
				require.Equal(t, failure.TokenExpired, code)
				require.EqualValues(t, 2, holder)
			}
		}
	}
}

// LC-10: one record voids a subtree, before any cascade has come to it; of what
// is revoked twice the first reason stays. Cancelling a request takes no token:
// its children are ended one by one.
func TestOneRecordVoidsAll(t *testing.T) {
	f := newForest()
	f.root()
	f.delegate(1, 1, delegation.DelegationAccepted{Count: 2}, 0) // 2, 3
	f.delegate(2, 1, delegation.DelegationAccepted{Count: 1}, 0) // 4
	f.delegate(3, 1, delegation.DelegationAccepted{Count: 1}, 0) // 5
	force := func(no uint32) failure.Code {
		_, code, _ := delegation.InForce(f.row, no, 0)
		return code
	}
	f.cancel(2, failure.Killed) // 3's request: 5
	require.Empty(t, force(5))
	f.cancel(2, failure.Killed)
	require.Equal(t, 1, cascades(&f.tables), "a request is cancelled once")
	f.revoke(2, failure.TokenRevoked, false)
	f.revoke(2, failure.TokenExpired, false)
	require.Equal(t, failure.TokenRevoked, force(2))
	require.Equal(t, failure.TokenRevoked, force(4))
	require.Equal(t, 2, cascades(&f.tables), "what rests on a token is visited once on its account")
	f.void(1, failure.Killed)
	require.Equal(t, failure.Killed, force(3))
	require.Empty(t, force(1))
	require.Equal(t, 3, cascades(&f.tables))
	f.void(4, failure.Killed)
	require.Equal(t, 3, cascades(&f.tables), "nothing rests on it")
	for f.visit(t, true) {
	}
	f.check(t)
}

// DE-3, LC-12: the timer of a request may fire after fail_fast has cancelled it,
// while its last children are being ended. Then it is no longer set.
func TestTimeoutAfterCancellation(t *testing.T) {
	var tables delegation.Tables
	tables.ApplyAccepted(1, 5, &delegation.DelegationAccepted{Call: 1, First: 2, Count: 2, FailFast: true, Deadline: 90, Timer: 7})
	tables.ApplyCancelled(1, bus.At{Seq: 3}, &delegation.RequestCancelled{Tick: 5, Call: 1, Code: failure.Killed})
	got, _ := tables.Get(1, 5, 1)
	require.True(t, got.Cancelled)
	require.EqualValues(t, 7, got.Timer, "it runs on")
	before := tables.Publish()
	tables.ApplyCancelled(1, bus.At{Seq: 4}, &delegation.RequestCancelled{Tick: 5, Call: 1, Code: failure.WaitTimeout})
	got, _ = tables.Get(1, 5, 1)
	require.True(t, got.Cancelled)
	require.Zero(t, got.Timer)
	require.Zero(t, got.Deadline)
	require.Equal(t, 1, cascades(&tables))
	got, _ = before.Get(1, 5, 1)
	require.EqualValues(t, 7, got.Timer)
}

// FA-2: an agent whose permanent fault was reclassified delegates again. Its new
// children are in force, and the cascade that is still under way does not come
// to them.
func TestDelegatingAgainAfterRecovery(t *testing.T) {
	f := newForest()
	f.root()
	f.delegate(1, 1, delegation.DelegationAccepted{Count: 2}, 0) // 2, 3
	f.void(1, failure.EvalFailure)
	require.False(t, delegation.HasLive(f.row, 1))
	f.visit(t, true)
	f.delegate(1, 2, delegation.DelegationAccepted{Count: 2}, 0) // 4, 5
	require.True(t, delegation.HasLive(f.row, 1))
	for no, want := range map[uint32]bool{2: false, 3: false, 4: true, 5: true} {
		ok, _, _ := delegation.InForce(f.row, no, 0)
		require.Equal(t, want, ok, "agent %d", no)
	}
	require.Equal(t, []uint32{2, 3}, f.waiting[0].visits)
	for f.visit(t, true) {
	}
	f.check(t)
	f.void(1, failure.Killed)
	for f.visit(t, true) {
	}
	ok, code, _ := delegation.InForce(f.row, 5, 0)
	require.False(t, ok)
	require.Equal(t, failure.Killed, code)
}

// LC-10: nothing below an agent is left to void once its children are TERMINATED.
func TestHasLive(t *testing.T) {
	f := newForest()
	f.root()
	require.False(t, delegation.HasLive(f.row, 1))
	f.delegate(1, 1, delegation.DelegationAccepted{Count: 2, Detached: true}, 0) // 2, 3
	f.end(3)
	require.True(t, delegation.HasLive(f.row, 1))
	f.end(2)
	require.False(t, delegation.HasLive(f.row, 1))
	f.row(1).ApplyChildOver()
	require.Zero(t, f.rows[1].Live, "there are no fewer than none")
	require.False(t, delegation.HasLive(f.row, 9))
}

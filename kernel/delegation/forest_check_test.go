package delegation_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// inForce is the rule as the design says it, by recursion.
func (f *forest) inForce(no uint32) (ok bool, code failure.Code, holder uint32) {
	parent, expires := f.parent[no], f.expires[no]
	switch {
	case f.revoked[no] != "":
		return false, f.revoked[no], no
	case expires != 0 && f.now >= expires:
		return false, failure.TokenExpired, no
	case parent == 0:
		return true, "", 0
	case f.orphans[no]:
		return false, f.voided[parent], parent
	}
	return f.inForce(parent)
}

// check compares every read with the model.
func (f *forest) check(t require.TestingT) {
	for no := uint32(1); no <= f.last(); no++ {
		ok, code, holder := f.inForce(no)
		gotOK, gotCode, gotHolder := delegation.InForce(f.row, no, f.now)
		require.Equal(t, []any{ok, code, holder}, []any{gotOK, gotCode, gotHolder}, "agent %d", no)
		require.Equal(t, f.children[no], childrenOf(f.row, no))
		live := slices.ContainsFunc(f.children[no], func(child uint32) bool { return !f.ended[child] })
		anew := slices.ContainsFunc(f.children[no], func(child uint32) bool { return !f.orphans[child] })
		require.Equal(t, live && anew, delegation.HasLive(f.row, no), "agent %d", no)

		line, root := []uint32{no}, no
		for at := f.parent[no]; at != 0; at = f.parent[at] {
			line, root = append(line, at), at
		}
		require.Equal(t, root, delegation.Root(f.row, no))
		for other := range f.last() + 1 {
			if delegation.IsAncestor(f.row, other, no) != slices.Contains(line, other) {
				require.Fail(t, "wrong ancestor", "%d above %d", other, no)
			}
		}
	}
	checkTables(t, &f.tables, f.open, f.waiting)
}

func childrenOf(rows delegation.Rows, no uint32) (list []uint32) {
	delegation.Children(rows, no, func(child uint32) bool {
		list = append(list, child)
		return len(list) < 1<<16
	})
	return list
}

func checkTables(t require.TestingT, tables *delegation.Tables, open []delegation.Open, waiting []expected) {
	var got []delegation.Open
	tables.All(func(o *delegation.Open) bool {
		got = append(got, *o)
		return true
	})
	require.Equal(t, len(open), len(got))
	for i, want := range open {
		require.Equal(t, want, got[i])
		one, ok := tables.Get(want.Parent, want.Tick, want.Call)
		require.True(t, ok)
		require.Equal(t, want, *one)

		var parents, tick []delegation.Open
		for _, o := range open {
			if o.Parent == want.Parent {
				parents = append(parents, o)
				if o.Tick == want.Tick {
					tick = append(tick, o)
				}
			}
		}
		var ofParent []delegation.Open
		tables.OfParent(want.Parent, func(o *delegation.Open) bool {
			ofParent = append(ofParent, *o)
			return true
		})
		require.Equal(t, parents, ofParent)
		newest, ok := tables.Newest(want.Parent, want.Tick)
		require.True(t, ok)
		require.Equal(t, tick[len(tick)-1], *newest)
	}
	next := 0
	tables.AllCascades(func(c *delegation.Cascade) bool {
		require.Less(t, next, len(waiting))
		require.Equal(t, waiting[next].cascade, *c)
		next++
		return true
	})
	require.Len(t, waiting, next)
}

package delegation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// LC-10: the children of a request have dense numbers; the last there can be is
// a number too.
func TestCascadeOfARequest(t *testing.T) {
	there := func(uint32) *delegation.Row { return &delegation.Row{} }
	c := &delegation.Cascade{Kind: delegation.OfRequest, Root: 1<<32 - 2, Last: 1<<32 - 1}
	var visited []uint32
	for len(visited) < 9 {
		no, ok := delegation.Next(c, there)
		if !ok {
			break
		}
		visited, c.At = append(visited, no), no
	}
	require.Equal(t, []uint32{1<<32 - 2, 1<<32 - 1}, visited)
	for _, c := range []*delegation.Cascade{
		{Kind: delegation.OfRequest, Root: 4, Last: 6, At: 9}, {Kind: delegation.OfRequest, Root: 4, Last: 3}, {Kind: delegation.OfRequest},
		{Kind: delegation.OfSubtree, Root: 9},
	} {
		no, ok := delegation.Next(c, newForest().row)
		require.False(t, ok, "%+v", c)
		require.Zero(t, no)
	}
}

// A walk ends where a row is missing on its way up.
func TestCascadeWithoutItsRows(t *testing.T) {
	rows := func(no uint32) *delegation.Row {
		if no == 5 {
			return &delegation.Row{Parent: 3, Token: 1}
		}
		return nil
	}
	_, ok := delegation.Next(&delegation.Cascade{ID: 9, Kind: delegation.OfSubtree, Root: 1, At: 5}, rows)
	require.False(t, ok)
	inForce, code, holder := delegation.InForce(rows, 5, 0)
	require.False(t, inForce)
	require.Equal(t, failure.TokenRevoked, code)
	require.EqualValues(t, 3, holder)
	require.EqualValues(t, 3, delegation.Root(rows, 5))
	require.False(t, delegation.IsAncestor(rows, 1, 5))
}

// INV-08: links that make a ring are not followed.
func TestRings(t *testing.T) {
	for name, rows := range map[string][]delegation.Row{
		"its own child":            {{}, {Parent: 1, FirstChild: 1}},
		"its own sibling":          {{}, {FirstChild: 2}, {Parent: 1, NextSibling: 2}},
		"an older sibling is next": {{}, {FirstChild: 2}, {Parent: 1, NextSibling: 3}, {Parent: 1, NextSibling: 2}},
		"another's child is next":  {{}, {FirstChild: 3}, {Parent: 1, NextSibling: 3}, {Parent: 1, NextSibling: 4}, {Parent: 2}},
		"below each other":         {{}, {Parent: 2, FirstChild: 2}, {Parent: 1, FirstChild: 1}},
	} {
		f := newForest()
		f.rows = rows
		c := &delegation.Cascade{ID: 1, Kind: delegation.OfSubtree, Root: 1}
		visits := 0
		for ; visits < 9; visits++ {
			no, ok := delegation.Next(c, f.row)
			if !ok {
				break
			}
			c.At = no
		}
		require.Less(t, visits, 3, name)
		require.Less(t, len(childrenOf(f.row, 1)), 3, name)
		delegation.InForce(f.row, 1, 0)
		require.LessOrEqual(t, delegation.Root(f.row, 2), uint32(2), name)
		require.False(t, delegation.IsAncestor(f.row, 9, 2), name)
	}
}

// Where there is no cascade, there is nothing to move or to end.
func TestCursorWithoutACascade(t *testing.T) {
	var tables delegation.Tables
	row := delegation.Row{Token: 1}
	tables.ApplyMoved(&delegation.CascadeMoved{At: 5})
	tables.ApplyMoved(&delegation.CascadeMoved{Done: true})
	tables.ApplyRevoked(&row, 4, bus.At{Seq: 1}, &delegation.TokenRevoked{Code: failure.Killed, Cursor: true})
	tables.ApplyCancelled(1, bus.At{Seq: 2}, &delegation.RequestCancelled{Tick: 1, Call: 1, Code: failure.Killed})
	_, ok := tables.FirstCascade()
	require.False(t, ok)
	parent := delegation.Row{FirstChild: 2, LastChild: 2}
	tables.ApplyVoided(&parent, 1, bus.At{Seq: 3}, &delegation.ChildrenVoided{Code: failure.Killed})
	c, ok := tables.FirstCascade()
	require.True(t, ok)
	require.Zero(t, c.At, "a cursor of before is not its")
}

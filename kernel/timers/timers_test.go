package timers_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/timers"
)

// EV-6: timers come in (deadline, id) order, whatever order they were set in,
// and a published copy keeps those it had.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tables := timers.Tables{}
		var row timers.Row
		var want []timers.Timer
		for id := range rapid.IntRange(0, 40).Draw(t, "n") {
			one := timers.Timer{
				Deadline: rapid.Int64Range(-3, 3).Draw(t, "deadline"), ID: uint64(id + 1), Purpose: timers.CallDeadline, Agent: 7,
			}
			tables.ApplySet(&row, &timers.Set{Timer: one})
			want = append(want, one)
		}
		slices.SortStableFunc(want, func(a, b timers.Timer) int { return int(a.Deadline - b.Deadline) })
		before := tables.Publish()
		require.EqualValues(t, len(want), tables.Next)
		for _, one := range want {
			first, ok := tables.First()
			require.True(t, ok)
			require.Equal(t, one, first)
			tables.ApplyCleared(&row, &timers.Cleared{Deadline: one.Deadline, ID: one.ID})
		}
		_, ok := tables.First()
		require.False(t, ok)
		require.EqualValues(t, len(want), tables.Next, "ids are never reused")
		var kept []timers.Timer
		before.All(func(one timers.Timer) bool {
			kept = append(kept, one)
			return true
		})
		require.Equal(t, want, kept)
	})
}

// The row holds the one timer of the agent's state; a call's deadline is not
// of that kind, and clearing it leaves the row alone.
func TestRow(t *testing.T) {
	tables := timers.Tables{}
	var row timers.Row
	set := func(id uint64, purpose timers.Purpose) {
		tables.ApplySet(&row, &timers.Set{Timer: timers.Timer{Deadline: 5, ID: id, Purpose: purpose}})
	}
	set(1, timers.CallDeadline)
	require.Zero(t, row)
	set(2, timers.SleepOver)
	require.Equal(t, timers.Row{Deadline: 5, ID: 2}, row)
	tables.ApplyCleared(&row, &timers.Cleared{Deadline: 5, ID: 1})
	require.Equal(t, timers.Row{Deadline: 5, ID: 2}, row)
	tables.ApplyCleared(&row, &timers.Cleared{Deadline: 5, ID: 2, Fired: true})
	require.Zero(t, row)
	require.Zero(t, tables.Len())
}

package identity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/identity"
)

// Agents are found by their UUID and listed in its order; a published copy
// does not see later ones.
func TestRegistry(t *testing.T) {
	tables := identity.Tables{}
	rows := make([]identity.Row, 4)
	for no, first := range map[uint32]byte{1: 9, 2: 3, 3: 7} {
		tables.Apply(&rows[no], no, bus.At{Seq: uint64(no), Now: 5}, &identity.Defined{ID: identity.ID{first}, Name: "a", Mode: identity.Task})
	}
	require.Equal(t, identity.Row{ID: identity.ID{3}, Name: "a", Mode: identity.Task, DefinedAt: 5, Seq: 2}, rows[2])
	before := tables.Publish()
	var row identity.Row
	tables.Apply(&row, 4, bus.At{}, &identity.Defined{ID: identity.ID{1}})

	no, ok := tables.Find(identity.ID{7})
	require.True(t, ok)
	require.EqualValues(t, 3, no)
	_, ok = tables.Find(identity.ID{8})
	require.False(t, ok)
	_, ok = before.Find(identity.ID{1})
	require.False(t, ok)

	list := func(t *identity.Tables, from identity.ID, most int) (numbers []uint32) {
		t.From(from, func(_ identity.ID, no uint32) bool {
			numbers = append(numbers, no)
			return len(numbers) < most
		})
		return numbers
	}
	require.Equal(t, []uint32{4, 2, 3, 1}, list(&tables, identity.ID{}, 9))
	require.Equal(t, []uint32{3, 1}, list(&tables, identity.ID{4}, 9), "from there on")
	require.Equal(t, []uint32{2, 3}, list(&tables, identity.ID{3}, 2))
	require.Equal(t, []uint32{2, 3, 1}, list(&before, identity.ID{}, 9))
}

func TestModeNames(t *testing.T) {
	require.Equal(t, "task", identity.Task.String())
	require.Equal(t, "service", identity.Service.String())
	require.Equal(t, "unknown", identity.Mode(0).String())
}

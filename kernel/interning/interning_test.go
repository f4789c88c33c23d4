package interning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/interning"
)

func gain(t *interning.Tables, entries ...interning.GainedEntry) {
	t.ApplyGained(&interning.Gained{Entries: entries}, 9)
}

// A body is kept once, with a count of its users, until the last is gone; its
// number is never given again.
func TestUsersAreCounted(t *testing.T) {
	var tables interning.Tables
	body := []byte("body")
	gain(&tables, interning.GainedEntry{No: 1, Class: interning.Labels, New: true, Body: body})
	body[0] = 'x' // the log's buffer is not kept
	gain(&tables, interning.GainedEntry{No: 1, Class: interning.Labels}, interning.GainedEntry{No: 2, Class: interning.Env, New: true, Body: []byte("bo")})
	require.Equal(t, "body", string(tables.Body(1)))
	require.EqualValues(t, 2, tables.Users(1))
	require.EqualValues(t, 6, tables.Bytes)
	found, ok := tables.Find(interning.DigestOf(interning.Labels, []byte("body")))
	require.True(t, ok)
	require.EqualValues(t, 1, found.No)
	require.EqualValues(t, 9, found.Block, "where the log has it")
	_, ok = tables.Find(interning.DigestOf(interning.Env, []byte("body")))
	require.False(t, ok, "the class is part of the name")

	before := tables.Publish()
	tables.ApplyLost(&interning.Lost{Numbers: []uint32{1, 2}})
	require.EqualValues(t, 1, tables.Users(1))
	require.Nil(t, tables.Get(2))
	require.Nil(t, tables.Body(2))
	tables.ApplyLost(&interning.Lost{Numbers: []uint32{1}})
	require.Zero(t, tables.Bytes)
	_, ok = tables.Find(interning.DigestOf(interning.Labels, []byte("body")))
	require.False(t, ok)
	require.EqualValues(t, 2, tables.Next)
	require.EqualValues(t, 2, before.Users(1), "a published copy keeps its counts")
	require.Equal(t, "bo", string(before.Body(2)))
	require.EqualValues(t, 6, before.Bytes)
}

// A count that the bytes cannot hold is refused before memory is taken for it.
func TestDecodeIsBounded(t *testing.T) {
	huge := bus.AppendUint(nil, 1<<60)
	_, ok := interning.DecodeGained(huge)
	require.False(t, ok)
	_, ok = interning.DecodeLost(huge)
	require.False(t, ok)
}

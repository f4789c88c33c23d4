package lifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// LC-8: a row keeps the count, the chain over all transitions, and the last
// four, oldest first; the class of the fault only while FAULTED.
func TestRowKeepsWhatItMay(t *testing.T) {
	steps := []lifecycle.Event{
		{From: lifecycle.Defined, To: lifecycle.Spawned, Trigger: lifecycle.Spawn, Caller: lifecycle.Client},
		{From: lifecycle.Spawned, To: lifecycle.Active, Trigger: lifecycle.Activate, Caller: lifecycle.Client},
		{From: lifecycle.Active, To: lifecycle.Waiting, Trigger: lifecycle.AwaitTool, Caller: lifecycle.Kernel},
		{From: lifecycle.Waiting, To: lifecycle.Faulted, Trigger: lifecycle.Timeout, Caller: lifecycle.Scheduler, Class: failure.Transient},
		{From: lifecycle.Faulted, To: lifecycle.Recovering, Trigger: lifecycle.Recover, Caller: lifecycle.Client},
		{From: lifecycle.Recovering, To: lifecycle.Active, Trigger: lifecycle.RecoverySuccess, Caller: lifecycle.Kernel},
	}
	var row lifecycle.Row
	chains := map[[32]byte]bool{row.Chain: true}
	for i := range steps {
		row.Apply(bus.At{Seq: uint64(10 * (i + 1)), Index: uint64(i + 1), Now: 7}, &steps[i])
		assert.False(t, chains[row.Chain], "each transition moves the chain")
		chains[row.Chain] = true
		assert.Equal(t, steps[i].To, row.State)
		want := failure.Unclassified
		if steps[i].To == lifecycle.Faulted {
			want = failure.Transient
		}
		assert.Equal(t, want, row.Fault)
	}
	require.EqualValues(t, len(steps), row.Count)
	recent := row.Recent()
	require.Len(t, recent, lifecycle.Kept)
	for i, step := range recent {
		from := len(steps) - lifecycle.Kept + i
		assert.Equal(t, lifecycle.Step{
			Seq: uint64(10 * (from + 1)), Index: uint64(from + 1), At: 7,
			From: steps[from].From, To: steps[from].To, Trigger: steps[from].Trigger, Caller: steps[from].Caller,
		}, step)
	}
}

// LC-8: equal transitions at other busSeqs, or in another order, are another chain.
func TestRowChainDependsOnEverything(t *testing.T) {
	spawn := lifecycle.Event{From: lifecycle.Defined, To: lifecycle.Spawned, Trigger: lifecycle.Spawn, Caller: lifecycle.Client}
	chain := func(seq uint64, change func(*lifecycle.Event)) [32]byte {
		e := spawn
		change(&e)
		var row lifecycle.Row
		row.Apply(bus.At{Seq: seq}, &e)
		return row.Chain
	}
	same := func(*lifecycle.Event) {}
	assert.Equal(t, chain(1, same), chain(1, same))
	for _, other := range [][32]byte{
		chain(2, same),
		chain(1, func(e *lifecycle.Event) { e.From = lifecycle.Active }),
		chain(1, func(e *lifecycle.Event) { e.To = lifecycle.Active }),
		chain(1, func(e *lifecycle.Event) { e.Trigger = lifecycle.Activate }),
		chain(1, func(e *lifecycle.Event) { e.Caller = lifecycle.Kernel }),
	} {
		assert.NotEqual(t, chain(1, same), other)
	}
}

// Names are the specification's, both ways.
func TestNames(t *testing.T) {
	for s := lifecycle.Defined; s < lifecycle.States; s++ {
		back, ok := lifecycle.ParseState(s.String())
		assert.True(t, ok)
		assert.Equal(t, s, back)
	}
	for trigger := lifecycle.Spawn; trigger <= lifecycle.Triggers; trigger++ {
		back, ok := lifecycle.ParseTrigger(trigger.String())
		assert.True(t, ok)
		assert.Equal(t, trigger, back)
	}
	for _, unknown := range []string{"", "kill", "SPAWN", "ACTIVE", "unknown_trigger"} {
		_, ok := lifecycle.ParseTrigger(unknown)
		assert.False(t, ok, unknown)
	}
	_, ok := lifecycle.ParseState("")
	assert.False(t, ok)
	assert.Equal(t, "UNKNOWN_STATE", lifecycle.State(9).String())
	assert.Equal(t, "unknown_trigger", lifecycle.Trigger(0).String())
	assert.Equal(t, "unknown_caller", lifecycle.Caller(0).String())
}

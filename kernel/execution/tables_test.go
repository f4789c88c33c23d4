package execution_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// EX-2, EX-4: the global queue is FIFO by place; an agent leaves it when it is
// frozen, started or released.
func TestQueue(t *testing.T) {
	var tables execution.Tables
	rows := make([]execution.Row, 4)
	for agent := uint32(1); agent <= 3; agent++ {
		tables.ApplyAllocated(&rows[agent])
		tables.ApplyQueued(&rows[agent], &execution.InstructionBody{Program: agent})
		tables.ApplyScheduled(&rows[agent], agent, &execution.PlaceBody{Place: tables.Next + 1})
	}
	require.EqualValues(t, 3, tables.Reserved)
	before := tables.Publish()
	first := func() uint32 {
		agent, ok := tables.First()
		require.Equal(t, ok, tables.Len() > 0)
		return agent
	}
	require.EqualValues(t, 1, first())
	tables.ApplyFrozen(&rows[1])
	require.Zero(t, rows[1].Place)
	require.EqualValues(t, 2, first())
	tables.ApplyScheduled(&rows[1], 1, &execution.PlaceBody{Place: tables.Next + 1})
	tables.ApplyStarted(&rows[2], bus.At{Index: 1}, 1, &execution.StartedBody{Program: 2, Run: 1})
	require.EqualValues(t, 3, first())
	tables.ApplyReleased(&rows[3])
	require.EqualValues(t, 1, first(), "it came back at the tail")
	require.Equal(t, execution.Row{}, rows[3])
	require.EqualValues(t, 2, tables.Reserved)
	tables.ApplyReleased(&rows[3])
	require.EqualValues(t, 2, tables.Reserved, "given back once")
	require.Equal(t, 3, before.Len())
	require.EqualValues(t, 3, before.Reserved)
}

// EX-8, FA-1: the life of a tick in a row: what a published copy of the row
// leads to is never changed, checkpoints come and go, recovery's stays.
func TestTickInARow(t *testing.T) {
	var tables execution.Tables
	var row execution.Row
	checkpoint := []byte{1, 2}
	var copies []execution.Row
	var at bus.At
	step := func(apply func()) *execution.Tick { // each an event of its own, published before
		copies = append(copies, row)
		at.Index++
		apply()
		return row.Current
	}
	started := &execution.StartedBody{Program: 4, Run: 1}
	step(func() { tables.ApplyQueued(&row, &execution.InstructionBody{Program: 4, Input: value.Null}) })
	require.True(t, row.Runnable())
	require.False(t, row.Idle())
	tick := step(func() { tables.ApplyStarted(&row, at, 1, started) })
	require.EqualExportedValues(t, execution.Tick{Seq: 1, Phase: execution.Running, Program: 4, Input: value.Null, Runs: 1}, *tick)
	require.False(t, row.Runnable())
	tick = step(func() {
		tables.ApplyPending(&row, at, &execution.PendingBody{Steps: 2, First: 1, Requests: []execution.Request{{Tool: "echo"}}, Checkpoint: checkpoint})
	})
	checkpoint[0] = 9 // the log's buffer is not kept
	require.Equal(t, []byte{1, 2}, tick.Checkpoint)
	require.Equal(t, []byte{1, 2}, tick.Recovery)
	require.False(t, row.Runnable())
	tick = step(func() {
		tables.ApplyDelivered(&row, at, &execution.DeliveredBody{Answer: execution.Answer{Call: 1, OK: true}})
	})
	require.Equal(t, execution.Answered, tick.Phase)
	require.True(t, row.Runnable())
	tick = step(func() { tables.ApplyStarted(&row, at, 1, &execution.StartedBody{Program: 4, Run: 2}) })
	require.Nil(t, tick.Checkpoint)
	require.Nil(t, tick.Waits)
	require.NotNil(t, tick.Recovery)
	fault := func(code failure.Code) func() {
		return func() {
			tables.ApplyFailed(&row, at, 1, &execution.FailedBody{Steps: 5, Failure: failure.Failure{Code: code, Message: "m", Node: 3}})
		}
	}
	tick = step(fault(failure.ToolTimeout))
	require.Equal(t, execution.Failed, tick.Phase)
	require.EqualValues(t, 5, tick.Steps)
	require.Equal(t, &execution.Result{Tick: 1, Code: failure.ToolTimeout, Message: "m", Node: 3}, row.Result)
	require.False(t, row.Runnable())
	tick = step(func() { tables.ApplyRestored(&row, at) })
	require.Equal(t, execution.Restored, tick.Phase)
	require.Equal(t, []byte{1, 2}, tick.Checkpoint)
	require.True(t, row.Runnable())
	before := row
	step(fault(failure.InvalidState))
	require.Equal(t, before, row, "unclassified: nothing of the tick is lost (EX-5)")
	tick = step(fault(failure.PermissionDenied))
	require.Nil(t, tick, "a policy violation is over (FA-3)")
	require.True(t, row.Idle())
	step(func() { tables.ApplyCompleted(&row, 2, &execution.CompletedBody{Value: value.Null}) })
	require.Equal(t, &execution.Result{Tick: 2, OK: true, Value: value.Null}, row.Result)

	phases := []execution.Phase{execution.Running, execution.Pending, execution.Answered, execution.Running, execution.Failed, execution.Restored}
	for i, phase := range phases {
		require.Equal(t, phase, copies[i+2].Current.Phase, "copy %d", i+2)
	}
}

// A queue that a published copy shares is not written over.
func TestQueueIsNotShared(t *testing.T) {
	var tables execution.Tables
	var row execution.Row
	for program := uint32(1); program <= 3; program++ {
		tables.ApplyQueued(&row, &execution.InstructionBody{Program: program})
	}
	copied := row
	at := bus.At{Index: 1}
	tables.ApplyStarted(&row, at, 1, &execution.StartedBody{Run: 1})
	tables.ApplyCompleted(&row, 1, &execution.CompletedBody{})
	shorter := row
	tables.ApplyQueued(&row, &execution.InstructionBody{Program: 4})
	tables.ApplyQueued(&shorter, &execution.InstructionBody{Program: 5})
	programs := func(r *execution.Row) (numbers []uint32) {
		for _, q := range r.Queue {
			numbers = append(numbers, q.Program)
		}
		return numbers
	}
	require.Equal(t, []uint32{1, 2, 3}, programs(&copied))
	require.Equal(t, []uint32{2, 3, 4}, programs(&row))
	require.Equal(t, []uint32{2, 3, 5}, programs(&shorter))
}

// Within one event a tick is copied once, whatever happens to it.
func TestTickIsCopiedOncePerEvent(t *testing.T) {
	var tables execution.Tables
	var row execution.Row
	tables.ApplyQueued(&row, &execution.InstructionBody{Program: 4})
	first, second := bus.At{Index: 7}, bus.At{Index: 8}
	tables.ApplyStarted(&row, first, 1, &execution.StartedBody{Program: 4, Run: 1})
	started := row.Current
	tables.ApplyPending(&row, first, &execution.PendingBody{Steps: 1, First: 1, Requests: []execution.Request{{Tool: "echo"}}})
	require.Same(t, started, row.Current)
	tables.ApplyDelivered(&row, second, &execution.DeliveredBody{Answer: execution.Answer{Call: 1}})
	require.NotSame(t, started, row.Current)
	require.Equal(t, execution.Pending, started.Phase)
	delivered := row.Current
	tables.ApplyStarted(&row, second, 1, &execution.StartedBody{Run: 2})
	require.Same(t, delivered, row.Current)
}

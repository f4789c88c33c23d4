package lifecycle_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// row is one line of agent-lifecycle.md section 4, written a second time by
// hand, with the callers of LC-3.
type row struct {
	no      uint8
	from    string
	trigger string
	to      string
	callers []string
}

// specified is every row there is: the specification's fifteen, row 16
// (teardown failed) and row 17 (breach), once for each state (LC-1, LC-3).
var specified = []row{
	{1, "DEFINED", "spawn", "SPAWNED", []string{"client", "kernel"}},
	{2, "SPAWNED", "activate", "ACTIVE", []string{"client", "kernel"}},
	{3, "ACTIVE", "yield", "WAITING", []string{"kernel"}},
	{3, "ACTIVE", "await_tool", "WAITING", []string{"kernel"}},
	{4, "ACTIVE", "complete", "COMPLETING", []string{"kernel"}},
	{5, "ACTIVE", "error", "FAULTED", []string{"kernel"}},
	{6, "ACTIVE", "suspend", "RESUMABLE", []string{"client", "parent"}},
	{7, "WAITING", "resume", "ACTIVE", []string{"scheduler"}},
	{8, "WAITING", "timeout", "FAULTED", []string{"scheduler"}},
	{8, "WAITING", "error", "FAULTED", []string{"scheduler"}},
	{9, "RESUMABLE", "resume", "ACTIVE", []string{"client", "parent", "kernel"}},
	{10, "RESUMABLE", "expire", "TERMINATED", []string{"client", "kernel"}},
	{11, "COMPLETING", "teardown_ok", "TERMINATED", []string{"kernel"}},
	{12, "FAULTED", "recover", "RECOVERING", []string{"client", "failure_handler"}},
	{13, "FAULTED", "abandon", "TERMINATED", []string{"client", "failure_handler"}},
	{14, "RECOVERING", "recovery_success", "ACTIVE", []string{"kernel"}},
	{15, "RECOVERING", "recovery_exhausted", "TERMINATED", []string{"kernel"}},
	{16, "COMPLETING", "error", "FAULTED", []string{"kernel"}},
	{17, "DEFINED", "breach", "TERMINATED", []string{"kernel"}},
	{17, "SPAWNED", "breach", "TERMINATED", []string{"kernel"}},
	{17, "ACTIVE", "breach", "TERMINATED", []string{"kernel"}},
	{17, "WAITING", "breach", "TERMINATED", []string{"kernel"}},
	{17, "RESUMABLE", "breach", "TERMINATED", []string{"kernel"}},
	{17, "COMPLETING", "breach", "TERMINATED", []string{"kernel"}},
	{17, "FAULTED", "breach", "TERMINATED", []string{"kernel"}},
	{17, "RECOVERING", "breach", "TERMINATED", []string{"kernel"}},
}

// LC-1, LC-3: the table is the specified rows, no more and no fewer.
func TestTableIsTheSpecifiedRows(t *testing.T) {
	require.EqualValues(t, 2, lifecycle.TableVersion)
	require.Len(t, lifecycle.Table, len(specified))
	for i, want := range specified {
		got := lifecycle.Table[i]
		var callers []string
		for c := lifecycle.Client; c <= lifecycle.Kernel; c++ {
			if got.May(c) {
				callers = append(callers, c.String())
			}
		}
		assert.Equal(t, want.no, got.Row)
		assert.Equal(t, want.from, got.From.String(), "row %d", want.no)
		assert.Equal(t, want.trigger, got.Trigger.String(), "row %d", want.no)
		assert.Equal(t, want.to, got.To.String(), "row %d", want.no)
		assert.ElementsMatch(t, want.callers, callers, "row %d", want.no)
	}
}

// LC-1, LC-2, LC-3: Decide over all 9 × 16 × 5 cases, rows and non-rows.
func TestDecideMatrix(t *testing.T) {
	allowed := make(map[string]string)
	for _, r := range specified {
		for _, c := range r.callers {
			allowed[r.from+" "+r.trigger+" "+c] = r.to
		}
	}
	cases := 0
	for from := lifecycle.Defined; from < lifecycle.States; from++ {
		for trigger := lifecycle.Spawn; trigger <= lifecycle.Triggers; trigger++ {
			for caller := lifecycle.Client; caller <= lifecycle.Callers; caller++ {
				cases++
				name := fmt.Sprintf("%s %s %s", from, trigger, caller)
				to, ok := lifecycle.Decide(from, trigger, caller)
				want, isRow := allowed[name]
				assert.Equal(t, isRow, ok, name)
				if isRow {
					assert.Equal(t, want, to.String(), name)
				}
			}
		}
	}
	require.Equal(t, 9*16*5, cases)
}

// SM-INV-03: nothing leads out of TERMINATED, and there is no caller 0.
func TestTerminatedIsASink(t *testing.T) {
	for _, r := range lifecycle.Table {
		assert.NotEqual(t, lifecycle.Terminated, r.From)
		assert.False(t, r.May(0))
	}
	assert.Nil(t, lifecycle.KillPath(lifecycle.Terminated))
	assert.Nil(t, lifecycle.KillPath(lifecycle.Defined))
}

// LC-4: kill is a path of rows, each caused by somebody who may, that ends in
// TERMINATED.
func TestKillPaths(t *testing.T) {
	want := map[string][]string{
		"SPAWNED":    {"activate", "error", "abandon"},
		"ACTIVE":     {"error", "abandon"},
		"WAITING":    {"error", "abandon"},
		"COMPLETING": {"error", "abandon"},
		"RESUMABLE":  {"expire"},
		"FAULTED":    {"abandon"},
		"RECOVERING": {"recovery_exhausted"},
	}
	for from := lifecycle.Defined; from < lifecycle.States; from++ {
		var words []string
		at := from
		for _, trigger := range lifecycle.KillPath(from) {
			words = append(words, trigger.String())
			to, ok := lifecycle.Decide(at, trigger, lifecycle.Actor(at, trigger))
			require.True(t, ok, "%s %s", at, trigger)
			at = to
		}
		assert.Equal(t, want[from.String()], words, from.String())
		if words != nil {
			assert.Equal(t, lifecycle.Terminated, at)
		}
	}
	assert.Zero(t, lifecycle.Actor(lifecycle.Active, lifecycle.Suspend), "no one inside suspends")
}

// LC-6: the table of agent-lifecycle.md section 7, literally.
func TestPermitTable(t *testing.T) {
	const (
		no       = lifecycle.Denied
		yes      = lifecycle.Allowed
		read     = lifecycle.ReadOnly
		check    = lifecycle.CheckpointRead
		snap     = lifecycle.SnapshotRead
		teardown = lifecycle.TeardownOnly
		flush    = lifecycle.ReadAndFlush
		replay   = lifecycle.ReplayOnly
		restore  = lifecycle.RestoreOnly
		revoke   = lifecycle.RevocationOnly
	)
	want := [lifecycle.States][4]lifecycle.Permit{
		//           TickEngine, MemoryLayer, ToolGate, DelegationProtocol
		/* DEFINED    */ {no, no, no, no},
		/* SPAWNED    */ {no, read, no, no},
		/* ACTIVE     */ {yes, yes, yes, yes},
		/* WAITING    */ {no, check, no, no},
		/* RESUMABLE  */ {no, snap, no, no},
		/* COMPLETING */ {teardown, flush, no, no},
		/* FAULTED    */ {no, no, no, revoke},
		/* RECOVERING */ {replay, restore, replay, no},
		/* TERMINATED */ {no, no, no, no},
	}
	modules := [4]lifecycle.Module{lifecycle.TickEngine, lifecycle.MemoryLayer, lifecycle.ToolGate, lifecycle.DelegationProtocol}
	for state := lifecycle.Defined; state < lifecycle.States; state++ {
		for i, module := range modules {
			assert.Equal(t, want[state][i], lifecycle.PermitOf(state, module), "%s, module %d", state, module)
		}
	}
	assert.Equal(t, no, lifecycle.PermitOf(lifecycle.States, lifecycle.TickEngine), "an unknown state")
	assert.Equal(t, no, lifecycle.PermitOf(lifecycle.Active, 4), "an unknown module")
}

package runs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/runs"
)

// specified is agent-run.md section 2 and RU-1, written a second time by hand:
// where a request leads from a state, edge by edge. What is not here is refused.
var specified = map[string]map[string][]string{
	"PLANNING": {
		"ready": {"PLANNED"},
		"fail":  {"FAILED"},
		"kill":  {"FAILED"},
	},
	"PLANNED": {
		"start": {"APPLYING"},
		"pause": {"PAUSED"},
		"fail":  {"APPLYING", "FAILED"},
		"kill":  {"PAUSED", "KILLED"},
	},
	"APPLYING": {
		"complete": {"COMPLETED"},
		"fail":     {"FAILED"},
		"pause":    {"PAUSED"},
		"kill":     {"KILLED"},
	},
	"PAUSED": {
		"resume": {"APPLYING"},
		"kill":   {"KILLED"},
		"fail":   {"APPLYING", "FAILED"},
	},
}

// edges is the table of agent-run.md section 2, by its column "Transitions To".
var edges = map[string][]string{
	"PLANNING": {"PLANNED", "FAILED"},
	"PLANNED":  {"APPLYING", "PAUSED"},
	"APPLYING": {"COMPLETED", "FAILED", "PAUSED", "KILLED"},
	"PAUSED":   {"APPLYING", "KILLED"},
}

// RU-1: the table's edges are the specification's, no more and no fewer.
func TestTableIsTheSpecifiedEdges(t *testing.T) {
	require.EqualValues(t, 1, runs.TableVersion)
	got := make(map[string][]string)
	for _, row := range runs.Table {
		got[row.From.String()] = append(got[row.From.String()], row.To.String())
	}
	require.Len(t, got, len(edges))
	for from, to := range edges {
		assert.ElementsMatch(t, to, got[from], from)
	}
}

// RU-1: every state with every request, 7 × 7: edges, composites, refusals.
func TestPathMatrix(t *testing.T) {
	cases := 0
	for from := runs.Planning; from < runs.States; from++ {
		for trigger := runs.Ready; trigger <= runs.Triggers; trigger++ {
			cases++
			name := from.String() + " " + trigger.String()
			var led []string
			at := from
			for _, step := range runs.Path(from, trigger) {
				to, ok := runs.Decide(at, step)
				require.True(t, ok, "%s: %s from %s is no edge", name, step, at)
				led = append(led, to.String())
				at = to
			}
			assert.Equal(t, specified[from.String()][trigger.String()], led, name)
		}
	}
	require.Equal(t, 49, cases)
}

// RU-1: nothing leads out of a state that is over, and into every other something
// does.
func TestFinalStates(t *testing.T) {
	for from := runs.Planning; from < runs.States; from++ {
		leads := false
		for trigger := runs.Ready; trigger <= runs.Triggers; trigger++ {
			leads = leads || runs.Path(from, trigger) != nil
		}
		assert.Equal(t, !from.Over(), leads, from.String())
		assert.Equal(t, from >= runs.Completed, from.Over())
	}
	_, ok := runs.Decide(runs.Planned, runs.Complete)
	assert.False(t, ok)
}

// Names are those of the specification, and nothing else has one.
func TestNames(t *testing.T) {
	for s := runs.Planning; s < runs.States; s++ {
		parsed, ok := runs.ParseState(s.String())
		require.True(t, ok)
		require.Equal(t, s, parsed)
	}
	_, ok := runs.ParseState("RUNNING")
	require.False(t, ok)
	require.Equal(t, "UNKNOWN_STATE", runs.State(runs.States).String())
	require.Equal(t, "unknown_trigger", runs.Trigger(0).String())
	require.Equal(t, "unknown_cause", runs.Cause(runs.Causes+1).String())
	for word, want := range map[string]runs.Cause{
		"": runs.Operator, "operator": runs.Operator, "budget": runs.Budget, "governance": runs.Governance,
		"security": runs.Security, "runaway_cost": runs.RunawayCost,
	} {
		got, ok := runs.ParseCause(word)
		require.True(t, ok, word)
		require.Equal(t, want, got, word)
	}
	for _, word := range []string{"kernel", "Operator", "red button"} {
		_, ok := runs.ParseCause(word)
		require.False(t, ok, word)
	}
}

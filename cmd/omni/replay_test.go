package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// otherEvaluator claims to be std/1, and gives other answers: an evaluator whose
// version should have changed with it.
type otherEvaluator struct{ evaluator.Evaluator }

func (o otherEvaluator) Compile(value.Raw) (evaluator.Program, *failure.Refusal) {
	raw, _ := value.FromJSON([]byte(`{"kind":"LITERAL","payload":{"value":2}}`), 1<<10)
	return o.Evaluator.Compile(raw)
}

func otherLookup(name string) (evaluator.Evaluator, bool) {
	std, ok := registry.Lookup(name)
	return otherEvaluator{std}, ok
}

// REPLAY_DIVERGENCE names the first record that differs, with both sides, and
// the exit code is that of a check that did not hold.
func TestADeviationShowsBothSides(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	agent, log := filepath.Join(t.TempDir(), "agent.omni"), filepath.Join(t.TempDir(), "log.bin")
	writeExports(t, s, agent, log)

	for _, args := range [][]string{{"replay", id, agent}, {"replay", id, log}, {"replay", "--all", log}} {
		var stdout, stderr bytes.Buffer
		exit := run(t.Context(), args, registry.Lookup, tell.New(&stdout, &stderr))
		require.Equal(t, api.ExitDone, exit, "%v: %s", args, stderr.String())

		stdout.Reset()
		exit = run(t.Context(), args, otherLookup, tell.New(&stdout, &stderr))
		assert.Equal(t, api.ExitRefused, exit)
		assert.Contains(t, stdout.String(), "the log does not hold: ")
		assert.Regexp(t, `REPLAY_DIVERGENCE at busSeq \d+, index 2: body of `, stdout.String())
		assert.Regexp(t, `recorded TICK_COMPLETED tick 1 step 0 .*"value":1`, stdout.String())
		assert.Regexp(t, `replayed TICK_COMPLETED tick 1 step 0 .*"value":2`, stdout.String())
		assert.Contains(t, stderr.String(), "REPLAY_DIVERGENCE")

		stdout.Reset()
		exit = run(t.Context(), append(args, "-o", "json"), otherLookup, tell.New(&stdout, &stderr))
		assert.Equal(t, api.ExitRefused, exit)
		var found show.Replayed
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &found))
		var recorded api.Record
		require.NoError(t, json.Unmarshal(found.Deviation.Recorded, &recorded))
		assert.Equal(t, found.Deviation.BusSeq, recorded.BusSeq)
		assert.Equal(t, id, recorded.AgentID)
		assert.EqualValues(t, 2, recorded.Index)
	}
}

// writeExports writes the export of the simulation's first agent, and that of
// its log.
func writeExports(t *testing.T, s *kerneltest.Sim, agent, log string) {
	t.Helper()
	var file bytes.Buffer
	row, placed := s.State().Agents.Get(1), s.Placed()
	one, err := logexport.NewSubjectWriter(&file, logexport.SubjectHeader{
		ClusterID: "test", KernelID: "default", AgentID: kerneltest.IDOf(row.Identity.ID), Agent: 1,
		Position: row.LastBlock - 1, Head: hex.EncodeToString(row.Head[:]),
	})
	require.NoError(t, err)
	require.NoError(t, one.First(placed.Blocks[0]))
	for _, at := range placed.Order {
		if _, touched := placed.Blocks[at].Previous(1); touched {
			require.NoError(t, one.Block(at, placed.Blocks[at]))
		}
	}
	require.NoError(t, one.Finish())
	require.NoError(t, os.WriteFile(agent, file.Bytes(), 0o600))
	writeLog(t, s, log)
}

// writeLog writes the export of a simulation's log.
func writeLog(t *testing.T, s *kerneltest.Sim, log string) {
	t.Helper()
	var file bytes.Buffer
	all, err := logexport.NewWriter(&file, "test", "default", logging.Genesis("default").Point)
	require.NoError(t, err)
	for _, raw := range s.Blocks {
		require.NoError(t, all.Block(raw))
	}
	require.NoError(t, all.Finish())
	require.NoError(t, os.WriteFile(log, file.Bytes(), 0o600))
}

package history_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// asked is a simulation with a run of one task, which waits for a tool that answers it.
func asked(t testing.TB) (s *kerneltest.Sim, id string) {
	s = kerneltest.New(t, 1)
	id = kerneltest.IDOf(s.Must(event.RunPlan, event.PlanRun{
		Agent: event.Define{Grants: kerneltest.Everything()}, Start: true,
		Tasks: []event.RunTask{{Name: "only", Program: kerneltest.JSON(t, `{"kind":"CALL","payload":{"tool":"echo"}}`)}},
	}).Agent)
	s.Answer(true, 7)
	return s, id
}

// RU-4: a ledger is of the run that its header names, by what its blocks say.
func TestLedgerIsOfItsRun(t *testing.T) {
	s, id := asked(t)
	seen := 0
	sum, found, err := history.Ledger(bytes.NewReader(ledger(t, s, 1, id)), func(*replay.LedgerSum) { seen++ })
	require.NoError(t, err)
	assert.Equal(t, id, sum.RunID)
	assert.Equal(t, 2, seen)
	assert.Equal(t, "COMPLETED", found.State.String())
	assert.EqualValues(t, 1, found.Agents)
	want := uint64(0)
	for _, r := range s.All() {
		if r.Agent == 1 || bus.Kind(r.Kind) == bus.Event && r.Seq > 1 { // all but the first, which boots the kernel
			want++
		}
	}
	assert.Equal(t, want, found.Records)

	_, _, err = history.Ledger(bytes.NewReader(ledger(t, s, 1, kerneltest.AgentID(9))), nil)
	require.ErrorIs(t, err, history.ErrOtherRun)
	_, _, err = history.Ledger(bytes.NewReader(agentExport(t, s, 1)), nil)
	require.ErrorAs(t, err, new(*logexport.Broken))
}

// RU-4: a run's blocks are found in a ledger, in a log, and in a backup; what differs in
// them is the taker's to say.
func TestRunIsReadFromAnything(t *testing.T) {
	s, id := asked(t)
	for kind, file := range map[string][]byte{"run ledger": ledger(t, s, 1, id), "log export": logExport(t, s, 0), "backup": backedUp(t, s)} {
		var run *replay.WholeRun
		origin, err := history.OfRun(bytes.NewReader(file), id, func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
			run = replay.NewWholeRun(no, c, s.Lookup, find)
			return run
		}, nil)
		require.NoError(t, err, kind)
		assert.Equal(t, history.Origin{Kind: kind, ClusterID: "test", KernelID: "default"}, origin)
		assert.Equal(t, s.State().Runs.Ledger(1).Head, run.Stats().Ledger.Head, kind)
	}
	none := func(uint32, *config.Config, kernel.FindBody) replay.Taker { return nil }
	_, err := history.OfRun(bytes.NewReader(ledger(t, s, 1, id)), kerneltest.AgentID(9), none, nil)
	require.ErrorContains(t, err, "of another run")
	_, err = history.OfRun(bytes.NewReader(logExport(t, s, 0)), kerneltest.AgentID(9), none, nil)
	require.ErrorIs(t, err, replay.ErrNoRun)
	_, err = history.OfRun(bytes.NewReader(agentExport(t, s, 1)), id, none, nil)
	require.ErrorIs(t, err, history.ErrPart)
	_, err = history.OfAgent(bytes.NewReader(ledger(t, s, 1, id)), id, none, nil)
	require.ErrorIs(t, err, history.ErrPart)
}

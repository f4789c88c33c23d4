package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// ranOnce serves a cluster on which a run of two tasks is PLANNED, and gives the flags
// that lead to it, a client, and the run's id.
func ranOnce(t *testing.T) (flags []string, c *client.Client, id string) {
	t.Helper()
	g := solo.New(t, 1, solo.Setup{})
	servers := g.Serve(t, httpapi.Options{})
	c, err := client.New(servers, client.Options{})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	literal := kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":"${input.goal}"}}`)
	done, err := c.PlanRun(t.Context(), event.PlanRun{Goal: "g", Tasks: []event.RunTask{{Name: "a", Program: literal}, {Name: "b", Program: literal}}})
	require.NoError(t, err)
	_, err = c.Start(t.Context(), event.Start{Define: event.Define{Program: literal}}) // somebody else
	require.NoError(t, err)
	return []string{"--server", servers[0]}, c, done.AgentID
}

// RU-4: a run's ledger is listed with its head, exported, and verified offline; where
// the cluster has gone on, its ledger still has the same blocks.
func TestLedgerFiles(t *testing.T) {
	flags, c, id := ranOnce(t)
	with := func(args ...string) []string { return append(args, flags...) }
	file := filepath.Join(t.TempDir(), "run.ledger")
	stdout, stderr, exit := omni(t, with("run", "ledger", id, "--export", file)...)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Regexp(t, `^the run's chain holds: \d+ records of 1 agents in 1 blocks from busSeq \d+ to \d+, index \d+; the run is PLANNED\n`, stdout)
	assert.Contains(t, stdout, "written to "+file)
	names, err := filepath.Glob(filepath.Dir(file) + "/*")
	require.NoError(t, err)
	assert.Equal(t, []string{file}, names, "nothing else is left")
	_, stderr, exit = omni(t, with("run", "ledger", id, "--export", file)...)
	assert.Equal(t, api.ExitUsage, exit)
	assert.Contains(t, stderr, "already")

	_, err = c.StartRun(t.Context(), event.StartRun{Run: id})
	require.NoError(t, err)
	stdout, stderr, exit = omni(t, with("run", "ledger", id, "-o", "json")...)
	require.Equal(t, api.ExitDone, exit, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var end show.LedgerEnd
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &end))
	var first, last api.Record
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-2]), &last))
	assert.Equal(t, "EVENT", first.Kind)
	assert.Greater(t, end.Next, last.BusSeq)
	run, err := c.Run(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, "COMPLETED", run.State)
	assert.Equal(t, run.Ledger.Head, end.Head)
	stdout, _, _ = omni(t, with("run", "ledger", id)...)
	assert.Contains(t, stdout, " RUN_TASK_COMPLETED "+id)
	assert.Contains(t, stdout, "\nhead "+end.Head)
	stdout, _, _ = omni(t, with("run", "ledger", id, "--limit", "2", "-o", "json")...)
	assert.Equal(t, 3, strings.Count(stdout, "\n"), "two records, and the end")
	stdout, _, exit = omni(t, with("run", "ledger", id, "--follow", "--limit", "2", "-o", "json")...)
	assert.Equal(t, api.ExitDone, exit)
	assert.Equal(t, strings.Join(lines[:2], "\n")+"\n", stdout)

	stdout, stderr, exit = omni(t, "ledger", "verify", file)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Contains(t, stdout, "was not compared")
	stdout, stderr, exit = omni(t, with("ledger", "verify", file, "--live")...)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Contains(t, stdout, "the cluster's ledger has the same blocks, and 1 more since")
	stdout, _, _ = omni(t, "ledger", "verify", file, "-o", "json")
	var found show.Ledger
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	_, _, exit = omni(t, "ledger", "verify", file, "--head", strings.ToUpper(found.Head))
	assert.Equal(t, api.ExitDone, exit)
	_, stderr, exit = omni(t, "ledger", "verify", file, "--head", end.Head)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "which is not the one given")
	_, stderr, exit = omni(t, "ledger", "verify", file, "--head", "4be0")
	assert.Equal(t, api.ExitUsage, exit, stderr)

	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "cut": whole[:len(whole)-1]} {
		bad := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(bad, content, 0o600))
		_, stderr, exit = omni(t, "ledger", "verify", bad)
		assert.Equal(t, api.ExitRefused, exit)
		assert.Regexp(t, `error: `+bad+`: run ledger: broken at byte \d+: `, stderr)
	}
	_, stderr, exit = omni(t, "ledger", "verify", file+".not")
	assert.Equal(t, api.ExitUsage, exit, stderr)
}

// RU-4: a ledger of another cluster's is sound in itself, and is not this one's.
func TestLedgerOfAnotherCluster(t *testing.T) {
	flags, _, id := ranOnce(t)
	file := filepath.Join(t.TempDir(), "run.ledger")
	_, stderr, exit := omni(t, append(flags, "run", "ledger", id, "--export", file)...)
	require.Equal(t, api.ExitDone, exit, stderr)
	others, _, same := ranOnce(t)
	require.Equal(t, id, same, "ids follow from the log, and the clusters began alike")
	_, stderr, exit = omni(t, append(others, "ledger", "verify", file, "--live")...)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "the cluster's ledger of the run has other blocks")
}

// RU-4: a run is replayed from its ledger, live, from a file, and out of a whole log,
// without a cluster; one that was tampered with is not.
func TestRunReplays(t *testing.T) {
	flags, c, id := ranOnce(t)
	_, err := c.StartRun(t.Context(), event.StartRun{Run: id})
	require.NoError(t, err)
	stdout, stderr, exit := omni(t, append(flags, "run", "replay", id, "-o", "json")...)
	require.Equal(t, api.ExitDone, exit, stderr)
	var live, filed show.ReplayedRun
	require.NoError(t, json.Unmarshal([]byte(stdout), &live))
	run, err := c.Run(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, run.Ledger.Head, live.Head)
	assert.EqualValues(t, 2, live.Tasks)
	assert.Equal(t, "COMPLETED", live.State)

	dir := t.TempDir()
	ledger, log := filepath.Join(dir, "run.ledger"), filepath.Join(dir, "log.bin")
	_, stderr, exit = omni(t, append(flags, "run", "ledger", id, "--export", ledger)...)
	require.Equal(t, api.ExitDone, exit, stderr)
	f, err := os.Create(log)
	require.NoError(t, err)
	_, err = c.Export(t.Context(), 0, f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, file := range []string{ledger, log} {
		stdout, stderr, exit = omni(t, "run", "replay", id, file)
		require.Equal(t, api.ExitDone, exit, stderr)
		assert.Regexp(t, `^the ledger holds: 2 tasks carried out by 1 agents in 2 ticks, 2 runs and \d+ steps; the run is COMPLETED\n`, stdout)
		stdout, _, _ = omni(t, "run", "replay", id, file, "-o", "json")
		require.NoError(t, json.Unmarshal([]byte(stdout), &filed))
		filed.Origin, filed.Millis = live.Origin, live.Millis
		assert.Equal(t, live, filed)
	}

	whole, err := os.ReadFile(ledger)
	require.NoError(t, err)
	whole[len(whole)/2] ^= 1
	require.NoError(t, os.WriteFile(ledger, whole, 0o600))
	_, stderr, exit = omni(t, "run", "replay", id, ledger)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "run ledger: broken at byte ")
	_, stderr, exit = omni(t, "run", "replay", "018f4e5c-0000-7000-8000-00000000dead", log)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "the log has no run of this id")
	_, stderr, exit = omni(t, "run", "replay", "me", log)
	assert.Equal(t, api.ExitUsage, exit, stderr)
	_, stderr, exit = omni(t, "run", "replay", id, ledger+".not")
	assert.Equal(t, api.ExitUsage, exit, stderr)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
)

// omni runs a command line in this process.
func omni(t *testing.T, args ...string) (stdout, stderr string, exit api.Exit) {
	t.Helper()
	var out, err bytes.Buffer
	// Not the test's context: it is over when cleanups ask.
	exit = run(context.Background(), args, registry.Lookup, tell.New(&out, &err))
	return out.String(), err.String(), exit
}

// omniOf runs a command line about a cluster.
func omniOf(t *testing.T, cluster *dev.Cluster, args ...string) (stdout, stderr string, exit api.Exit) {
	t.Helper()
	return omni(t, append(args, "--data-dir", cluster.Dir())...)
}

const twoCalls = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://pay.example/v1/charge"}}},
	{"kind":"CALL","payload":{"tool":"echo","handle":true}}]}}`

// asked is the log of an agent that made two calls, in a file.
func asked(t *testing.T) (s *kerneltest.Sim, id, log string) {
	s = kerneltest.New(t, 1)
	id = s.Start(event.Define{Name: "payer", Mode: "service", Grants: kerneltest.AllowAll(), Program: kerneltest.JSON(t, twoCalls)}, nil)
	s.Answer(true, 1)
	log = filepath.Join(t.TempDir(), "log.bin")
	writeLog(t, s, log)
	return s, id, log
}

// LO-12: of a log that was written anew, with its chain, omni says which record
// of which agent breaks which rule; the exit code is that of a check that did
// not hold.
func TestAnAuditSaysWhatIsWrong(t *testing.T) {
	s, id, log := asked(t)
	stdout, stderr, exit := omni(t, "log", "audit", log)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Regexp(t, `^the log keeps to the rules: \d+ records in 3 blocks, `, stdout)
	assert.Contains(t, stdout, "2 requests allowed, 0 denied, 0 escalated: 2 calls, 0 dispatched, ")
	assert.Contains(t, stdout, "proven: 2 calls were allowed before they were made, 0 dispatches ")
	assert.Contains(t, stdout, "log export of test/default, chain ")

	seq := forgeAllow(t, s)
	writeLog(t, s, log)
	stdout, stderr, exit = omni(t, "log", "audit", log)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stdout, "the log does not keep to the rules: ")
	assert.NotContains(t, stdout, "proven")
	assert.Regexp(t, `(?m)^unjudged \(TO-3\) busSeq \d+, index 2, .*, CALL_REQUESTED of agent `+id+`, tick 1$`, stdout)
	assert.Contains(t, stdout, "  call 1, of http.request, enters the outbox, and no ALLOW for it comes before\n")
	assert.Equal(t, "error: "+log+": the log does not keep to the rules: 1 findings\n", stderr)

	stdout, _, exit = omni(t, "log", "audit", log, "-o", "json")
	assert.Equal(t, api.ExitRefused, exit)
	var found show.Audited
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	require.Len(t, found.Findings, 1)
	assert.Equal(t, show.Finding{
		BusSeq: seq, Index: 2, AtMillis: kerneltest.Start, Kind: "CALL_REQUESTED", Agent: 1, AgentID: id, Tick: 1,
		Rule: "unjudged", Sentence: "TO-3", What: "call 1, of http.request, enters the outbox, and no ALLOW for it comes before",
	}, found.Findings[0])

	raw, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(log, raw[:len(raw)-20], 0o600))
	stdout, stderr, exit = omni(t, "log", "audit", log)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stdout, "unjudged (TO-3)", "what was found before it broke off is told")
	assert.Contains(t, stderr, "error: "+log+": log export: broken at byte ")
	require.NoError(t, os.WriteFile(log, []byte("no log"), 0o600))
	_, stderr, exit = omni(t, "log", "audit", log)
	assert.Equal(t, api.ExitUsage, exit)
	assert.Contains(t, stderr, "this is no agent's export, no run's ledger, no log export and no backup")
}

// forgeAllow takes the first ALLOW out of a simulation's log, and gives the
// busSeq of the call that it allowed.
func forgeAllow(t *testing.T, s *kerneltest.Sim) (requested uint64) {
	t.Helper()
	done := false
	rewrite(t, s, func(r *logging.Record) {
		switch kind := bus.Kind(r.Kind); {
		case kind == bus.Allow && !done:
			done, r.Header, r.Body = true, logging.Header{Kind: uint16(bus.StaleResult), Cause: r.Cause}, []byte{0, 0, 0}
		case kind == bus.CallRequested && requested == 0:
			requested = r.Seq
		}
	}, nil)
	require.True(t, done)
	return requested
}

// rewrite writes a simulation's log anew, as if what is changed had been so from
// the beginning: every chain value and pointer fits. heads may spoil the chain
// value that a block carries of an agent.
func rewrite(t *testing.T, s *kerneltest.Sim, records func(r *logging.Record), heads func(index uint64, head *[logging.HashBytes]byte)) {
	t.Helper()
	tables := logging.Genesis("default")
	var builder logging.Builder
	last, own := make(map[uint32]uint64), make(map[uint32][logging.HashBytes]byte)
	for i, raw := range s.Blocks {
		b, err := logging.Decode(raw)
		require.NoError(t, err)
		builder.Begin(b.Index, b.Term, b.FirstSeq, b.ClockMillis)
		for all := b.Records(); all.Next(); {
			r := all.Record
			if records != nil {
				records(&r)
			}
			builder.Open(r.Header)
			builder.Buf = append(builder.Buf, r.Body...)
			builder.Close()
		}
		for at := range b.Touched() {
			no, _ := b.TouchedAt(at)
			head := own[no]
			if heads != nil {
				heads(b.Index, &head)
			}
			builder.Touch(no, last[no], head)
		}
		block, digest := builder.Seal(tables.Chain)
		for at := range b.Touched() {
			no, _ := b.TouchedAt(at)
			last[no], own[no] = logging.PointerTo(tables.Position), logging.ChainAfter(own[no], digest)
		}
		tables.Advance(block, digest, 1<<30)
		s.Blocks[i] = bytes.Clone(block)
	}
}

// PE-7: what would have been answered otherwise, and by which grant.
func TestABacktestSaysWhatWouldChange(t *testing.T) {
	_, id, log := asked(t)
	grants := filepath.Join(t.TempDir(), "narrower.yaml")
	require.NoError(t, os.WriteFile(grants, []byte(`grants:
  - {effect: ALLOW, action: tool.call, resource: "http.request/GET/**"}
  - {effect: ESCALATE, action: tool.call, resource: "http.request/POST/**"}
`), 0o600))
	stdout, stderr, exit := omni(t, "permission", "backtest", "--grants", grants, "--agent", id, log)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Regexp(t, `(?m)^busSeq \d+ \S+ agent `+id+` \(payer\), tick 1, at request$`, stdout)
	assert.Contains(t, stdout, `
  tool.call http.request/POST/pay.example/v1/charge
  was      ALLOW: by grant 0, ALLOW tool.call **
  would be ESCALATE: by grant 1 of those given, ESCALATE tool.call http.request/POST/**
`)
	assert.Contains(t, stdout, "1 requests of 1 agents would have been answered otherwise: 1 judged, 0 as they were, in ")
	assert.Contains(t, stdout, "  1 ALLOW would be ESCALATE\n")
	assert.Contains(t, stdout, "1 requests came after the first change in their tick: what they would have been, the log cannot say\n")
	assert.Contains(t, stdout, "log export of test/default, the grants in the place of those of agent "+id+"\n")

	stdout, _, exit = omni(t, "permission", "backtest", "--grants", grants, "--all", "--from", "1000", log)
	assert.Equal(t, api.ExitDone, exit)
	assert.Contains(t, stdout, "nothing would have been answered otherwise: 0 judged")
	stdout, _, _ = omni(t, "permission", "backtest", "--grants", grants, "--all", "--limit", "0", log)
	assert.Contains(t, stdout, "and 1 more changes\n")

	stdout, _, _ = omni(t, "permission", "backtest", "--grants", grants, "--all", log, "-o", "json")
	var found show.Backtested
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	assert.Equal(t, []show.ChangeTotal{{Was: "ALLOW", Would: "ESCALATE", Count: 1}}, found.Totals)
	assert.EqualValues(t, 1, found.After)
	assert.Equal(t, "http.request/POST/**", found.Changes[0].Would.Text.Resource)
	assert.True(t, found.Changes[0].Would.Given)
	assert.Equal(t, int32(1), found.Changes[0].Would.Grant)
}

// A backtest that cannot be made says what is missing, and where a file of
// grants is wrong.
func TestABacktestNeedsItsGrants(t *testing.T) {
	_, id, log := asked(t)
	file := filepath.Join(t.TempDir(), "grants.yaml")
	write := func(text string) string {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	fine := "grants: []\n"
	for _, test := range []struct {
		grants, says string
		args         []string
		exit         api.Exit
	}{
		{"grants:\n  - {effect: ALLOW, action: tool.call, resource: a//b}\n", "grants.yaml:2:40: grants[0].resource: must not have an empty segment", []string{"--all", log}, api.ExitUsage},
		{"grants:\n  - {effect: MAYBE, action: tool.call, resource: a}\n", "grants.yaml:2:14: grants[0].effect: must be one of ALLOW, DENY, ESCALATE", []string{"--all", log}, api.ExitUsage},
		{"name: x\n", "grants.yaml: grants: is missing", []string{"--all", log}, api.ExitUsage},
		{fine, "whose grants do they replace?", []string{log}, api.ExitUsage},
		{fine, "--agent and --all are two different questions", []string{"--all", "--agent", id, log}, api.ExitUsage},
		{fine, `--agent is "payer", must be an agent's id`, []string{"--agent", "payer", log}, api.ExitUsage},
		{fine, "--to is 3, must not be before --from", []string{"--all", "--from", "4", "--to", "3", log}, api.ExitUsage},
		{fine, "a file is read without any node", []string{"--all", "--node", "n1", log}, api.ExitUsage},
		{fine, "the log has no agent 018f4e5c-0000-7000-8000-00000000dead", []string{"--agent", "018f4e5c-0000-7000-8000-00000000dead", log}, api.ExitRefused},
		{fine, "no such file", []string{"--all", log + "x"}, api.ExitUsage},
	} {
		_, stderr, exit := omni(t, append([]string{"permission", "backtest", "--grants", write(test.grants)}, test.args...)...)
		assert.Equal(t, test.exit, exit, stderr)
		assert.Contains(t, stderr, test.says)
	}
	_, stderr, exit := omni(t, "permission", "backtest", "--all", log)
	assert.Equal(t, api.ExitUsage, exit)
	assert.Contains(t, stderr, "name the file with the grants with --grants FILE")
	_, stderr, _ = omni(t, "permission", "backtest", "--grants", "-", "--all", "-")
	assert.Contains(t, stderr, "stdin is the grants or the log, not both")
}

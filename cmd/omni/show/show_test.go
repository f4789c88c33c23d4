package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/cmd/omni/bench"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

func page(write func(p *tell.Page)) string {
	p := new(tell.Page)
	write(p)
	return p.String()
}

func TestAnAgentIsShownWhole(t *testing.T) {
	got := page(func(p *tell.Page) {
		Agent(p, api.Agent{
			AgentID: "a1", Name: "greeter", State: "FAULTED", Mode: "task", Evaluator: "std/1", FaultClass: "PERMANENT",
			Labels: map[string]string{"b": "2", "a": "1"}, DefinedAt: 1000, DefinedSeq: 5, Queued: 2,
			Failure: &api.TickFailure{Code: "EVAL_FAILURE", Class: "PERMANENT", Message: "no", Tick: 3, Instruction: 4, Line: 1, Column: 9},
			Tick:    &api.Tick{Seq: 3, Phase: "failed", Steps: 7, Calls: 1, Tool: "http.request"}, Count: 6,
			Transitions: []api.Transition{{From: "ACTIVE", To: "FAULTED", Trigger: "error", Caller: "kernel", Code: "EVAL_FAILURE", BusSeq: 10, Index: 4, AtMillis: 2000}},
			As:          api.As{Index: 9, Node: "n2", LagMillis: 15},
		})
	})
	assert.Equal(t, `agent    a1
name     greeter
state    FAULTED
fault    PERMANENT
failure  EVAL_FAILURE: no
         in tick 3, instruction 4, line 1 column 9 of its expression (PERMANENT)
tick     3, failed, 7 steps, 1 calls, waiting for http.request
queued   2
mode     task, std/1
labels   a=1 b=2
defined  1970-01-01T00:00:01.000Z, busSeq 5
as of    index 9 on n2, up to 15 ms behind

the last 1 of 6 transitions:
BUSSEQ  INDEX  AT                        FROM    TRIGGER  TO       BY      WHY
10      4      1970-01-01T00:00:02.000Z  ACTIVE  error    FAULTED  kernel  EVAL_FAILURE
`, got)
}

// A node that lacks history says how much, and what becomes of it.
func TestStatusTellsOfMissingHistory(t *testing.T) {
	lines := func(b *api.Backfill) string {
		text := page(func(p *tell.Page) {
			Status(p, api.Status{Nodes: []api.NodeStatus{{ID: "n3", HistoryFrom: 4711, Backfill: b}}})
		})
		return text[strings.Index(text, "n3: "):]
	}
	assert.Equal(t, "n3: has history from busSeq 4711 on; 1.5 GiB missing, 512 B fetched, from n2\n",
		lines(&api.Backfill{MissingBytes: 3 << 29, FetchedBytes: 512, From: "n2"}))
	assert.Equal(t, "n3: has history from busSeq 4711 on; 64.0 MiB missing, 1.0 KiB fetched; 1 damaged segments are fetched again, nothing comes: n2: it is down\n",
		lines(&api.Backfill{MissingBytes: 64 << 20, FetchedBytes: 1 << 10, DamagedFiles: 1, Reason: "n2: it is down"}))
}

// What an agent waits for, and what will become of a fault, is told in words.
func TestAnAgentSaysWhatItWaitsFor(t *testing.T) {
	got := page(func(p *tell.Page) {
		Agent(p, api.Agent{
			AgentID: "a1", State: "WAITING", Mode: "task", Evaluator: "std/1", Mailbox: 1, Children: 2, ParentID: "a0", Emitted: 3,
			Waits: []api.Wait{
				{For: "call", Tool: "http.request", Deadline: 1000}, {For: "escalation", Tool: "echo", Escalation: 7, Deadline: 2000},
				{For: "children", Open: 2}, {For: "message"}, {For: "timer"},
			},
			Memory: &api.MemorySize{Keys: 2, Bytes: 30},
			Token:  &api.HeldToken{TokenID: "t1", Depth: 4, Expires: 1000, Void: api.Void{Revoked: "TOKEN_EXPIRED"}},
		})
	})
	for _, line := range []string{
		"waits for  an answer of http.request, until 1970-01-01T00:00:01.000Z\n",
		"           a decision about echo: omni escalation show 7, until 1970-01-01T00:00:02.000Z\n",
		"           2 children\n           a message\n           time to pass\n",
		"mailbox    1\n", "memory     2 keys, 30 bytes\n", "emitted    3\n", "parent     a0\n", "children   2\n",
		"token      t1, TOKEN_EXPIRED, depth 4, until 1970-01-01T00:00:01.000Z\n",
	} {
		assert.Contains(t, got, line)
	}
	assert.Equal(t, "TRANSIENT TOOL_TIMEOUT\nretry 2 at 1970-01-01T00:00:05.000Z",
		fault(api.Agent{FaultClass: "TRANSIENT", FaultCode: "TOOL_TIMEOUT", Retries: 2, RetryAt: 5000}))
	assert.Equal(t, "PERMANENT TOOL_TIMEOUT, after 3 retries", fault(api.Agent{FaultClass: "PERMANENT", FaultCode: "TOOL_TIMEOUT", Retries: 3}))
}

// What a program emitted was meant to be read: it stands alone.
func TestProgressStandsAlone(t *testing.T) {
	assert.Equal(t, "7 1970-01-01T00:00:01.000Z EMITTED a1 tick 1 {\"done\":1}\n", page(func(p *tell.Page) {
		Record(p, api.Record{BusSeq: 7, AtMillis: 1000, Kind: "EMITTED", AgentID: "a1", Tick: 1, Body: json.RawMessage(`{"value":{"done":1}}`)})
	}))
}

// Faults, breaches and levels are told in words.
func TestFaultsAreShown(t *testing.T) {
	got := page(func(p *tell.Page) {
		Faults(p, api.FaultPage{AgentID: "a1", State: "FAULTED", Faults: []api.Fault{
			{BusSeq: 4, Kind: "TICK_FAILED", Tick: 1, Code: "TOOL_TIMEOUT", Class: "TRANSIENT", Message: "slow"},
			{BusSeq: 5, Kind: "LIFECYCLE", From: "ACTIVE", Tick: 1, Code: "TOOL_TIMEOUT", Class: "TRANSIENT"},
			{BusSeq: 6, Kind: "RETRY_SCHEDULED", Tick: 1, Retry: 1, Backoff: 1000},
			{BusSeq: 7, Kind: "FAULT_RECLASSIFIED", Class: "TRANSIENT", Reason: "it is back"},
			{BusSeq: 8, Kind: "TEARDOWN_INCOMPLETE"},
			{BusSeq: 9, Kind: "AUDIT", Code: "INVARIANT_BREACH", Message: "INV-03: no"},
		}})
	})
	for _, words := range []string{"tick failed", "ACTIVE to FAULTED", "retry 1 in 1000 ms", "reclassified", "it is back",
		"ended without its teardown", "invariant kept by force", "INV-03: no", "a1 is FAULTED, 6 faults"} {
		assert.Contains(t, got, words)
	}
	got = page(func(p *tell.Page) {
		Audit(p, api.AuditPage{Count: 300, Entries: []api.AuditEntry{{BusSeq: 9, Invariant: "INV-03", Kind: "ALLOW", AgentID: "a1", RootID: "a0", Rule: "no"}}})
	})
	assert.Contains(t, got, "INV-03")
	assert.Contains(t, got, "300 breaches in all")
}

// A result can be piped: it stands alone.
func TestAResultStandsAlone(t *testing.T) {
	result, _ := value.FromGo(map[string]any{"n": 1})
	assert.Equal(t, "{\"n\":1}\n", page(func(p *tell.Page) { Result(p, api.Agent{State: "TERMINATED", Result: result}) }))
	assert.Contains(t, page(func(p *tell.Page) { Result(p, api.Agent{AgentID: "a1", State: "FAULTED"}) }), "state    FAULTED")
}

func TestARepeatedAnswerSaysSo(t *testing.T) {
	got := page(func(p *tell.Page) {
		Done(p, "started", api.Done{AgentID: "a1", State: "ACTIVE", Index: 3, BusSeq: 4, Node: "n1", Repeated: true})
	})
	assert.Equal(t, "started a1 (before: this is the first answer again)\nACTIVE as of index 3, busSeq 4, answered by n1\n", got)
}

func TestAListSaysHowToGoOn(t *testing.T) {
	got := page(func(p *tell.Page) { Agents(p, api.AgentPage{Next: "a9", As: api.As{Index: 1, Node: "n1"}}) })
	assert.Equal(t, "0 agents, index 1 on n1\nmore: add --after a9\n", got)
}

func TestRecordsAreLines(t *testing.T) {
	line := page(func(p *tell.Page) {
		Record(p, api.Record{BusSeq: 7, AtMillis: 1000, Kind: "STEP", AgentID: "a1", Tick: 2, Step: 3, Body: json.RawMessage(`{"n":1}`)})
	})
	assert.Equal(t, "7 1970-01-01T00:00:01.000Z STEP a1 tick 2 step 3 {\"n\":1}\n", line)
	line = page(func(p *tell.Page) {
		Record(p, api.Record{BusSeq: 7, AtMillis: 1000, Kind: "STEP", AgentID: "a1", Notes: &api.Notes{Instruction: "CALL"}, Body: json.RawMessage(`{"n":1}`)})
	})
	assert.Equal(t, "7 1970-01-01T00:00:01.000Z STEP a1 CALL {\"n\":1}\n", line)
	line = page(func(p *tell.Page) {
		Record(p, api.Record{BusSeq: 7, AtMillis: 1000, Kind: "DENY", AgentID: "a1", Body: json.RawMessage(`{"n":1}`), Notes: &api.Notes{
			DecidedBy: &permissions.Grant{Effect: permissions.Deny, Action: "tool.*", Resource: "**"},
		}})
	})
	assert.Equal(t, "7 1970-01-01T00:00:01.000Z DENY a1 by DENY tool.* on ** {\"n\":1}\n", line)
	line = page(func(p *tell.Page) { Record(p, api.Record{Kind: "EVENT", Body: json.RawMessage(`{"event":"PULSE"}`)}) })
	assert.Contains(t, line, "EVENT PULSE {")
	long := clip(strings.Repeat("ä", maxBody))
	assert.Equal(t, strings.Repeat("ä", maxBody/2)+"…", long)
}

// NO-2: whoever finds everything stopped sees since when, by whom and why.
func TestStatusTellsOfTheStop(t *testing.T) {
	stop := &api.Stop{SinceMillis: 1000, By: "client", Reason: "smoke", BusSeq: 7}
	got := page(func(p *tell.Page) { Status(p, api.Status{ClusterID: "c", Stopped: stop}) })
	assert.Contains(t, got, "stopped by client at 1970-01-01T00:00:01.000Z: smoke\n  nothing runs until: omni cluster resume\n")
	assert.NotContains(t, page(func(p *tell.Page) { Status(p, api.Status{ClusterID: "c"}) }), "stopped")
}

// LI-10: whoever looks at the status sees what will be refused soon, and what is.
func TestStatusTellsOfLimits(t *testing.T) {
	status := api.Status{ClusterID: "c", NearLimits: []api.Limit{{Limit: "max_agents", Used: 8000, Most: 10_000}, {Limit: "max_runs", Used: 7, Most: 7}}}
	got := page(func(p *tell.Page) { Status(p, status) })
	assert.Contains(t, got, "\nmax_agents: 8000 of 10000: more is refused soon\nmax_runs: 7 of 7: more is refused\n")
}

// LO-3: whoever looks at the status must see that two nodes differ.
func TestUnlikeNodesAreNamed(t *testing.T) {
	status := api.Status{ClusterID: "c", KernelID: "default", Term: 2, Nodes: []api.NodeStatus{
		{ID: "n1", Role: "leader", AppliedIndex: 5, Digest: "aaaaaaaaaaaaaaaa", Healthy: true},
		{ID: "n2", Role: "follower", AppliedIndex: 5, Digest: "bbbbbbbbbbbbbbbb", Healthy: true},
		{ID: "n3", Role: "unreachable", Reason: "the node does not answer"},
	}}
	got := page(func(p *tell.Page) { Status(p, status) })
	assert.Contains(t, got, "cluster c, kernel default: leader none is known, term 2\n")
	assert.Contains(t, got, "n3: the node does not answer\n")
	status.Nodes[2] = api.NodeStatus{ID: "n3", Role: "safe_mode", Reason: "SAFE_MODE: it crashed", SafeMode: &api.SafeMode{Hint: "do this"}}
	assert.Contains(t, page(func(p *tell.Page) { Status(p, status) }), "n3: SAFE_MODE: it crashed\n  do this\n")
	assert.Contains(t, got, "n1 and n2 differ at index 5\n")
	assert.NotContains(t, got, "ok,")
	status.Nodes[0].State, status.Nodes[1].State = "Running", "Suspended"
	assert.Equal(t, 1, strings.Count(page(func(p *tell.Page) { Status(p, status) }), "ok, Suspended"))
	assert.NotContains(t, page(func(p *tell.Page) { Status(p, status) }), "ok, Running")
	status.Nodes[1].AppliedIndex = 4
	assert.NotContains(t, page(func(p *tell.Page) { Status(p, status) }), "differ")
}

func TestAVerifiedLogSaysWithWhomItWasCompared(t *testing.T) {
	sum := logexport.Summary{NextSeq: 11, Records: 10, Blocks: 3, Bytes: 300, LastIndex: 5, Chain: "cc", Genesis: true}
	show := func(live bool, agree, differ []string) string {
		return page(func(p *tell.Page) { Verified(p, &VerifiedLog{Summary: sum, Agree: agree, Differ: differ}, live) })
	}
	head := "the chain holds from the beginning: 10 records in 3 blocks, 300 bytes, up to busSeq 10, index 5\nchain cc\n"
	assert.Equal(t, head, show(false, nil, nil))
	assert.Equal(t, head+"the digest of n1, n3 at this index\n", show(true, []string{"n1", "n3"}, nil))
	assert.Equal(t, head+"not the digest of n2 at this index\n", show(true, []string{"n1"}, []string{"n2"}))
	assert.Equal(t, head+"the log moves on: its end was compared with no node\n", show(true, nil, nil))
	manifests := &VerifiedLog{Summary: sum, Heads: 2, Agree: []string{"n1"}, Segments: 3, SegmentsAgree: []string{"n1", "n2"}, SegmentsDiffer: []string{"n3"}}
	assert.Equal(t, head+"2 tree heads on record are those of the blocks before them\nthe digest of n1 at this index\n"+
		"not the sealed segments of n3\n3 sealed segments, as in the manifests of n1, n2\n",
		page(func(p *tell.Page) { Verified(p, manifests, true) }))
	sum.Genesis, sum.FromSeq = false, 4
	assert.Contains(t, show(false, nil, nil), "the chain holds from busSeq 4: ")
}

func TestADrillShowsWhatCounts(t *testing.T) {
	after, reads, stale := 12.0, int64(100), int64(2)
	got := page(func(p *tell.Page) {
		Drill(p, drill.Report{
			Rounds: []drill.Round{
				{Round: 1, Leader: "n1", PauseMillis: 300, NewLeader: "n2", NewLeaderMillis: &after, FirstWrite: 15, Accepted: "n2", Before: 400},
				{Round: 2, Leader: "n2", FirstWrite: 3.5, Accepted: "n2", Before: 399.6},
			},
			P50FirstWrite: 3.5, P99FirstWrite: 15, MaxFirstWrite: 15, P50NewLeader: &after, P99NewLeader: &after, MaxNewLeader: &after,
			Audit: load.Audit{Commands: 9, Acknowledged: 7, Refused: 1, InDoubt: 1, Lost: 1}, Reads: &reads, StaleReads: &stale,
		})
	})
	assert.Equal(t, `ROUND  LEADER  PAUSE MS  NEXT  AFTER MS  FIRST WRITE MS  BY  WRITES/S BEFORE
1      n1      300       n2    12        15              n2  400
2      n2      -         -     -         3.50            n2  400

first write   p50 3.50 ms, p99 15 ms, max 15 ms
new leader    p50 12 ms, p99 12 ms, max 12 ms
commands      9 sent, 7 acknowledged, 1 refused
              lost 1, duplicated 0, in doubt 1 (and 0 settled by looking), contradicted 0
reads         100 linearizable, stale 2
digests       differ
`, got)
}

func TestABenchmarkShowsWhatFailed(t *testing.T) {
	got := page(func(p *tell.Page) {
		Bench(p, bench.Report{Bench: "commands", Kind: "define", ValueBytes: 256, Batch: 8, Clients: 2, Seconds: 10, Count: 5000,
			PerSecond: 500, Errors: 3, First: "QUEUE_FULL", Correction: bench.OpenLoop, Summary: load.Summary{P50Millis: 1.5, P99Millis: 20}})
	})
	assert.Equal(t, `commands (define, 256 bytes, batches of 8): 500/s with 2 clients, 5000 in 10.0 s
latency p50 1.50 ms, p99 20 ms, p99.9 0.00 ms, max 0.00 ms
open loop: latency counts from when the operation was due
3 failed: QUEUE_FULL
`, got)
	assert.Contains(t, page(func(p *tell.Page) { Bench(p, bench.Report{Bench: "steps", StepsEach: 50}) }), "steps (instructions of 50 calls): ")
	assert.Contains(t, page(func(p *tell.Page) { Bench(p, bench.Report{Bench: "reads", Consistency: "stale"}) }), "reads (stale): ")
}

// Backups by the clock: the newest one, and why there is no newer one.
func TestBackupsOfANode(t *testing.T) {
	lines := func(b api.Backups) string {
		p := new(tell.Page)
		Status(p, api.Status{Nodes: []api.NodeStatus{{ID: "n3", Backups: &b}}})
		_, last, _ := strings.Cut(p.String(), "\nn3: ")
		return last
	}
	assert.Equal(t, "no backup in /b yet\n", lines(api.Backups{Dir: "/b"}))
	made := api.Backups{Dir: "/b", File: "/b/x.omniback", Index: 7, AtMillis: 1_750_000_000_000, Bytes: 3 << 20}
	assert.Equal(t, "backup of 2025-06-15T15:06:40.000Z as of index 7, 3.0 MiB: /b/x.omniback\n", lines(made))
	made.Error, made.Failures, made.FailedMillis = "disk full", 2, 1_750_000_060_000
	assert.Equal(t, "backup of 2025-06-15T15:06:40.000Z as of index 7, 3.0 MiB: /b/x.omniback, "+
		"2 attempts failed since, the last at 2025-06-15T15:07:40.000Z: disk full\n", lines(made))
}

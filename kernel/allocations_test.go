package kernel_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// What one event allocates, publication included, with 2,000 agents around
// (mechanics: "Budget"). The numbers are a ratchet: they go down when the code
// gets leaner (profile with: go test -run xxx -bench ToolStep -memprofile m
// -memprofilerate 1, then go tool pprof -sample_index=alloc_objects), and up
// only with a reason that a reviewer accepts. The fraction left over for tables
// that split a page now and then is rounded down by AllocsPerRun.
func TestAllocations(t *testing.T) {
	const runs = 200
	d := newDriver()
	ids := d.agents(t, 2_000, echoMap)

	source := kerneltest.JSON(t, echoMap)
	bodies := make([][]byte, runs+1)
	for i := range bodies {
		bodies[i] = event.Encode(event.Define{ID: fmt.Sprintf("018f4e5c-0000-7000-9000-%012d", i+1), Mode: "service", Grants: allowAll, Program: source})
	}
	next := 0
	pin(t, "a define command", 19, testing.AllocsPerRun(runs, func() {
		outcome := d.apply(event.AgentDefine, bodies[next])
		next++
		if !outcome.Done() {
			t.Error(outcome.Refusal)
		}
	}))

	for _, id := range ids[:50] {
		d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: id, Trigger: "spawn"}))
		d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: id, Trigger: "activate"}))
	}
	pending := d.k.Requested()
	require.Len(t, pending, 50)
	results := make([][]byte, 0, runs+1)
	value := kerneltest.Value(t, 7)
	for call := uint32(1); len(results) <= runs; call++ { // the calls that the agents will make, in turn
		for _, key := range pending {
			results = append(results, event.Encode(event.Result{Agent: key.Agent, Tick: key.Tick, Call: call, OK: true, Value: value}))
		}
	}
	next = 0
	pin(t, "a durable tool step", 38, testing.AllocsPerRun(runs, func() {
		outcome := d.apply(event.ToolResult, results[next])
		next++
		if !outcome.Done() {
			t.Error(outcome.Refusal)
		}
	}))
}

// pin fails when more is allocated than recorded, and when so much less that
// the number should be lowered. On 32 bits and under the race detector values
// that fit a word elsewhere do not, which costs a few more.
func pin(t *testing.T, what string, recorded, measured float64) {
	t.Helper()
	if raceDetector || strconv.IntSize == 32 {
		recorded += 8
	}
	assert.LessOrEqual(t, measured, recorded, "%s allocates more than it did", what)
	assert.GreaterOrEqual(t, measured, recorded-10, "%s allocates less than recorded: lower the number", what)
}

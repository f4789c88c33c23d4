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
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/transport/api"
)

const twoPages = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"a","do":{"kind":"CALL","payload":{"tool":"echo","args":{"page":1}}}}},
	{"kind":"LET","payload":{"name":"b","do":{"kind":"CALL","payload":{"tool":"echo","args":{"page":"${a.next}"}}}}},
	{"kind":"RETURN","payload":{"value":"${[a.title, b.title]}"}}]}}`

// supposed runs omni on the files of an agent that read two pages.
func supposed(t *testing.T, stdin string, args ...string) (exit api.Exit, stdout, stderr string) {
	t.Helper()
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, twoPages)}, nil)
	s.Answer(true, map[string]any{"title": "one", "next": 2})
	s.Answer(true, map[string]any{"title": "two", "next": 3})
	agent, log := filepath.Join(t.TempDir(), "agent.omni"), filepath.Join(t.TempDir(), "log.bin")
	writeExports(t, s, agent, log)
	if stdin != "" {
		name := filepath.Join(t.TempDir(), "result.json")
		require.NoError(t, os.WriteFile(name, []byte(stdin), 0o600))
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "FILE", name)
		}
	}
	var out, err bytes.Buffer
	exit = run(t.Context(), append([]string{"replay", id, agent}, args...), registry.Lookup, tell.New(&out, &err))
	return exit, out.String(), err.String()
}

// What if a call had been answered otherwise: what the agent would have come to,
// or the first call that was never made.
func TestWhatIfACallWereAnsweredOtherwise(t *testing.T) {
	exit, stdout, stderr := supposed(t, `{"title":"uno","next":2}`, "--with-result", "1.1=FILE")
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Contains(t, stdout, `another result of tick 1, call 1: {"next":2,"title":"uno"}`)
	assert.Regexp(t, `it differs in tick 1, from busSeq \d+ on: \d+ steps, 1 calls made as they had been, 1 recorded results used`, stdout)
	assert.Contains(t, stdout, `with ["uno","two"]`)
	assert.Contains(t, stdout, `with ["one","two"]`)
	assert.Contains(t, stdout, `no further: the tick ended`)

	exit, stdout, _ = supposed(t, `{"title":"uno","next":9}`, "--with-result", "1.1=FILE")
	require.Equal(t, api.ExitDone, exit)
	assert.Contains(t, stdout, `call 2 was never made: echo {"page":9}`)
	assert.Contains(t, stdout, `call 2 was: echo {"page":2}`)

	exit, stdout, _ = supposed(t, `{"title":"one","next":2}`, "--with-result", "1.1=FILE")
	require.Equal(t, api.ExitDone, exit)
	assert.Contains(t, stdout, "nothing differs that can be seen of the tick")

	exit, stdout, _ = supposed(t, `{"code":"TOOL_FAILED","message":"no"}`, "--with-result", "1.2=FILE", "-o", "json")
	require.Equal(t, api.ExitDone, exit)
	var found show.WhatIfAnswer
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	assert.Equal(t, "TOOL_FAILED", found.Replayed.Code)
	assert.Equal(t, "TOOL_FAILED", found.Results[0].Code)
	assert.JSONEq(t, `["one","two"]`, string(found.Recorded.Value))

	// An object with more in it is a value.
	_, stdout, _ = supposed(t, `{"code":"TOOL_FAILED","title":"x","next":2}`, "--with-result", "1.1=FILE")
	assert.Contains(t, stdout, `with ["x","two"]`)
}

// What if a tick had another budget.
func TestWhatIfATickHadAnotherBudget(t *testing.T) {
	exit, stdout, stderr := supposed(t, "", "--with-limit", "max_steps_per_tick=5")
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Contains(t, stdout, "TICK_OVERFLOW (PERMANENT)")
	exit, stdout, _ = supposed(t, "", "--with-limit", "max_steps_per_tick=500", "--with-limit", "max_work_per_tick=100000")
	require.Equal(t, api.ExitDone, exit)
	assert.Contains(t, stdout, "nothing differs in 3 runs")
}

// A question that makes no sense is a usage error, one about what never happened
// is refused.
func TestQuestionsThatMakeNoSense(t *testing.T) {
	for _, test := range []struct {
		exit   api.Exit
		stdin  string
		args   []string
		stderr string
	}{
		{api.ExitUsage, "", []string{"--with-result", "1.1"}, "must be TICK.CALL=FILE"},
		{api.ExitUsage, "", []string{"--with-result", "0.1=x"}, "must be TICK.CALL=FILE"},
		{api.ExitUsage, "", []string{"--with-result", "1.1=no-such-file"}, "no such file"},
		{api.ExitUsage, "{", []string{"--with-result", "1.1=FILE"}, "is no JSON value"},
		{api.ExitUsage, "1", []string{"--with-result", "1.1=FILE", "--with-result", "2.1=FILE"}, "names the ticks 1 and 2"},
		{api.ExitUsage, "1", []string{"--with-result", "1.1=FILE", "--with-limit", "max_steps_per_tick=1"}, "two questions"},
		{api.ExitUsage, "", []string{"--with-limit", "max_steps_per_tick"}, "must be NAME=N"},
		{api.ExitUsage, "", []string{"--with-limit", "max_agents=3"}, "no budget of a tick"},
		{api.ExitUsage, "", []string{"--with-limit", "max_steps_per_tick=0"}, "max_steps_per_tick"},
		{api.ExitUsage, "", []string{"--with-limit", "max_steps_per_tick=4294967296"}, "too much"},
		{api.ExitRefused, "1", []string{"--with-result", "1.3=FILE"}, "no answer to this call"},
		{api.ExitUsage, `"` + strings.Repeat("x", 70_000) + `"`, []string{"--with-result", "1.1=FILE"}, "larger than the kernel's max_value_bytes"},
	} {
		exit, stdout, stderr := supposed(t, test.stdin, test.args...)
		assert.Equal(t, test.exit, exit, "%v: %s", test.args, stderr)
		assert.Contains(t, stderr, test.stderr, "%v", test.args)
		assert.Empty(t, stdout)
	}
}

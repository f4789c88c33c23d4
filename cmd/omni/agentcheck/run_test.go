package agentcheck

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// stubsOf reads stubs as a file has them.
func stubsOf(t *testing.T, src string) Stubs {
	t.Helper()
	stubs, err := ReadStubs("-", strings.NewReader(src))
	require.NoError(t, err)
	return stubs
}

func text(v value.Raw) string {
	if len(v) == 0 {
		return ""
	}
	return string(v.AppendJSON(nil))
}

// The dry run is the kernel's: calls, answers, failures, children, decisions, messages
// and time.
func TestDryRun(t *testing.T) {
	s := subject(t, everything+`script: |
  def main(input):
      first = call("weather.now", {"city": "Ulm"})
      again_ = call("weather.now", {"city": "Ulm"})
      other = call("weather.now", {"city": "Rome"})
      third = call("weather.now", {"city": "Ulm"})
      sleep(60000)
      emit(receive(timeout_ms=5).value)
      remember("k", 7)
      child = {"name": "kid", "evaluator": "script/1", "input": 4,
          "program": "def main(input):\n    return call('echo', input).value",
          "grants": [{"effect": "ESCALATE", "action": "tool.call", "resource": "echo"}]}
      return [first.value, again_.value, other.code, third.value, recall("k").value, must(delegate([child]))[0].value, agent.name]
`)
	s.Define.Name, s.Messages = "one", []value.Raw{fromJSON(t, `{"hello":1}`)}
	s.Stubs = stubsOf(t, "weather.now:\n  - {value: 1}\n  - {code: TOOL_TIMEOUT, args: {city: Rome}}\n  - {args: {city: Ulm}, value: 2}\n")
	r := checked(t, s)
	require.NotNil(t, r.Run, found(r))
	assert.Equal(t, `[1,2,"TOOL_TIMEOUT",2,7,4,"one"]`, text(r.Run.Result), "%+v", r.Run)
	assert.True(t, r.OK, found(r))
	assert.Equal(t, []any{"TERMINATED", 2, 2}, []any{r.Run.State, r.Run.Ticks, r.Run.Agents})
	assert.GreaterOrEqual(t, r.Run.Millis, int64(60_000))
	var told []string
	for _, c := range r.Run.Calls {
		told = append(told, strings.TrimSpace(c.Agent+" "+c.Tool+" "+c.By+map[bool]string{true: " escalated"}[c.Escalated]))
	}
	assert.Equal(t, []string{
		"weather.now stub", "weather.now stub", "weather.now stub", "weather.now stub", "timer.sleep kernel", "mailbox.receive kernel",
		"memory.write kernel", "memory.read kernel", "agent.delegate kernel", "kid echo default escalated",
	}, told)
	assert.Equal(t, []string{`{"hello":1}`}, []string{text(r.Run.Emitted[0])})

	again := checked(t, s)
	assert.Equal(t, r, again, "a dry run is the same each time")
}

// A tool answers with the least that fits its output schema; arguments and stubs are
// held to the tool's schemas, as a node does.
func TestToolsAreHeldToTheirSchemas(t *testing.T) {
	weather := &tools.Manifest{
		Name: "weather.now", Adapter: "mcp", Idempotent: true, Retry: tools.Retry{MaxAttempts: 5},
		Input:  fromJSON(t, `{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}`),
		Output: fromJSON(t, `{"type":"object","required":["celsius"],"properties":{"celsius":{"type":"number","minimum":-90}}}`),
		Cost:   tools.Cost{USDMicros: 100},
	}
	run := func(args, stubs, more string) *Report {
		s := subject(t, everything+more+"script: |\n  def main(input):\n      return call('weather.now', "+args+")\n")
		s.Tools, s.AllTools = []*tools.Manifest{weather}, true
		if stubs != "" {
			s.Stubs = stubsOf(t, "weather.now: [{value: "+stubs+"}]\n")
		}
		return checked(t, s)
	}
	assert.Equal(t, `{"celsius":-90}`, text(run("{'city': 'Ulm'}", "", "").Run.Calls[0].Value))
	assert.Equal(t, `{"celsius":21}`, text(run("{'city': 'Ulm'}", "{celsius: 21}", "").Run.Calls[0].Value))
	assert.Equal(t, []string{"error 0:0 stub: a stub of weather.now does not fit its output schema: celsius: must be of type number"},
		found(run("{'city': 'Ulm'}", "{celsius: warm}", "")))
	assert.Equal(t, []string{"error 0:0 dry-run: a call of weather.now does not fit its input schema: city: must be of type string"},
		found(run("{'city': 3}", "", "")))
	assert.Equal(t, "BUDGET_EXCEEDED", run("{'city': 'Ulm'}", "", "budget: {usd_micros: 99}\n").Run.Calls[0].Code, "it is charged as it would be")
}

// The input of the dry run is held to the agent's schema, or made from it.
func TestInputOfTheDryRun(t *testing.T) {
	src := "input: {type: object, required: [n], properties: {n: {type: integer, minimum: 3}}}\nscript: |\n  def main(input):\n      return input\n"
	r := checked(t, subject(t, src))
	assert.Equal(t, `{"n":3}`, text(r.Run.Result))
	s := subject(t, src)
	s.Input = fromJSON(t, `{"n":2}`)
	assert.Equal(t, []string{"error 1:1 input: the input does not fit the schema: input.n: must be at least 3"}, found(checked(t, s)))
	s = subject(t, "input: {type: string, pattern: ^a+$}\nscript: |\n  def main(input):\n      return input\n")
	assert.Equal(t, []string{"warning 1:1 input: no input that fits the schema was found: the dry run begins with null"}, found(checked(t, s)))
}

// What does not end by itself is ended, and says so.
func TestDryRunsEnd(t *testing.T) {
	for src, want := range map[string]string{
		"again()":   "ticks have ended, and it goes on",
		"receive()": "it waits for a message",
		"for i in range(900):\n          call('echo')\n      again()": "it goes on after",
	} {
		r := checked(t, subject(t, everything+"script: |\n  def main(input):\n      "+src+"\n"))
		assert.Contains(t, r.Run.Stopped, want, src)
		assert.True(t, r.OK, found(r))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Contains(t, Check(ctx, subject(t, everything+"script: |\n  def main(input):\n      call('echo')\n")).Run.Stopped, "the time")
	began := time.Now()
	r := checked(t, subject(t, everything+"script: |\n  def main(input):\n      sleep(86400000)\n      return must(call('none'))\n"))
	assert.Less(t, time.Since(began), 30*time.Second, "a day takes no day")
	assert.GreaterOrEqual(t, r.Run.Millis, int64(86_400_000))
}

func TestStubsThatAreRefused(t *testing.T) {
	for src, want := range map[string]string{
		"echo: 1":                               "stdin:1:7: echo: must be a list, not a number",
		"echo: [{value: 1, code: TOOL_FAILED}]": "stdin:1:8: echo[0]: has a value or a code, not both",
		"echo: [{code: nope}]":                  "stdin:1:8: echo[0]: code must be a failure's, such as TOOL_TIMEOUT",
		"echo: [{message: m}]":                  "stdin:1:8: echo[0]: a message goes with a code",
		"echo: [{result: 1}]":                   "stdin:1:9: echo[0].result: there is no such field",
	} {
		_, err := ReadStubs("-", strings.NewReader(src))
		assert.EqualError(t, err, want)
	}
	_, _, problem := ParseStub("echo")
	assert.Equal(t, "must be TOOL=JSON", problem)
	_, _, problem = ParseStub("echo={")
	assert.Contains(t, problem, "is no JSON value")
	tool, s, problem := ParseStub(`a.b={"x":"y=z"}`)
	assert.Equal(t, []string{"a.b", `{"x":"y=z"}`, ""}, []string{tool, text(s.Value), problem})
}

func TestSamplesFit(t *testing.T) {
	for src, want := range map[string]string{
		`true`:                            `null`,
		`{"type":"string","minLength":2}`: `"xx"`, `{"type":"integer","exclusiveMinimum":4}`: `5`, `{"type":"number","maximum":-1}`: `-1`,
		`{"enum":["a","b"]}`: `"a"`, `{"const":{"a":1}}`: `{"a":1}`, `{"type":"boolean"}`: `false`, `{"type":["null","string"]}`: `null`,
		`{"type":"array","minItems":2,"items":{"type":"integer"}}`:                                   `[0,0]`,
		`{"required":["a"],"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`: `{"a":""}`,
		`{"anyOf":[{"type":"integer"},{"type":"string"}]}`:                                           `0`,
	} {
		made, ok := sample(fromJSON(t, src))
		assert.True(t, ok, src)
		assert.Equal(t, want, text(made), src)
	}
	for _, src := range []string{`{"type":"string","pattern":"^a+$"}`, `false`, `{"not":{}}`, `{"$ref":"#"}`} {
		if made, ok := sample(fromJSON(t, src)); src != `{"$ref":"#"}` {
			assert.False(t, ok, "%s: %s", src, text(made))
		}
	}
	assert.Equal(t, 1<<20, agentfile.MaxBytes)
}

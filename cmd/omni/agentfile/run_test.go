package agentfile

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
)

func members(t reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// A run file has every field of a run's definition, and no other; what people write
// instead leads to one of them.
func TestRunHasEveryFieldOfADefinition(t *testing.T) {
	assert.ElementsMatch(t, members(reflect.TypeFor[event.PlanRun]()), slices.Collect(maps.Keys(Run.members)))
	task := Run.members["tasks"].item
	assert.ElementsMatch(t, members(reflect.TypeFor[event.RunTask]()), slices.Collect(maps.Keys(task.members)))
	for _, shape := range []*Shape{Run, task} {
		for word, instead := range shape.aliases {
			assert.Nil(t, shape.members[word], word)
			outer, inner, below := strings.Cut(instead, ".")
			require.NotNil(t, shape.members[outer], word)
			assert.True(t, !below || shape.members[outer].members[inner] != nil, word)
		}
	}
}

func TestReadsAWholeRun(t *testing.T) {
	f, err := Parse("run.yaml", []byte(`name: nightly
goal: |
  a report
config: {region: eu, n: [1]}
seed: "42"
start: true
reason: because
agent:
  labels: {team: blue}
  budget: {tokens: 1000, warn_percent: 50}
  grants: [{effect: ALLOW, action: tool.call, resource: echo}]
planner: {kind: CALL}
tasks:
  - {name: a, program: {kind: LITERAL, payload: {value: 1}}}
  - {name: b, uses: [a], input: 7}
`), Run)
	require.NoError(t, err)
	assert.JSONEq(t, `{"name": "nightly", "goal": "a report\n", "config": {"region": "eu", "n": [1]}, "seed": "42", "start": true, "reason": "because",
		"agent": {"labels": {"team": "blue"}, "budget": {"tokens": 1000, "warn_percent": 50}, "grants": [{"effect": "ALLOW", "action": "tool.call", "resource": "echo"}]},
		"planner": {"kind": "CALL"}, "tasks": [{"name": "a", "program": {"kind": "LITERAL", "payload": {"value": 1}}}, {"name": "b", "uses": ["a"], "input": 7}]}`,
		string(f.Document()))
	line, column, ok := f.At("tasks[1].uses[0]")
	assert.True(t, ok)
	assert.Equal(t, [2]int{15, 22}, [2]int{line, column})
}

// What bad run files get: place, field and rule, and the member that was meant.
func TestRefusesRuns(t *testing.T) {
	for src, want := range map[string][2]string{
		"gaol: x\n":                          {"f.yaml:1:1: gaol: there is no such field", "did you mean goal? known here: agent, config, goal, name, planner, reason, seed, start, tasks"},
		"steps: []\n":                        {"f.yaml:1:1: steps: there is no such field", "did you mean tasks? known here: agent, config, goal, name, planner, reason, seed, start, tasks"},
		"budget: {}\n":                       {"f.yaml:1:1: budget: there is no such field", "did you mean agent.budget? known here: agent, config, goal, name, planner, reason, seed, start, tasks"},
		"completely: 1\n":                    {"f.yaml:1:1: completely: there is no such field", "known here: agent, config, goal, name, planner, reason, seed, start, tasks"},
		"agent: {budgte: {}}\n":              {"f.yaml:1:9: agent.budgte: there is no such field", "did you mean budget? known here: budget, env, evaluator, grants, id, input, labels, max_depth, mode, name, program, script, teardown, ttl_ms"},
		"agent:\n  budget: {token: 5}\n":     {"f.yaml:2:12: agent.budget.token: there is no such field", "did you mean tokens? known here: tokens, usd_micros, wall_ms, warn_percent"},
		"tasks:\n- {name: a, needs: [b]}\n":  {"f.yaml:2:13: tasks[0].needs: there is no such field", "did you mean uses? known here: input, name, program, uses"},
		"tasks:\n- name: a\n  uses: b\n":     {"f.yaml:3:9: tasks[0].uses: must be a list, not text", ""},
		"tasks:\n- name: a\n  uses: [1]\n":   {"f.yaml:3:10: tasks[0].uses[0]: must be text, not a number", `put it in quotes: "1"`},
		"tasks: {name: a}\n":                 {"f.yaml:1:8: tasks: must be a list, not a mapping", ""},
		"seed: 42\n":                         {"f.yaml:1:7: seed: must be text, not a number", `put it in quotes: "42"`},
		"start: soon\n":                      {"f.yaml:1:8: start: must be true or false, not text", ""},
		"start: yes\n":                       {"f.yaml:1:8: start: must be true or false, not text", ""},
		"planner: make a plan\n":             {"f.yaml:1:10: planner: must be a mapping, not text", ""},
		strings.Repeat("x", 40) + ": {a: 1}": {"f.yaml:1:1: " + strings.Repeat("x", 40) + ": there is no such field", "known here: agent, config, goal, name, planner, reason, seed, start, tasks"},
	} {
		_, err := Parse("f.yaml", []byte(src), Run)
		var problem *Problem
		require.ErrorAs(t, err, &problem, src)
		assert.Equal(t, want, [2]string{problem.Error(), problem.Hint}, src)
	}
}

func TestDistance(t *testing.T) {
	for words, want := range map[[2]string]int{
		{"", ""}: 0, {"goal", "goal"}: 0, {"gaol", "goal"}: 1, {"goals", "goal"}: 1, {"oal", "goal"}: 1, {"coal", "goal"}: 1,
		{"agent", "planner"}: 5, {"", "goal"}: 4, {"abcd", "badc"}: 2,
	} {
		assert.Equal(t, want, distance(words[0], words[1]), words)
	}
}

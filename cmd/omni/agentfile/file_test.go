package agentfile

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
)

const whole = `# an agent
name: greeter
mode: task
labels: {team: "42", tier: gold}
env:
  SERVICE: http://127.0.0.1:8080
grants:
  - effect: ALLOW
    action: tool.call
    resource: http.request/GET/**
    not_after_ms: 1700000000000
  - {effect: ESCALATE, action: tool.call, resource: http.request/POST/**}
teardown: {kind: WRITE, payload: {key: left, value: true}}
max_depth: 2
ttl_ms: 60000
program:
  kind: RETURN
  payload:
    value: [1, -2.5, 1e3, true, null, "yes", no, {a: |
      two
      lines
      }]
`

func TestReadsAWholeAgent(t *testing.T) {
	src := strings.Replace(whole, "{a: |\n      two\n      lines\n      }", "{a: \"two\\nlines\"}", 1)
	f, err := Parse("agent.yaml", []byte(src), Agent)
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"name": "greeter", "mode": "task", "labels": {"team": "42", "tier": "gold"},
		"env": {"SERVICE": "http://127.0.0.1:8080"},
		"grants": [{"effect": "ALLOW", "action": "tool.call", "resource": "http.request/GET/**", "not_after_ms": 1700000000000},
			{"effect": "ESCALATE", "action": "tool.call", "resource": "http.request/POST/**"}],
		"teardown": {"kind": "WRITE", "payload": {"key": "left", "value": true}}, "max_depth": 2, "ttl_ms": 60000,
		"program": {"kind": "RETURN", "payload": {"value": [1, -2.5, 1000, true, null, "yes", "no", {"a": "two\nlines"}]}}
	}`, string(f.Document()))
	assert.Equal(t, `"greeter"`, string(f.JSON("name")))
	assert.Nil(t, f.JSON("id"))
}

// An agent file has every field of a definition, and no other but script.
func TestAgentHasEveryFieldOfADefinition(t *testing.T) {
	var want []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[event.Define]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want = append(want, name)
	}
	want = append(want, "script") // is a program
	assert.ElementsMatch(t, want, slices.Collect(maps.Keys(Agent.members)))
}

func TestJSONIsRead(t *testing.T) {
	f, err := Parse("work.json", []byte(`{"input": {"n": 1, "deep": [[{}]]}}`), Work)
	require.NoError(t, err)
	assert.JSONEq(t, `{"input": {"n": 1, "deep": [[{}]]}}`, string(f.Document()))
}

// What bad input gets: the error names the place, the field and the rule.
func TestRefusesWithPlaceFieldAndRule(t *testing.T) {
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", "f.yaml: is empty"},
		{"only a comment", "# nothing\n", "f.yaml: is empty"},
		{"a list", "- a\n", "f.yaml:1:1: must be a mapping, not a list"},
		{"malformed", "name: a\n b: c\n", "f.yaml:2: is not YAML: mapping values are not allowed in this context"},
		{"tab", "name:\n\tx: 1\n", "f.yaml:2: is not YAML: found character that cannot start any token"},
		{"two documents", "name: a\n---\nname: b\n", "f.yaml:2:1: holds a second document"},
		{"bytes", "name: \"a\xff\"\n", "f.yaml:1:9: is not valid UTF-8"},
		{"unknown field", "naem: a\n", "f.yaml:1:1: naem: there is no such field"},
		{"unknown field inside", "grants:\n  - effect: ALLOW\n    acton: tool.call\n", "f.yaml:3:5: grants[0].acton: there is no such field"},
		{"repeated key", "name: a\nname: b\n", "f.yaml:2:1: name: the key is repeated: it stands in line 1 already"},
		{"repeated key in data", "program:\n  payload: {value: {x: 1, x: 2}}\n", "f.yaml:2:27: program.payload.value.x: the key is repeated: it stands in line 2 already"},
		{"number for text", "name: 5\n", "f.yaml:1:7: name: must be text, not a number"},
		{"number in env", "env: {PORT: 8080}\n", "f.yaml:1:13: env.PORT: must be text, not a number"},
		{"boolean label", "labels: {on: true}\n", "f.yaml:1:14: labels.on: must be text, not a boolean"},
		{"null", "name:\n", "f.yaml:1:6: name: must be text, not empty"},
		{"text for a mapping", "program: hello\n", "f.yaml:1:10: program: must be a mapping, not text"},
		{"text for an integer", "grants: [{not_after_ms: soon}]\n", "f.yaml:1:25: grants[0].not_after_ms: must be an integer, not text"},
		{"unknown word", "grants: [{effect: MAYBE}]\n", "f.yaml:1:19: grants[0].effect: must be one of ALLOW, DENY, ESCALATE"},
		{"anchor", "program: &p {kind: A}\n", "f.yaml:1:10: program: anchors (&name) are not allowed"},
		{"alias", "program: {payload: {a: [1], b: *a}}\n", "f.yaml: is not YAML: unknown anchor 'a' referenced"},
		{"alias of an anchor", "program: {a: &x 1, b: *x}\n", "f.yaml:1:14: program.a: anchors (&name) are not allowed"},
		{"merge", "program:\n  <<: {a: 1}\n", "f.yaml:2:3: program: merge keys (<<) are not allowed"},
		{"tag", "name: !!str 5\n", "f.yaml:1:7: name: tags (!!str) are not allowed"},
		{"own tag", "program: !go {a: 1}\n", "f.yaml:1:10: program: tags (!go) are not allowed"},
		{"number as a key", "program: {1: a}\n", "f.yaml:1:11: program: a key must be text, not a number"},
		{"list as a key", "program: {? [a] : b}\n", "f.yaml:1:13: program: a key must be text, not a list"},
		{"date", "program: {at: 2024-01-01}\n", "f.yaml:1:15: program.at: a date is text here"},
		{"hexadecimal", "program: {n: 0x10}\n", "f.yaml:1:14: program.n: a number is written as in JSON"},
		{"octal", "program: {n: 012}\n", "f.yaml:1:14: program.n: a number is written as in JSON"},
		{"underscores", "program: {n: 1_000}\n", "f.yaml:1:14: program.n: a number is written as in JSON"},
		{"not a number", "program: {n: .nan}\n", "f.yaml:1:14: program.n: a number is written as in JSON"},
		{"infinity", "program: {n: -.inf}\n", "f.yaml:1:14: program.n: a number is written as in JSON"},
		{"overflow", "program: {n: 1e999}\n", "f.yaml:1:14: program.n: the number is too large"},
		{"upper-case boolean", "program: {b: TRUE}\n", "f.yaml:1:14: program.b: a boolean is written true or false"},
		{"beyond 2^53", "program: {n: 9007199254740993}\n", "f.yaml:1:11: program.n: an integer is at most 2^53 away from zero"},
		{"too deep", "program: {d: " + deep + "}\n", "f.yaml:1:76: program.d" + strings.Repeat("[0]", 62) + ": lists and mappings are nested deeper than 64"},
		{"too large", strings.Repeat("#", MaxBytes+1), "f.yaml: is larger than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.src), Agent)
			var problem *Problem
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, c.want, problem.Error())
		})
	}
}

func TestHintsSayWhatToWrite(t *testing.T) {
	for src, want := range map[string]string{
		"environment: {}\n":     "did you mean env? known here: budget, env, evaluator, grants, id, input, labels, max_depth, mode, name, program, script, teardown, ttl_ms",
		"input: {a: 1}\n":       "what an agent begins with is given on the command line: --input JSON",
		"env: {PORT: 8080}\n":   `put it in quotes: "8080"`,
		"program: {1: a}\n":     `put it in quotes: "1"`,
		"program: {n: 0x10}\n":  "such as 10, -1.5 or 1e6; or put it in quotes to make it text",
		"grants: [{what: x}]\n": "known here: action, effect, not_after_ms, resource",
	} {
		_, err := Parse("f.yaml", []byte(src), Agent)
		var problem *Problem
		require.ErrorAs(t, err, &problem, src)
		assert.Equal(t, want, problem.Hint, src)
	}
	_, err := Parse("f.yaml", []byte("kind: LITERAL\n"), Work)
	var problem *Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, "did you mean program? known here: input, program, script", problem.Hint)
}

// Depth 64 itself is allowed: the document, program and 62 lists.
func TestDepthSixtyFourIsAccepted(t *testing.T) {
	src := "program: {d: " + strings.Repeat("[", 62) + strings.Repeat("]", 62) + "}\n"
	_, err := Parse("f.yaml", []byte(src), Agent)
	assert.NoError(t, err)
}

func TestReadNamesTheFileThatIsNotThere(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	_, err := Read(missing, nil, Agent)
	assert.EqualError(t, err, missing+": cannot be read: no such file or directory")
	_, err = Read(t.TempDir(), nil, Agent)
	assert.ErrorContains(t, err, "cannot be read: is a directory")
}

func TestReadsFilesAndStdin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte("name: a\n"), 0o600))
	f, err := Read(path, nil, Agent)
	require.NoError(t, err)
	assert.Equal(t, `{"name":"a"}`, string(f.Document()))

	f, err = Read("-", strings.NewReader("name: b\n"), Agent)
	require.NoError(t, err)
	assert.Equal(t, `{"name":"b"}`, string(f.Document()))
	assert.Equal(t, "stdin", f.Name)

	_, err = Read("-", io.MultiReader(strings.NewReader("name: "), failing{}), Agent)
	assert.EqualError(t, err, "stdin: cannot be read: torn")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("torn") }

func TestAtFindsTheDeepestPart(t *testing.T) {
	f, err := Parse("f.yaml", []byte("name: a\nprogram:\n  kind: SEQ\n  payload:\n    steps:\n      - {kind: LITERAL}\n      - kind: LETT\n        \"odd key\": 1\n"), Agent)
	require.NoError(t, err)
	for _, c := range []struct {
		field        string
		line, column int
	}{
		{"program.kind", 3, 3},
		{"program.payload.steps[1].kind", 7, 9},
		{`program.payload.steps[1]["odd key"]`, 8, 9},
		{"program.payload.steps[0]", 6, 9},
		{"program.payload.steps[0].payload.value", 6, 9}, // not there: its instruction
		{"program.payload.steps[7]", 5, 5},
	} {
		line, column, ok := f.At(c.field)
		assert.True(t, ok, c.field)
		assert.Equal(t, [2]int{c.line, c.column}, [2]int{line, column}, c.field)
	}
	for _, field := range []string{"", "labels.x", "[", `["x`, "[1"} {
		_, _, ok := f.At(field)
		assert.False(t, ok, field)
	}
}

// A file that is accepted is JSON that the kernel's reader accepts too, and
// reading that JSON as a file gives the same again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("program: {a: &x 1, b: *x, <<: {c: 1}}"))
	f.Add([]byte("{\"input\": [1, 1.5, \"\\u0000\"]}"))
	f.Add([]byte("program: {\"a b\": [0.1e1, -0, 1E+2, ~]}\n---\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, shape := range []*Shape{Agent, Work, Run} {
			file, err := Parse("f.yaml", src, shape)
			if err != nil {
				var problem *Problem
				require.ErrorAs(t, err, &problem)
				require.NotEmpty(t, problem.Rule)
				continue
			}
			doc := file.Document()
			again, err := Parse("g.json", doc, shape)
			require.NoError(t, err, string(doc))
			require.Equal(t, string(doc), string(again.Document()))
		}
	})
}

package agentfile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// The published schemas are what the readers are; UPDATE=1 writes them anew.
func TestPublishedSchemas(t *testing.T) {
	var want []string
	for _, d := range Documents {
		path := filepath.Join("..", "..", "..", "docs", "schemas", d.Name+".json")
		want = append(want, path)
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, Schema(d.Name), 0o644))
		}
		published, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(published), string(Schema(d.Name)), "UPDATE=1 go test ./cmd/omni/agentfile")
	}
	found, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "schemas", "*"))
	require.NoError(t, err)
	assert.ElementsMatch(t, want, found)
	assert.Nil(t, Schema("nothing"))
}

// compiled is a document's schema as a validator of the kind that editors use has it.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(name)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("s", doc))
	s, err := c.Compile("s")
	require.NoError(t, err)
	return s
}

// instance is YAML as an editor holds it against a schema.
func instance(t *testing.T, src string) any {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(src), &v))
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	v, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return v
}

// Every example, and every snippet in YAML of the documents, is what the reader and
// the schema of its kind take; the two agree.
func TestSchemasTakeWhatTheReadersTake(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*/*.yaml")
	require.NoError(t, err)
	documents, err := filepath.Glob("../../../docs/*.md")
	require.NoError(t, err)
	taken := make(map[string]int)
	take := func(where, src string) {
		for _, d := range Documents {
			if _, err := Parse(where, []byte(src), d.shape); err != nil {
				continue
			}
			taken[d.Name]++
			assert.NoError(t, compiled(t, d.Name).Validate(instance(t, src)), "%s as %s", where, d.Name)
			return
		}
		t.Logf("%s is none of these files", where)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		take(file, string(src))
	}
	for _, document := range documents {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for i, part := range strings.Split(string(text), "```yaml\n") {
			if snippet, _, ok := strings.Cut(part, "```"); i > 0 && ok {
				take(document, snippet)
			}
		}
	}
	assert.GreaterOrEqual(t, taken["agent"], 5)
	assert.Positive(t, taken["run"])
	assert.Positive(t, taken["tool"])
}

// What the reader refuses, an editor marks.
func TestSchemasRefuse(t *testing.T) {
	for _, bad := range []struct{ name, src string }{
		{"agent", "naem: a"},
		{"agent", "name: 5"},
		{"agent", "mode: job"},
		{"agent", "grants: [{effect: MAYBE, action: tool.call, resource: '**'}]"},
		{"agent", "grants: [{effect: ALLOW}]"},
		{"agent", "env: {PORT: 8080}"},
		{"agent", "budgets: {tokens: 1}"},
		{"agent", "budget: {tokens: many}"},
		{"agent", "input: text"},
		{"agent", "program: {kind: JUMP, payload: {}}"},
		{"agent", "script: x\nprogram: {kind: SEQ, payload: {}}"},
		{"instruction", "kind: LITERAL"},
		{"run", "agent: {naem: a}"},
		{"run", "tasks: [{uses: [a]}]"},
		{"tool", "name: a.b"},
		{"tool", "{name: a.b, adapter: http, secrets: KEY}"},
	} {
		assert.Error(t, compiled(t, bad.name).Validate(instance(t, bad.src)), bad.src)
	}
	assert.NoError(t, compiled(t, "agent").Validate(instance(t, "name: a\nbudget: {tokens: 1}\nmode: service\ninput: {type: object}")))
}

// A text that is a block has its lines in the file; any other has none.
func TestPlacesInTexts(t *testing.T) {
	src := "name: a\nscript: |\n\n  def main(input):\n      return oops\nagent:\n    script: |2\n        deep\n    x: 1\n"
	root, problem := document("f", []byte(src))
	require.Nil(t, problem)
	f := &File{Name: "f", src: []byte(src), root: root}
	for _, c := range []struct {
		field        string
		line, column int
		want         []int
	}{
		{"script", 2, 1, []int{4, 3}}, {"script", 3, 12, []int{5, 14}}, {"script", 1, 1, []int{3, 3}},
		{"agent.script", 1, 3, []int{8, 9}},
		{"name", 1, 1, nil}, {"agent", 1, 1, nil}, {"none", 1, 1, nil}, {"script", 0, 1, nil}, {"script", 99, 1, nil},
	} {
		line, column, ok := f.InText(c.field, c.line, c.column)
		if c.want == nil {
			assert.False(t, ok, c)
			continue
		}
		assert.Equal(t, c.want, []int{line, column}, c)
	}
}

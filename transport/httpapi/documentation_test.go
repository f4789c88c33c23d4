package httpapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/transport/api"
)

func codeTable() string {
	var b strings.Builder
	b.WriteString("| code | took effect? | HTTP | exit | retry | what happened |\n|---|---|---|---|---|---|\n")
	for _, c := range api.Codes() {
		definite, retry := "no", ""
		if !c.Definite {
			definite = "unknown"
		}
		if c.Retry {
			retry = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %s | %s |\n", c.Code, definite, c.Status, c.Exit, retry, c.Text)
	}
	return b.String()
}

func failureTable() string {
	var b strings.Builder
	b.WriteString("| code | class | what happened |\n|---|---|---|\n")
	for _, f := range api.Failures() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Code, f.Class, f.Text)
	}
	return b.String()
}

// generated is a table of docs/api.md that this test writes.
type generated struct{ name, table string }

func (g generated) find(t *testing.T, doc string) (before, table, after string) {
	before, rest, ok := strings.Cut(doc, "<!-- "+g.name+": written by go test ./transport/httpapi -run Documentation -update -->\n")
	require.True(t, ok)
	table, after, ok = strings.Cut(rest, "<!-- /"+g.name+" -->")
	require.True(t, ok)
	return before + "<!-- " + g.name + ": written by go test ./transport/httpapi -run Documentation -update -->\n", table, "<!-- /" + g.name + " -->" + after
}

// docs/api.md has the tables of codes as they are, and names every route, header,
// operation of a batch and kind of record.
func TestDocumentationIsComplete(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "api.md")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	doc := string(content)
	for _, g := range []generated{{"codes", codeTable()}, {"failures", failureTable()}} {
		before, table, after := g.find(t, doc)
		if *update {
			doc = before + g.table + after
			require.NoError(t, os.WriteFile(path, []byte(doc), 0o644))
			continue
		}
		assert.Equal(t, g.table, table)
	}
	for path, methods := range newDoor(t).document().Paths {
		for method := range methods {
			assert.True(t, strings.Contains(doc, "`"+strings.ToUpper(method)+" "+path+"`"), "%s %s", method, path)
		}
	}
	for _, header := range []string{api.HeaderSession, api.HeaderSequence, api.HeaderFloor, api.HeaderKey, api.HeaderLastEvent} {
		assert.Contains(t, doc, header)
	}
	for _, op := range api.Ops {
		assert.True(t, strings.Contains(doc, "`"+string(op)+"`"), op)
	}
	for kind := range bus.Kind(bus.Last + 1) {
		if name := kernel.KindName(kind); name != kernel.KindName(0) {
			assert.True(t, strings.Contains(doc, "`"+name+"`"), name)
		}
	}
}

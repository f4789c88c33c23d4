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

// docs/api.md has the table of codes as it is, and names every route, header
// and kind of record.
func TestDocumentationIsComplete(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "api.md")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	doc := string(content)
	const open, end = "<!-- codes: written by go test ./transport/httpapi -run Documentation -update -->\n", "<!-- /codes -->"
	before, rest, ok := strings.Cut(doc, open)
	require.True(t, ok)
	table, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(before+open+codeTable()+end+after), 0o644))
		return
	}
	assert.Equal(t, codeTable(), table)
	for path, methods := range newDoor(t).document().Paths {
		for method := range methods {
			assert.Contains(t, doc, "`"+strings.ToUpper(method)+" "+path+"`")
		}
	}
	for _, header := range []string{api.HeaderSession, api.HeaderSequence, api.HeaderFloor, api.HeaderKey, api.HeaderLastEvent} {
		assert.Contains(t, doc, header)
	}
	for kind := range bus.Kind(bus.Last + 1) {
		if name := kernel.KindName(kind); name != kernel.KindName(0) {
			assert.Contains(t, doc, "`"+name+"`")
		}
	}
}

package logaudit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logaudit"
)

// docs/audit.md lists the rules as they are, in their order, and their sentences
// are on the pages that it speaks of.
func TestTheDocumentHasEveryRule(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile("../../docs/" + name)
		require.NoError(t, err)
		return string(raw)
	}
	page, sentences := read("audit.md"), read("semantics.md")+read("invariants.md")
	at := 0
	for _, rule := range logaudit.Rules {
		row := "| `" + string(rule.ID) + "` | " + rule.Sentence + " | " + rule.Text + " |"
		found := strings.Index(page[at:], row)
		require.GreaterOrEqual(t, found, 0, row)
		at += found
		assert.Contains(t, sentences, rule.Sentence, string(rule.ID))
	}
}

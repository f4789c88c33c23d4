package agentcheck

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nothing is wrong with the examples, as they are written; and those that ask for
// nothing from outside run to their end.
func TestExamplesAreRight(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*/agent.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 5)
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		s := subject(t, string(src))
		s.NoRun = true
		r := checked(t, s)
		assert.True(t, r.OK, "%s: %v", file, found(r))
	}
	for _, name := range []string{"hello", "memory", "delegation", "escalation"} {
		src, err := os.ReadFile("../../../examples/" + name + "/agent.yaml")
		require.NoError(t, err)
		r := checked(t, subject(t, string(src)))
		assert.Empty(t, found(r), name)
		assert.NotNil(t, r.Run.Result, name)
	}
}

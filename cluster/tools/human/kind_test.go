package human_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/human"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// TO-12: what would mean nothing where a person answers is refused; and no node makes
// such a call.
func TestManifestsOfPeople(t *testing.T) {
	registry, err := tools.New(tools.Options{Kinds: []tools.Kind{human.Kind{}}})
	require.NoError(t, err)
	for field, change := range map[string]func(*kerneltools.Manifest){
		"":            func(m *kerneltools.Manifest) { m.TimeoutMillis = 30 * 24 * 3_600_000 },
		"config":      func(m *kerneltools.Manifest) { m.Config = value.EmptyMap },
		"retry":       func(m *kerneltools.Manifest) { m.Retry.MaxAttempts = 2 },
		"idempotent":  func(m *kerneltools.Manifest) { m.Idempotent = true },
		"concurrency": func(m *kerneltools.Manifest) { m.Concurrency = 1 },
		"secrets":     func(m *kerneltools.Manifest) { m.Secrets = []string{"KEY"} },
	} {
		m := &kerneltools.Manifest{Name: "ask", Adapter: "human"}
		change(m)
		refusal := registry.Check(m)
		if field == "" {
			assert.Nil(t, refusal)
			continue
		}
		require.NotNil(t, refusal, field)
		assert.Equal(t, field, refusal.Field)
	}
	result := registry.Run(t.Context(), tools.Request{Tool: "ask", Revision: 1, Manifest: &kerneltools.Manifest{Name: "ask", Adapter: "human"}})
	assert.Equal(t, "TOOL_UNREACHABLE", string(result.Code))
}

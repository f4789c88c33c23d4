package echo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func registry(t testing.TB, options tools.Options) *tools.Registry {
	r, err := tools.New(options, Adapter{})
	require.NoError(t, err)
	return r
}

// TO-2
func TestEchoAnswersWithItsArguments(t *testing.T) {
	r := registry(t, tools.Options{})
	for _, v := range []any{nil, true, 7, 1.5, "text", []any{1, "a"}, map[string]any{"a": map[string]any{"b": nil}}} {
		args, problem := value.FromGo(v)
		require.Nil(t, problem)
		assert.Equal(t, tools.Succeed(args), r.Run(t.Context(), tools.Request{Tool: "echo", Args: args}))
	}
}

// TO-6: the registry's bound holds for a tool that would give anything.
func TestEchoIsBounded(t *testing.T) {
	r := registry(t, tools.Options{MaxResultBytes: 100})
	args, problem := value.FromGo(strings.Repeat("a", 200))
	require.Nil(t, problem)
	assert.Equal(t, tools.Fail(failure.ToolResultTooLarge, "the result is larger than 100 bytes"),
		r.Run(t.Context(), tools.Request{Tool: "echo", Args: args}))
}

func BenchmarkEcho(b *testing.B) {
	r := registry(b, tools.Options{})
	args, _ := value.FromGo(map[string]any{"n": 1, "text": "hello"})
	b.ReportAllocs()
	for b.Loop() {
		r.Run(b.Context(), tools.Request{Tool: "echo", Args: args})
	}
}

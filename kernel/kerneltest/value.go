package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/stretchr/testify/require"
)

// AllowAll is a list of grants that lets every call through.
func AllowAll() []permissions.Grant {
	return []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}}
}

// Value turns a Go value into a kernel value.
func Value(t TB, v any) value.Raw {
	t.Helper()
	raw, problem := value.FromGo(v)
	require.Nil(t, problem)
	return raw
}

// JSON turns JSON text into a kernel value.
func JSON(t TB, text string) value.Raw {
	t.Helper()
	raw, problem := value.FromJSON([]byte(text), 1<<20)
	require.Nil(t, problem)
	return raw
}

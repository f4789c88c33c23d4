package mcptest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Calls is how often the servers of a directory noted a line: "TOOL/ID", or "started".
func Calls(t testing.TB, dir, line string) (n int) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "calls"))
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	for one := range strings.Lines(string(content)) {
		if strings.TrimSpace(one) == line {
			n++
		}
	}
	return n
}

// Hold holds calls back, "TOOL-ID", until they are released.
func Hold(t testing.TB, dir, name string) (release func()) {
	t.Helper()
	file := filepath.Join(dir, "hold-"+name)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	return func() { require.NoError(t, os.Remove(file)) }
}

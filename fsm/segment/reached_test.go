package segment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A directory that is not there, or holds no block, goes nowhere.
func TestReachedNowhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	index, _, err := Reached(dir)
	require.NoError(t, err)
	require.Zero(t, index)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000000.seg"), []byte("short"), 0o600))
	index, _, err = Reached(dir)
	require.NoError(t, err)
	require.Zero(t, index)
}

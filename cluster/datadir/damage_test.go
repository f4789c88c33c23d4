package datadir_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/datadir"
)

// FT-1: no bit of node.json can flip without the node refusing to start, by the
// file's name; nothing else changes, and put right it starts again.
func TestEveryBitOfTheOwner(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, datadir.Claim(dir, "omni", "n1"))
	path := filepath.Join(dir, "node.json")
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	for bit := range 8 * (len(sound) - 1) { // the line's end is no part of it
		content := append([]byte(nil), sound...)
		content[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		// A key may be written large, and this binary knows more formats than one.
		same := bytes.EqualFold(bytes.Replace(content, []byte(`"format":1`), []byte(`"format":0`), 1), sound)
		if err := datadir.Claim(dir, "omni", "n1"); err != nil || !same {
			require.ErrorContains(t, err, path, "%s", content)
		}
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, after)
	}
	for cut := range len(sound) - 1 {
		require.NoError(t, os.WriteFile(path, sound[:cut], 0o600))
		require.ErrorContains(t, datadir.Claim(dir, "omni", "n1"), path, "%s", sound[:cut])
	}
	require.NoError(t, os.WriteFile(path, sound, 0o600))
	require.NoError(t, datadir.Claim(dir, "omni", "n1"))
	require.NoError(t, os.WriteFile(path, append([]byte(nil), "{\"format\":0,,}"...), 0o600))
	require.ErrorContains(t, datadir.Claim(dir, "omni", "n1"), "at byte 13")
	require.NoError(t, os.WriteFile(path, []byte(`{"format":9,"new":true}`), 0o600))
	require.ErrorIs(t, datadir.Claim(dir, "omni", "n1"), datadir.ErrNewer)
}

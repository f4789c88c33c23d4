package datadir_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/datadir"
)

// FT-1: no bit of node.json can flip without the node refusing to start, by the
// file's name; nothing else changes, and put right it starts again. In whichever
// format it is.
func TestEveryBitOfTheOwner(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"new":       func(string) error { return nil },
		"version 2": func(dir string) error { return datadir.Need(dir, 2) },
		"recovered": func(dir string) error { return datadir.KeepLineage(dir, "3f9a0c51") },
		"both": func(dir string) error {
			return errors.Join(datadir.KeepLineage(dir, "3f9a0c51.00c0ffee"), datadir.Need(dir, 2))
		},
	} {
		t.Run(name, func(t *testing.T) { everyBitOfTheOwner(t, change) })
	}
}

func everyBitOfTheOwner(t *testing.T, change func(dir string) error) {
	dir := t.TempDir()
	require.NoError(t, datadir.Claim(dir, "omni", "n1"))
	require.NoError(t, change(dir))
	path := filepath.Join(dir, "node.json")
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	for bit := range 8 * (len(sound) - 1) { // the line's end is no part of it
		content := append([]byte(nil), sound...)
		content[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		same := bytes.EqualFold(content, sound) // a key may be written large
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

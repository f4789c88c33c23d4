package consensus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FT-1: no bit of what a snapshot says of itself can flip without being noticed:
// where it stands in the log, and who the members are.
func TestEveryBitOfASnapshotsMetadata(t *testing.T) {
	dir := t.TempDir()
	sink, err := SeedSnapshot(dir, 1234, 5, []Member{{ID: "n1", Address: "10.0.0.1:1"}, {ID: "n2", Address: "10.0.0.2:1"}, {ID: "n3", Address: "10.0.0.3:1"}})
	require.NoError(t, err)
	_, err = sink.Write([]byte("state"))
	require.NoError(t, err)
	require.NoError(t, sink.Close())
	listed := func() (ids []string, damage error) {
		files, err := newSnapshotFiles(dir, hclog.NewNullLogger())
		require.NoError(t, err)
		all, err := files.List()
		require.NoError(t, err)
		for _, meta := range all {
			ids = append(ids, meta.ID)
		}
		return ids, files.damage()
	}
	ids, damage := listed()
	require.Equal(t, []string{sink.ID()}, ids)
	require.NoError(t, damage)
	for _, name := range []string{metaFile, sumFile} {
		path := filepath.Join(dir, snapshotsDir, sink.ID(), name)
		sound, err := os.ReadFile(path)
		require.NoError(t, err)
		for bit := range 8 * len(sound) {
			if name == sumFile && bit/8 == len(sound)-1 {
				continue // a line's end is no part of a sum
			}
			content := append([]byte(nil), sound...)
			content[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(path, content, 0o600))
			ids, _ := listed()
			require.Empty(t, ids, "%s, bit %d: %s", name, bit, content)
		}
		require.NoError(t, os.WriteFile(path, sound, 0o600))
		ids, _ = listed()
		require.Len(t, ids, 1)
	}

	// A version that made no checksums is held to the directory's name.
	meta := filepath.Join(dir, snapshotsDir, sink.ID(), metaFile)
	require.NoError(t, os.Remove(filepath.Join(dir, snapshotsDir, sink.ID(), sumFile)))
	ids, damage = listed()
	require.Len(t, ids, 1)
	require.NoError(t, damage)
	content, err := os.ReadFile(meta)
	require.NoError(t, err)
	require.Contains(t, string(content), `"Index":1234`)
	require.NoError(t, os.WriteFile(meta, []byte(strings.Replace(string(content), `"Index":1234`, `"Index":1235`, 1)), 0o600))
	ids, damage = listed()
	assert.Empty(t, ids)
	require.ErrorIs(t, damage, ErrDamagedSnapshot)
	assert.ErrorContains(t, damage, meta)
}

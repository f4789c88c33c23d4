package backup_test

import (
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/fsm/backup"
)

// A name is a file's name whatever the ids are, is read back, and sorts by time and
// index.
func TestNames(t *testing.T) {
	at := time.Date(2025, 11, 21, 3, 46, 0, 0, time.UTC)
	n := backup.Name{MadeAt: at, Index: 12345, Node: "n1", Kernel: "default", Of: "omni"}
	require.Equal(t, "20251121T034600Z-00000000000000012345-n1@default@omni.omniback", n.String())
	for _, other := range []string{
		"", "notes.txt", "20251121T034600Z-00000000000000012345-n1@default@omni.omniback.partial", "20251121T034600Z-12345-n1@default@omni.omniback",
		"20251121T034600Z-00000000000000012345-n1@default.omniback", "20251121T034600Z-00000000000000012345-%zz@default@omni.omniback",
		"20251321T034600Z-00000000000000012345-n1@default@omni.omniback",
	} {
		_, ok := backup.ParseName(other)
		require.False(t, ok, other)
	}
	drawn := rapid.Custom(func(t *rapid.T) backup.Name {
		return backup.Name{
			MadeAt: at.Add(time.Duration(rapid.Int64Range(0, 1<<30).Draw(t, "seconds")) * time.Second), Index: rapid.Uint64().Draw(t, "index"),
			Node: rapid.String().Draw(t, "node"), Kernel: rapid.String().Draw(t, "kernel"), Of: rapid.String().Draw(t, "cluster"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		require.False(t, strings.ContainsAny(a.String(), "/\x00"), a.String())
		read, ok := backup.ParseName(a.String())
		require.True(t, ok)
		require.Equal(t, a, read)
		names := []string{a.String(), b.String()}
		sort.Strings(names)
		first, _ := backup.ParseName(names[0])
		second, _ := backup.ParseName(names[1])
		if first.MadeAt.Equal(second.MadeAt) {
			require.LessOrEqual(t, first.Index, second.Index)
		}
		require.False(t, second.MadeAt.Before(first.MadeAt))
	})
}

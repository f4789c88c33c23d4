package fsm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm"
)

// FT-1: whichever bit of the crash guard's file flips, a node that ended in
// order starts: one flipped bit is at most one crash that was none.
func TestEveryBitOfTheGuard(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "applying.bin")
	for bit := range 8 * 64 {
		content := make([]byte, 64)
		content[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		guard, err := fsm.OpenGuard(dir)
		require.NoError(t, err, "bit %d", bit)
		require.NoError(t, guard.Close())
		guard, err = fsm.OpenGuard(dir)
		require.NoError(t, err, "bit %d, the start after it", bit)
		require.NoError(t, guard.Close())
	}
	for _, size := range []int{0, 1, 63, 65, 4096} { // cut short, or longer than it may be
		require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
		guard, err := fsm.OpenGuard(dir)
		require.NoError(t, err, "%d bytes", size)
		require.NoError(t, guard.Close())
	}
}

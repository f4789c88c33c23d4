package segment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// LO-7: of every block, wherever it lies, there is a proof for the tree of any
// size that has it, and it leads to that tree's root.
func TestProve(t *testing.T) {
	want := history(11, 40_000, 4000)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	appendAll(t, s, want)
	syncAll(t, s)
	require.Greater(t, len(want[len(want)-1].after.Sealed), 20)
	for _, size := range []int{1, 2, 1023, 1024, 1025, 3000, 4000} {
		root := want[size-1].after.Tree.Root()
		for leaf := 0; leaf < size; leaf += 1 + size/40 {
			block, proof, err := s.Prove(want[leaf].before.NextSeq, uint64(size))
			require.NoError(t, err)
			require.Equal(t, want[leaf].raw, block)
			require.EqualValues(t, leaf, proof.Leaf)
			got, ok := proof.Root(logging.Digest(block))
			require.True(t, ok)
			require.Equal(t, root, got, "block %d of %d", leaf, size)
		}
	}
	last := want[len(want)-1]
	_, _, err := s.Prove(want[10].before.NextSeq, 10)
	require.Equal(t, &NotCoveredError{Size: 10}, err)
	_, _, err = s.Prove(last.after.NextSeq, 10)
	require.Equal(t, &AheadError{NextSeq: last.after.NextSeq}, err)
	_, _, err = s.Prove(1, 4001)
	require.Equal(t, &AheadError{NextSeq: last.after.NextSeq}, err)

	require.NoError(t, s.Reset(last.after))
	require.NoError(t, s.dir.removeFile(0, segmentSuffix))
	require.NoError(t, s.Reset(last.after))
	_, _, err = s.Prove(last.before.NextSeq, 4000)
	var behind *HistoryBehindError
	require.ErrorAs(t, err, &behind)
}

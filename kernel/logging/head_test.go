package logging

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An agent's own chain runs over the blocks that touch it, from zero, and each
// of them says where it stood before (LO-1).
func TestAgentsChains(t *testing.T) {
	blocks, _ := chainOfBlocks(40, 1000)
	heads := map[uint32][HashBytes]byte{}
	for _, raw := range blocks {
		b, err := Decode(raw)
		require.NoError(t, err)
		for i := range b.Touched() {
			agent, _ := b.TouchedAt(i)
			require.Equal(t, heads[agent], b.HeadAt(i))
			heads[agent] = ChainAfter(b.HeadAt(i), b.Digest())
		}
	}
	require.Len(t, heads, 6)
}

package segment

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// touching lists the blocks that touch an agent, by looking at every block, and
// gives the pointer that the agent's row would hold.
func touching(t testing.TB, blocks []written, agent uint32) (which []int, last uint64) {
	t.Helper()
	for i := range blocks {
		b, err := logging.Decode(blocks[i].raw)
		require.NoError(t, err)
		if _, ok := b.Previous(agent); ok {
			which = append(which, i)
			last = logging.PointerTo(blocks[i].before.Position)
		}
	}
	return which, last
}

// requireAgents checks both ways to read every agent's history, from every block
// on, where history begins at the block floor.
func requireAgents(t testing.TB, s *Store, blocks []written, floor int) {
	t.Helper()
	for agent := uint32(1); agent <= agents; agent++ {
		all, last := touching(t, blocks, agent)
		var seen []uint64
		err := s.AgentBlocks(agent, last, func(position uint64, b *logging.Block) bool {
			seen = append(seen, position)
			return true
		})
		slices.Reverse(seen)
		var want []uint64
		for _, i := range all {
			if i >= floor {
				want = append(want, blocks[i].before.Position)
			}
		}
		require.Equal(t, want, seen, "agent %d backwards", agent)
		if len(want) == len(all) {
			require.NoError(t, err)
		} else {
			require.Equal(t, &HistoryBehindError{FirstSeq: blocks[floor].before.NextSeq}, err)
		}
		for from := floor; from < len(blocks); from += 3 {
			seen, want = nil, nil
			require.NoError(t, s.AgentHistory(agent, last, blocks[from].before.NextSeq, func(position uint64, b *logging.Block) bool {
				seen = append(seen, position)
				require.GreaterOrEqual(t, b.LastSeq(), blocks[from].before.NextSeq)
				return true
			}))
			for _, i := range all {
				if i >= from {
					want = append(want, blocks[i].before.Position)
				}
			}
			require.Equal(t, want, seen, "agent %d from block %d", agent, from)
		}
	}
}

// An agent's history is a list inside the log: backwards by pointers, forwards
// by sidecar and pointers, in memory and in files.
func TestAgentHistories(t *testing.T) {
	blocks := history(41, small, 120)
	dir := t.TempDir()
	s := openAt(t, dir, logging.Genesis("default"))
	appendAll(t, s, blocks[:70])
	requireAgents(t, s, blocks[:70], 0)
	syncAll(t, s)
	requireAgents(t, s, blocks[:70], 0)
	// What is appended, even sealed, but not published is not seen.
	for i := 70; i < 120; i++ {
		require.NoError(t, s.Append(blocks[i].raw, &blocks[i].after))
	}
	syncAll(t, s)
	requireAgents(t, s, blocks[:70], 0)
	_, last := touching(t, blocks, 1)
	var ahead *AheadError
	require.ErrorAs(t, s.AgentHistory(1, last, 1, nil), &ahead)
	s.Publish()
	requireAgents(t, s, blocks, 0)
	require.NoError(t, s.Close())
	s = openAt(t, dir, blocks[119].after)
	requireAgents(t, s, blocks, 0)
}

// Both stop where the visitor says, and visit nothing for an agent without
// blocks.
func TestAgentVisitStops(t *testing.T) {
	blocks := history(42, small, 120)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	appendAll(t, s, blocks)
	syncAll(t, s)
	all, last := touching(t, blocks, 2)
	require.Greater(t, len(all), 20)
	for stop := 1; stop <= len(all); stop++ {
		var back, forth []uint64
		require.NoError(t, s.AgentBlocks(2, last, func(position uint64, _ *logging.Block) bool {
			back = append(back, position)
			return len(back) < stop
		}))
		require.NoError(t, s.AgentHistory(2, last, 1, func(position uint64, _ *logging.Block) bool {
			forth = append(forth, position)
			return len(forth) < stop
		}))
		require.Len(t, back, stop)
		require.Len(t, forth, stop)
		require.Equal(t, blocks[all[stop-1]].before.Position, forth[stop-1])
		require.Equal(t, blocks[all[len(all)-stop]].before.Position, back[stop-1])
	}
	nothing := func(uint64, *logging.Block) bool { t.Error("visited"); return true }
	require.NoError(t, s.AgentBlocks(2, 0, nothing))
	require.NoError(t, s.AgentHistory(2, 0, 1, nothing))
}

// A pointer that leads astray is an error, not another agent's history.
func TestStrayPointer(t *testing.T) {
	blocks := history(43, small, 40)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	appendAll(t, s, blocks)
	_, last := touching(t, blocks, 3)
	visit := func(uint64, *logging.Block) bool { return true }
	for _, stray := range []uint64{last + 1, last - 1} {
		var corrupt *CorruptError
		require.ErrorAs(t, s.AgentBlocks(3, stray, visit), &corrupt)
		require.ErrorAs(t, s.AgentHistory(3, stray, 1, visit), &corrupt)
	}
	for i := range blocks {
		b, err := logging.Decode(blocks[i].raw)
		require.NoError(t, err)
		if _, ok := b.Previous(3); !ok {
			var corrupt *CorruptError
			require.ErrorAs(t, s.AgentBlocks(3, logging.PointerTo(blocks[i].before.Position), visit), &corrupt)
			assert.Equal(t, errStray, corrupt.Err)
			break
		}
	}
	var ahead *AheadError
	require.ErrorAs(t, s.AgentBlocks(3, logging.PointerTo(blocks[39].after.Position), visit), &ahead)
	require.ErrorAs(t, s.AgentHistory(3, logging.PointerTo(blocks[39].after.Position), 1, visit), &ahead)
}

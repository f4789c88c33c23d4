package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// LO-1: with every Checkpoint the root over all blocks before it is on record,
// and state knows where.
func TestCheckpointsRecordTheTree(t *testing.T) {
	s := kerneltest.New(t, 1)
	for range 3 {
		s.Pulse()
		before := s.State().Log
		s.Node(event.Checkpoint, event.Compare{Index: 1, Values: []event.Voter{{Node: "n1"}}})
		require.Equal(t, 1, s.Count(bus.TreeHead))
		head := s.Last()[1].Content.(*logging.TreeHead)
		require.Equal(t, logging.TreeHead{Size: uint64(len(s.Blocks)) - 1, Root: before.Tree.Root()}, *head)
		require.Equal(t, logging.PointerTo(before.Position), s.State().Log.Signed)
	}
	s.Check()
}

// INV-07: sealed segments are archived by a committed event, from the oldest
// on; the tail never is.
func TestArchive(t *testing.T) {
	s := kerneltest.New(t, 2, func(c *config.Config) { c.SegmentBytes = 4096 })
	archive := func(before uint64) event.Outcome {
		return s.Command(event.LogArchive, event.ArchiveLog{Before: before})
	}
	require.Equal(t, failure.InvalidArgument, archive(1<<40).Refusal.Code, "nothing is sealed yet")
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, nil)
	for len(s.State().Log.Sealed) < 4 {
		s.Pulse()
	}
	sealed := s.State().Log.Sealed
	require.EqualValues(t, 1, s.State().Log.FirstKept())
	require.Equal(t, failure.InvalidArgument, archive(sealed[0].LastSeq).Refusal.Code, "it ends after that")

	archive(sealed[1].LastSeq + 1)
	now := s.State()
	require.Equal(t, []uint64{now.Index, now.Index, 0, 0}, archivedAt(now.Log.Sealed)[:4])
	require.Equal(t, sealed[1].LastSeq+1, now.Log.FirstKept())
	require.Zero(t, sealed[0].ArchivedAt, "published copies stay what they were")
	first := now.Index
	require.False(t, now.OverAt(1, first))

	s.Kill(id)
	for s.StateOf(id) != lifecycle.Terminated {
		s.Pass(10_000)
	}
	archive(sealed[0].LastSeq + 1) // asked again, it may leave out more
	now = s.State()
	require.Equal(t, []uint64{now.Index, first, 0, 0}, archivedAt(now.Log.Sealed)[:4])
	require.False(t, now.OverAt(1, first), "the agent was alive at the first archive")
	require.True(t, now.OverAt(1, now.Index))
	archive(1 << 40)
	now = s.State()
	require.Equal(t, now.Log.Tail.FirstSeq, now.Log.FirstKept(), "everything but the tail")
	s.Check()
}

func archivedAt(sealed []logging.Segment) (at []uint64) {
	for i := range sealed {
		at = append(at, sealed[i].ArchivedAt)
	}
	return at
}

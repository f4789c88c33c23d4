package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// ArchiveLog decides a LogArchive event: the sealed segments that end before
// the given busSeq are archived as of this event. Which of their blocks move is
// a function of the state now: those that concern no agent that is alive
// (INV-07). To ask again is no mistake: agents have died since.
func ArchiveLog(v View, cmd *event.ArchiveLog, out *bus.Batch) (Target, *Refusal) {
	segments := v.Log.SealedBefore(cmd.Before)
	if segments == 0 {
		return Target{}, refuse(failure.InvalidArgument, "before", "no sealed segment of the log ends before it")
	}
	out.Add(bus.Record{Kind: bus.LogArchived, Body: &logging.Archived{
		Segments: segments, Before: v.Log.Sealed[segments-1].LastSeq + 1,
	}})
	return Target{}, nil
}

// TreeHead is what a Checkpoint writes down: the root over the log before it.
func TreeHead(v View, out *bus.Batch) {
	out.Add(bus.Record{Kind: bus.TreeHead, Body: &logging.TreeHead{Size: v.Log.Tree.Size(), Root: v.Log.Tree.Root()}})
}

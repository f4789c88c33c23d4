package kernels

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// Kind of an Op.
type Kind uint8

// The kinds.
const (
	Commit   Kind = iota + 1 // Entry becomes the log's next
	Deliver                  // Replica applies up to Count entries as one batch, and publishes
	Torn                     // Replica crashes when it has applied Count entries of a batch
	Crash                    // Replica loses all but its last snapshot
	Restart                  // Replica comes back from its snapshot
	Snapshot                 // Replica takes one, as Raft would keep it
	HalfShot                 // Replica crashes while it writes one: Count bytes in 1024 are there
	Install                  // Replica, too far behind, gets the snapshot of Other
	Trim                     // the log loses its front, up to the newest snapshot of all, but for Count entries
)

var kindNames = [...]string{
	Commit: "commit", Deliver: "deliver", Torn: "crash in a batch", Crash: "crash", Restart: "restart",
	Snapshot: "snapshot", HalfShot: "crash in a snapshot", Install: "install", Trim: "trim",
}

// Op is one thing that happened. An Op that is impossible when it comes, since
// others before it were left out, does nothing.
type Op struct {
	Kind    Kind
	Replica int
	Other   int
	Count   int
	Entry   kerneltest.Entry
}

// String is one line.
func (o Op) String() string {
	switch o.Kind {
	case Commit:
		e := &o.Entry.Event
		return fmt.Sprintf("commit %s, wall %+d ms, term %d, %d bytes", e.Kind, e.Wall-kerneltest.Start, o.Entry.Term, len(e.Body))
	case Trim:
		return fmt.Sprintf("trim, but for %d", o.Count)
	case Install:
		return fmt.Sprintf("replica %d: install the snapshot of replica %d", o.Replica, o.Other)
	case Deliver, Torn, HalfShot:
		return fmt.Sprintf("replica %d: %s (%d)", o.Replica, kindNames[o.Kind], o.Count)
	}
	return fmt.Sprintf("replica %d: %s", o.Replica, kindNames[o.Kind])
}

package nemesis

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
)

// Means is what a run gives to its nemesis. Whatever is nil is not there, and a
// fault that needs it is refused by Check.
type Means struct {
	Nodes   []*Node // in the order of their ids
	Network Network
	Record  *history.Recorder
	Seed    uint64

	// Leader is the node that leads as far as anybody can tell, "" when nobody does.
	Leader func() string
	// Serves waits until a node answers reads as new as the cluster's.
	Serves func(ctx context.Context, node string) error
	// Transfer hands leadership over.
	Transfer func(ctx context.Context, to string) error
}

// Node is what can be done to one node.
type Node struct {
	ID      string
	Process Process
	Disk    Disk
	Answers Answers
	Files   Files
	// Clock makes the node's wall clock wrong by so much.
	Clock func(off time.Duration) error
	// ReadLog stops, with false, whoever reads what the node has to say.
	ReadLog func(on bool) error
}

// Process is a node's process.
type Process interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error // SIGTERM; it returns when the process has ended
	Kill() error                    // SIGKILL; nothing when it does not run
	Pause() error                   // SIGSTOP
	Resume() error                  // SIGCONT
	Running() bool
}

// Network is what is between the nodes, whose ids are its hosts'. Rules of several
// faults are put together.
type Network interface {
	Impose(wire.Rules) (*wire.Imposition, error)
}

// Disk is the file system that a node's data are on.
type Disk interface {
	// Cut takes the power away, and gives it back. The process is not running.
	Cut(seed uint64) error
	// Fill leaves no room; Free gives it back.
	Fill() error
	Free() error
	// FailSync makes fsyncs fail, FailWrite writes; SlowSync makes them take longer.
	FailSync(on bool) error
	FailWrite(on bool) error
	SlowSync(by time.Duration) error
}

// Answers are what a node says to its clients.
type Answers interface {
	// Drop swallows so many percent of the answers, after the node has done what it
	// was asked for; Delay makes them late.
	Drop(percent int)
	Delay(percent int, by time.Duration)
}

// Files are a node's data while its process is not running.
type Files interface {
	// Damage spoils a file of a kind in a way, drawn by the seed where either is
	// "any", and tells what it did.
	Damage(file, way string, seed uint64) (map[string]any, error)
	// Share is the part of the files that Damage spoils, the part-th of so many: all
	// nodes may be damaged at once if no two are in the same part.
	Share(file, way string, part, parts int, seed uint64) (map[string]any, error)
	// Wipe removes all of it.
	Wipe() error
}

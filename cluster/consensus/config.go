package consensus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// StateMachine is what the log drives. ApplyBatch is also given configuration
// entries: check Log.Type, and answer as many values as there are entries.
type StateMachine interface {
	raft.BatchingFSM
	// Applied is the index of the last entry contained in the state. It is asked
	// right after Restore, and only then.
	Applied() uint64
}

// Member is one server of the group.
type Member struct {
	ID      string
	Address string // host:port of its peer endpoint
	Voter   bool
}

// PeerCaller asks another node; raftstream.Peers is one.
type PeerCaller interface {
	Call(ctx context.Context, address string, kind byte, body []byte) ([]byte, error)
}

// CrashDetector tells that the process at an address has ended while its host
// lives; raftstream.Kernel is one. AwaitCrash returns nil then, and an error
// whenever it cannot be sure, or the context ends.
type CrashDetector interface {
	AwaitCrash(ctx context.Context, address string) error
}

// Leadership is told when this node leads.
type Leadership interface {
	// Lead runs for as long as this node leads in term. ctx ends when leadership
	// is lost; Lead must then stop what only a leader does, and return. The next
	// term's Lead begins after this one has returned.
	Lead(ctx context.Context, term uint64)
}

// LeadFunc is a Leadership of one function.
type LeadFunc func(ctx context.Context, term uint64)

// Lead calls the function.
func (f LeadFunc) Lead(ctx context.Context, term uint64) { f(ctx, term) }

// Growth counts what a snapshot would spare; *raftstore.Store is one.
type Growth interface {
	Bytes() uint64                // stored since Forget or CountFrom
	Forget(n uint64)              // a snapshot covers n of them
	CountFrom(index uint64) error // after a restart
}

// Config of a group.
type Config struct {
	NodeID string
	FSM    StateMachine

	Log    raft.LogStore
	Stable raft.StableStore
	// Growth triggers snapshots; nil means only Snapshot makes them.
	Growth Growth
	// SnapshotDir keeps the last two snapshots as files, unless Snapshots is given.
	SnapshotDir string
	Snapshots   raft.SnapshotStore

	// Stream carries the library's protocol. The group closes it.
	Stream raft.StreamLayer
	// Peers asks the other nodes for their terms and clocks.
	Peers PeerCaller
	// Crash turns crash-fast failover on; nil means off.
	Crash CrashDetector
	// Leadership may be nil: then nothing follows from leading.
	Leadership Leadership
	// MayVote is asked about a learner whose log is long enough, before it becomes
	// a voter: nil when it has all else that a voter must have. A *Refusal is told
	// as it is, any other error as NotCaughtUp. Nil asks nothing more.
	MayVote func(ctx context.Context, learner Member) error

	// Bootstrap lists all members of a new cluster, the same on every node; nil
	// for a node that joins one. A store with state ignores it.
	Bootstrap []Member

	Timing Timing
	Limits Limits
	// Wall is this node's clock, as told to its peers (EV-7). Default time.Now.
	Wall   func() time.Time
	Logger hclog.Logger
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.NodeID == "":
		return c, errors.New("raft group needs a node id")
	case c.FSM == nil:
		return c, errors.New("raft group needs a state machine")
	case c.Log == nil || c.Stable == nil:
		return c, errors.New("raft group needs a log and a stable store")
	case c.Stream == nil || c.Peers == nil:
		return c, errors.New("raft group needs a stream layer and a peer caller")
	case c.SnapshotDir == "" && c.Snapshots == nil:
		return c, errors.New("raft group needs a place for snapshots")
	}
	timing, err := c.Timing.withDefaults()
	if err != nil {
		return c, err
	}
	c.Timing, c.Limits = timing, c.Limits.withDefaults()
	if c.Wall == nil {
		c.Wall = time.Now
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Snapshots == nil {
		c.Snapshots, err = newSnapshotFiles(c.SnapshotDir, c.Logger)
		if err != nil {
			return c, fmt.Errorf("open snapshots: %w", err)
		}
	}
	return c, nil
}

// retainedSnapshots: the one before the last is kept in case the last cannot
// be read.
const retainedSnapshots = 2

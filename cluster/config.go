package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/lineage"
	"github.com/omnikernel/omnikernel/cluster/metrics"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/traces"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
)

// Config of a node. Zero values of the optional fields are the defaults.
type Config struct {
	NodeID    string
	ClusterID string
	KernelID  string
	DataDir   string
	Version   string // of the binary, for status

	// Peers is every initial node of the cluster, this one included, the same
	// on all of them: it is the bootstrap configuration and the address book.
	Peers []Peer

	Store      raftstore.Kind                    // bolt when empty
	Disk       func() (raftstore.Backend, error) // nil but in simulations: instead of Store's files
	Timing     consensus.Timing                  // one multiplier scales all times
	Raft       consensus.Limits                  // of the group
	Stream     raft.StreamLayer
	Calls      consensus.PeerCaller
	Crash      consensus.CrashDetector // nil: no crash-fast failover
	History    HistoryCaller           // nil: missing history is not fetched
	Lineage    *lineage.Line           // nil: the cluster was never recovered
	Tools      *tools.Registry
	Evaluators flows.Lookup
	// Join says that the cluster exists already: a node with an empty directory
	// waits until it is taken in, instead of beginning a cluster of Peers.
	Join bool
	// Learner says of such a node that it stays a learner, until somebody promotes it.
	Learner bool
	// RemoveDead removes members that have not answered the leader for so long, as
	// long as MinVoters voters are left; 0: nobody is removed by itself.
	RemoveDead time.Duration
	MinVoters  int // default DefaultMinVoters

	Limits config.Config // of a new cluster; its first leader proposes them

	// MaxKernelVersion keeps the cluster from rising to a later kernel version (EV-9),
	// as a node would whose binary knows no later one; 0: it is what the binary knows.
	MaxKernelVersion uint32

	// HistoryRate bounds, in bytes a second, how fast missing history is fetched
	// while commands are under way; default DefaultHistoryRate. HistoryMax does at
	// any time; 0 is as fast as it goes.
	HistoryRate uint64
	HistoryMax  uint64

	// BackupRate bounds, in bytes a second, how fast backups are read while commands
	// are under way, all that are being made together; default DefaultBackupRate.
	BackupRate uint64

	// Backups makes backups by the clock; nil: none.
	Backups *BackupConfig

	// ArchiveDir is where the full files of archived segments go; empty is beside the
	// log. ArchiveBytes bounds it, the oldest files going first; 0 keeps all.
	ArchiveDir   string
	ArchiveBytes uint64

	// State is the node's lifecycle (NO-1), which its process has taken to Starting.
	// nil: one that nobody keeps, and that Open takes to Running. Journal is where it
	// is kept; nil: nowhere.
	State   *nodestate.Registry
	Journal *nodejournal.Journal

	// MinFree is how many bytes must be free where the node keeps everything, or a
	// tenth of a smaller disk, for it to be healthy; 0: nobody looks. Room tells what is
	// free and what there is; the file system does when it is nil. LogBlocked tells how long its log output has been
	// waiting for a reader; nil: nobody knows.
	MinFree    uint64
	Room       func(dir string) (free, total uint64, err error)
	LogBlocked func() time.Duration

	// Drain is how long a stop waits for external calls that are under way; 0: it
	// does not. Restart stops the node and starts it anew, in this one's name; nil:
	// nobody can.
	Drain   time.Duration
	Restart func(nodestate.Cause)

	// Metrics count what the node does; nil: nobody does.
	Metrics *metrics.Metrics

	// Traces takes spans of what was committed while this node leads; nil: none are made.
	Traces *traces.Sender

	// Supervised is nil but in tests: it gives what is run in a component's place.
	Supervised func(supervise.Component) supervise.Component

	// Fatal ends the process; called at most once, from any goroutine.
	Fatal  func(error)
	Logger hclog.Logger
	Wall   func() time.Time // default time.Now
}

// Check says what is wrong with a node's identity, before anything is done in its
// name.
func (c *Config) Check() error {
	switch {
	case c.NodeID == "" || c.ClusterID == "" || c.KernelID == "" || c.DataDir == "":
		return errors.New("cluster: a node needs a node id, a cluster id, a kernel id and a data directory")
	case !slices.ContainsFunc(c.Peers, func(p Peer) bool { return p.ID == c.NodeID }):
		return fmt.Errorf("cluster: the list of peers must name this node, %q, too", c.NodeID)
	case c.MaxKernelVersion > config.Version:
		return fmt.Errorf("cluster: the highest kernel version must be from 1 to %d, which is what this binary knows", config.Version)
	case c.Fatal == nil:
		return errors.New("cluster: a node needs to be told how to end the process")
	}
	return nil
}

// BackupConfig says where a node puts backups by itself, and when (package backups).
type BackupConfig struct {
	Dir   string
	Every time.Duration
	Keep  int
}

// Times and bounds of a node's own work.
const (
	// MaxClockSkew is how far a new leader's clock may be from the median of a
	// majority's before it hands leadership over (EV-7).
	MaxClockSkew = 500 * time.Millisecond

	// DefaultMinVoters is below which number of voters none is removed by itself.
	DefaultMinVoters = 3

	// DefaultHistoryRate leaves commands most of their throughput, in bytes a second.
	DefaultHistoryRate = 32 << 20

	// DefaultBackupRate leaves commands the disks and the processors, in bytes a second.
	DefaultBackupRate = 32 << 20

	pulseEvery       = 10 * time.Millisecond // at most one Pulse per this (mechanics: "Work, not ticks")
	checkpointEvents = 16_384                // events between Checkpoints, or …
	checkpointEvery  = 5 * time.Second       // … this long, if anything happened
	logFlushEvery    = 15 * time.Second      // fsyncs of the derived log, which a crash cannot harm (LO-2)
	logBuffer        = 32 << 20              // bytes of log that may wait for one of them; then Apply does
	runnerWorkers    = 512                   // external calls that run at once
	resultBatch      = 256                   // results proposed together
	sweepEvery       = 100 * time.Millisecond
)

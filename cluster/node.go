package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cluster/traces"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/fsm/segment"
)

// Node is one node of a cluster, with one kernel.
type Node struct {
	config  Config
	logger  hclog.Logger
	self    Peer
	started time.Time
	state   *nodestate.Registry
	own     bool // state is nobody else's

	guard *fsm.Guard
	log   *segment.Store
	store *raftstore.Store
	fsm   *fsm.FSM
	group *consensus.Group

	book     book
	changing sync.Mutex // one change of the members at a time
	refused  sync.Map   // learner → why it is no voter yet, as the leader found last

	backfill *backfill
	keeper   *backups.Keeper  // nil: no backups by the clock
	traces   *traces.Exporter // nil: no traces

	backupPace *sharedPace
	atWork     <-chan struct{} // closed when what goes on beside Raft has ended, after quit
	quit       context.CancelFunc

	toArchive chan struct{} // one place: a snapshot is wanted (archive.go)
	joined    chan struct{} // closed when group is set: the first term may begin before

	stamps   stampClock
	proposal atomic.Uint64
	runner   *runner
	stirred  signal // a new state was published
	lag      lagMeter
	stopping atomic.Bool
	fatal    sync.Once
	failure  atomic.Pointer[error]
	disk     atomic.Pointer[look]    // nil: it has not been looked at
	apart    atomic.Pointer[parting] // what it was told of a recovered cluster that it is not of; nil: nothing
}

// Open starts the node: it claims the data directory, restores the kernel and
// joins its Raft group. Errors name what to do: a busy or foreign directory, a
// newer snapshot, an event that ends the process (*fsm.SafeModeError: see Hold).
func Open(c Config) (*Node, error) {
	n, err := prepare(c)
	if err != nil {
		return nil, err
	}
	if err := n.open(); err != nil {
		err = errors.Join(err, n.closeStores())
		n.state.Stopped(raftComponent)
		return nil, err
	}
	if n.own {
		if refusal := n.state.Transition(nodestate.InitOK, nodestate.Cause{By: "node"}); refusal != nil {
			return nil, errors.Join(refusal, n.closeStores())
		}
	}
	return n, nil
}

func prepare(c Config) (*Node, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Wall == nil {
		c.Wall = time.Now
	}
	n := &Node{config: c, logger: c.Logger, started: time.Now(), stirred: newSignal(), joined: make(chan struct{}), toArchive: make(chan struct{}, 1)}
	n.stamps.wall = c.Wall
	if n.config.Room == nil {
		n.config.Room = room
	}
	n.lag.mark(n.started) // nothing is read before the node has caught up since
	n.config.HistoryRate = cmp.Or(c.HistoryRate, DefaultHistoryRate)
	n.backfill = newBackfill(n)
	for _, p := range c.Peers {
		if p.ID == c.NodeID {
			n.self = p
		}
	}
	if n.own = c.State == nil; n.own {
		n.config.State = nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy, Now: c.Wall})
		if refusal := n.config.State.Transition(nodestate.Start, nodestate.Cause{By: "node"}); refusal != nil {
			return nil, refusal
		}
	}
	n.state = n.config.State
	return n, nil
}

// kernelDir is where a kernel's data is: a node will host several.
func (n *Node) kernelDir() string {
	return datadir.KernelDir(n.config.DataDir, n.config.KernelID)
}

func (n *Node) open() (err error) {
	c := &n.config
	n.nameComponents()
	if n.store, err = n.openStore(); err != nil {
		return err
	}
	if err := n.openBook(); err != nil {
		return err
	}
	if n.guard, err = fsm.OpenGuard(n.kernelDir()); err != nil {
		return err
	}
	if n.log, err = n.openLog(); err != nil {
		return err
	}
	if err := n.refuseShort(); err != nil {
		return err
	}
	n.runner = newRunner(n)
	n.fsm = fsm.New(fsm.Options{
		ClusterID: c.ClusterID, KernelID: c.KernelID, Log: n.log, Evaluators: c.Evaluators, Guard: n.guard,
		Fatal: n.die, Needs: n.needs, Requested: n.runner.requested, Published: n.published, Archived: n.archived, Observer: observer(c.Metrics), Logger: n.logger.Named("fsm"),
	})
	if err := n.openTraces(); err != nil {
		return err
	}
	n.paceBackups()
	if c.Backups != nil {
		if n.keeper, err = n.openKeeper(c.Backups); err != nil {
			return err
		}
	}
	return n.join()
}

// openStore claims the data directory and opens the Raft store in it, which
// holds its lock.
func (n *Node) openStore() (*raftstore.Store, error) {
	c := &n.config
	if err := datadir.Claim(c.DataDir, c.ClusterID, c.NodeID); err != nil {
		return nil, err
	}
	if c.Disk == nil {
		if err := refuseMissing(c.DataDir, c.KernelID, c.Store); err != nil {
			return nil, err
		}
	}
	store, err := raftstore.Open(raftstore.Options{
		Kind: c.Store, Backend: c.Disk, Dir: datadir.RaftDir(c.DataDir, c.KernelID), Fatal: n.die, Logger: n.logger.Named("store"),
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: raft store: %w", err)
	}
	return store, nil
}

func (n *Node) openLog() (*segment.Store, error) {
	log, err := segment.Open(datadir.LogDir(n.config.DataDir, n.config.KernelID), segment.Options{
		Owner: segment.Owner(n.config.ClusterID, n.config.KernelID), FlushEvery: logFlushEvery, BufferBytes: logBuffer,
		ArchiveDir: n.config.ArchiveDir, ArchiveBytes: n.config.ArchiveBytes, Logger: n.logger.Named("log"),
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: execution log: %w", err)
	}
	return log, nil
}

func (n *Node) join() (err error) {
	c := &n.config
	members := make([]consensus.Member, 0, len(c.Peers))
	for _, p := range c.Peers {
		members = append(members, consensus.Member{ID: p.ID, Address: p.Raft, Voter: true})
	}
	if c.Join {
		members = nil
	}
	n.group, err = consensus.Start(consensus.Config{
		NodeID: c.NodeID, FSM: n.fsm, Log: n.store.Logs(), Stable: n.store.Stable(), Growth: n.store,
		SnapshotDir: datadir.RaftDir(c.DataDir, c.KernelID), Stream: c.Stream, Peers: c.Calls, Crash: c.Crash,
		Leadership: consensus.LeadFunc(n.lead), MayVote: n.mayVote, Bootstrap: members, Timing: c.Timing, Limits: c.Raft, Wall: c.Wall,
		Logger: n.logger.Named("raft"),
	})
	if err != nil {
		return fmt.Errorf("cluster: raft: %w", err)
	}
	close(n.joined)
	n.beginTraces()
	ctx, quit := context.WithCancel(context.Background())
	n.quit = quit
	n.state.OK(raftComponent)
	n.atWork = supervise.Begin(ctx, n.supervision(), n.wrapped(n.components())...)
	c.Lineage.Follow(n)
	return nil
}

// Stop gives leadership away, and then ends everything in order.
func (n *Node) Stop(ctx context.Context) error {
	return n.StopBecause(ctx, nodestate.Cause{By: "node", Text: "the node is stopped"})
}

// StopBecause is Stop for a reason.
func (n *Node) StopBecause(ctx context.Context, why nodestate.Cause) error {
	stop := n.group.Stop
	if err := n.HandOver(ctx); err != nil {
		// The last node standing has nobody to hand over to: no failure of its own.
		n.logger.Warn("leadership could not be handed over before the stop", "reason", err)
		stop = func(context.Context) error { return n.group.Close() }
	}
	if err := terminate(n.state, why); err != nil {
		return err
	}
	if n.config.Drain > 0 {
		n.drain(ctx)
	}
	n.stopping.Store(true)
	err := stop(ctx)
	var nobody *consensus.Refusal
	if errors.As(err, &nobody) { // it led again meanwhile
		n.logger.Warn("leadership could not be handed over before the stop", "reason", err)
		err = nil
	}
	err = errors.Join(err, n.closeStores())
	n.stopped()
	return err
}

// terminate takes a node to Terminating.
func terminate(r *nodestate.Registry, why nodestate.Cause) error {
	if refusal := r.Transition(nodestate.Shutdown, why); refusal != nil {
		return refusal
	}
	return nil
}

func (n *Node) closeStores() error {
	var errs []error
	if n.quit != nil {
		n.quit()
		<-n.atWork
	}
	if n.group != nil {
		errs = append(errs, n.group.Close())
	}
	if n.log != nil {
		errs = append(errs, n.log.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	errs = append(errs, n.guard.Close())
	return errors.Join(errs...)
}

// die ends the process for what must not be survived. A replica that differs
// from the majority is marked, so that it never serves again (LO-3).
func (n *Node) die(err error) {
	n.fatal.Do(func() {
		n.failure.Store(&err)
		_ = n.state.Transition(nodestate.Fatal, nodestate.Cause{By: "node", Text: err.Error()}) // refused: it has stopped in order
		n.logger.Error("this node stops", "error", err)
		var diverged *fsm.DivergenceError
		var differs *segment.DivergenceError
		if errors.As(err, &diverged) || errors.As(err, &differs) {
			if markErr := datadir.Condemn(n.config.DataDir, err); markErr != nil {
				n.logger.Error("the data directory could not be marked as diverged", "error", markErr)
			}
		}
		n.config.Fatal(err)
	})
}

// ID, KernelID and ClusterID name the node and what it belongs to.
func (n *Node) ID() string { return n.config.NodeID }

// KernelID names the kernel.
func (n *Node) KernelID() string { return n.config.KernelID }

// ClusterID names the cluster.
func (n *Node) ClusterID() string { return n.config.ClusterID }

// Log is the execution log of the node's kernel.
func (n *Node) Log() *segment.Store { return n.log }

// Leader is who leads, as this node knows it.
func (n *Node) Leader() (Peer, bool) {
	m, ok := n.group.Leader()
	if !ok {
		return Peer{}, false
	}
	return n.peer(m.ID), true
}

// MintSession makes a session id without a log entry: kernel milliseconds and
// 80 random bits (CL-3). A kernel that is behind the clocks of its clients
// gives an id that opens all the same, since it counts kernel time.
func (n *Node) MintSession() [16]byte {
	return mintSession(max(n.fsm.State().Clock, n.config.Wall().UnixMilli()))
}

func mintSession(millis int64) (id [16]byte) {
	for i := range 6 {
		id[i] = byte(millis >> (40 - 8*i))
	}
	_, _ = rand.Read(id[6:]) // never fails: crypto/rand ends the process itself
	return id
}

// Transfer hands leadership to a node; to the best follower when to is empty.
func (n *Node) Transfer(ctx context.Context, to string) error { return n.group.Transfer(ctx, to) }

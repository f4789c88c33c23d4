package cluster

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Waiting is a node between a start that failed and the next one. It has nothing
// open, and tells where it stands and why; whatever else it is asked, it refuses.
type Waiting struct {
	config  Config
	self    Peer
	started time.Time
}

// Wait makes one of a node's configuration, whose State says what it waits for.
func Wait(c Config) *Waiting {
	w := &Waiting{config: c, self: Peer{ID: c.NodeID}, started: time.Now()}
	for _, p := range c.Peers {
		if p.ID == c.NodeID {
			w.self = p
		}
	}
	return w
}

var errNotStarted = errors.New("the node has not started: see where it stands with omni node status, and ask another one")

// Healthy says that it is not.
func (w *Waiting) Healthy() error { return errNotStarted }

// Propose refuses: it did not happen and will not.
func (w *Waiting) Propose(context.Context, event.Event) Answer {
	return Answer{Verdict: Refused, Code: CodeNoLeader, Detail: errNotStarted.Error()}
}

// Record refuses.
func (w *Waiting) Record(ctx context.Context, _ string, o event.Order) Answer {
	return w.Propose(ctx, orderEvent("", o))
}

// ProposeAll refuses every one.
func (w *Waiting) ProposeAll(ctx context.Context, batch []event.Event) []Answer {
	answers := make([]Answer, len(batch))
	for i := range answers {
		answers[i] = w.Propose(ctx, batch[i])
	}
	return answers
}

// Read refuses, at every level (CL-4).
func (w *Waiting) Read(context.Context, Consistency) (View, error) {
	return View{}, &ReadError{Code: CodeNotCaughtUp, Detail: errNotStarted.Error()}
}

// Known is no state.
func (w *Waiting) Known() (s *state.State, current bool) { return nil, false }

// Backup refuses: there is no state.
func (w *Waiting) Backup(context.Context, *state.State, io.Writer) (backup.Summary, error) {
	return backup.Summary{}, errNotStarted
}

// Backups is nil: none are made.
func (w *Waiting) Backups() *backups.Status { return nil }

// Log is nil: it is not open.
func (w *Waiting) Log() *segment.Store { return nil }

// Transfer refuses.
func (w *Waiting) Transfer(context.Context, string) error {
	return &consensus.Refusal{Code: consensus.NotLeader, Detail: errNotStarted.Error()}
}

// Leader is not known.
func (w *Waiting) Leader() (Peer, bool) { return Peer{}, false }

// MintSession makes a session id by this node's clock: it will be opened elsewhere.
func (w *Waiting) MintSession() [16]byte { return mintSession(time.Now().UnixMilli()) }

// Status is of this node alone: it cannot ask the others yet.
func (w *Waiting) Status(context.Context, bool) Status {
	return Status{ClusterID: w.config.ClusterID, KernelID: w.config.KernelID, Nodes: []NodeStatus{{
		ID: w.self.ID, API: w.self.API, Raft: w.self.Raft, Role: RoleDown, Reason: errNotStarted.Error(),
		UptimeMillis: time.Since(w.started).Milliseconds(), Version: w.config.Version,
		State: w.config.State.State(), KnowsVersion: w.config.maxVersion(),
	}}}
}

// Lifecycle tells where it stands.
func (w *Waiting) Lifecycle() nodestate.Snapshot { return w.config.State.Snapshot() }

// Journal gives what is on record of that.
func (w *Waiting) Journal(after uint64, limit int) (nodejournal.Found, error) {
	return w.config.tail(after, limit)
}

// UnderWay is nothing.
func (w *Waiting) UnderWay() UnderWay { return UnderWay{} }

// Order refuses what the lifecycle does: it may be restarted, and nothing else.
func (w *Waiting) Order(_ context.Context, o Order) (Ordered, error) { return w.config.order(o) }

// ID names the node.
func (w *Waiting) ID() string { return w.config.NodeID }

// KernelID names the kernel.
func (w *Waiting) KernelID() string { return w.config.KernelID }

// ClusterID names the cluster.
func (w *Waiting) ClusterID() string { return w.config.ClusterID }

// Members refuses.
func (w *Waiting) Members(context.Context) (Members, error) {
	return Members{}, &consensus.Refusal{Code: consensus.NotReady, Detail: errNotStarted.Error()}
}

// ChangeMember refuses.
func (w *Waiting) ChangeMember(context.Context, MemberChange) (MemberChanged, error) {
	return MemberChanged{}, &consensus.Refusal{Code: consensus.NotReady, Detail: errNotStarted.Error()}
}

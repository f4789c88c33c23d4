package solo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Node is one replica. It offers what *cluster.Node offers.
type Node struct {
	group  *Group
	at     int
	dir    string
	kernel *kernel.Kernel
	store  *segment.Store
	peer   cluster.Peer

	// Answer, when set, is asked before a command is proposed; what it returns
	// is the answer instead. Set it before the node is used.
	Answer func(event.Event) *cluster.Answer
	// Unhealthy, when set, is why.
	Unhealthy atomic.Pointer[string]
	// Scheduled, when set, is how its backups by the clock stand.
	Scheduled atomic.Pointer[backups.Status]

	// State is its lifecycle, Running, and journal is where that is kept.
	State   *nodestate.Registry
	journal *nodejournal.Journal

	applied uint64 // guarded by the group's lock, as held and kernel are
	held    bool

	mu    sync.Mutex // guards what follows
	root  *state.State
	moved chan struct{} // closed when root changes
}

// Listens tells the group where the node's API is.
func (n *Node) Listens(api string) {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	n.peer.API = api
}

// Hold keeps the replica from applying until Release.
func (n *Node) Hold() {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	n.held = true
}

// Release lets it catch up.
func (n *Node) Release() {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	n.held = false
	n.catchUp()
}

// LogDir is where the replica's log is.
func (n *Node) LogDir() string { return n.dir }

// Forget makes the replica one that started from a snapshot: an event passes
// that its log never sees, so its history begins after that.
func (n *Node) Forget() error {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	e := event.Event{Kind: event.Pulse, Principal: "node:" + n.peer.ID, Wall: n.group.wall()}
	n.group.log = append(n.group.log, entry{index: uint64(len(n.group.log)) + 1, term: n.group.term, event: e})
	for _, other := range n.group.Nodes {
		if other != n {
			other.catchUp()
		}
	}
	last := &n.group.log[len(n.group.log)-1]
	n.kernel.Apply(last.index, last.term, &last.event)
	n.applied++
	if err := n.store.Reset(*n.kernel.Log()); err != nil {
		return err
	}
	n.publish()
	return nil
}

// catchUp applies what the replica lacks. Called with the group's lock held.
func (n *Node) catchUp() (last event.Outcome) {
	if n.held {
		return last
	}
	for ; n.applied < uint64(len(n.group.log)); n.applied++ {
		e := n.group.log[n.applied]
		applied := n.kernel.Apply(e.index, e.term, &e.event)
		if err := n.store.Append(applied.Block, applied.Log); err != nil {
			panic(err)
		}
		last = applied.Outcome
	}
	n.store.Publish()
	n.publish()
	return last
}

func (n *Node) publish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.root = n.kernel.Publish()
	close(n.moved)
	n.moved = make(chan struct{})
}

func (n *Node) published() *state.State {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.root
}

// Propose commits one event, if this node leads.
func (n *Node) Propose(ctx context.Context, e event.Event) cluster.Answer {
	if n.Answer != nil {
		if a := n.Answer(e); a != nil {
			return *a
		}
	}
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeTimeout, Detail: "the time was over"}
	case n.group.leader < 0:
		return cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNoLeader, Detail: "an election is going on"}
	case n.group.leader != n.at:
		return cluster.Answer{
			Verdict: cluster.Refused, Code: cluster.CodeNotLeader, Detail: "this node does not lead",
			Leader: n.group.Nodes[n.group.leader].peer,
		}
	}
	outcome := n.group.commit(e, n)
	if outcome.Stored != 0 {
		outcome = n.recall(outcome)
	}
	return cluster.Answer{Verdict: cluster.Applied, Outcome: outcome}
}

func (n *Node) recall(o event.Outcome) event.Outcome {
	block, err := n.store.BlockAt(o.Stored - 1)
	if err != nil {
		panic(err)
	}
	for records := block.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.Outcome {
			continue
		}
		if first, ok := event.DecodeOutcome(records.Record.Body); ok {
			first.Repeated = true
			return *first
		}
	}
	panic("solo: the block has no outcome")
}

// ProposeAll commits events in order.
func (n *Node) ProposeAll(ctx context.Context, batch []event.Event) []cluster.Answer {
	answers := make([]cluster.Answer, len(batch))
	for i := range batch {
		answers[i] = n.Propose(ctx, batch[i])
	}
	return answers
}

// Read waits until the replica is as far as c asks.
func (n *Node) Read(ctx context.Context, c cluster.Consistency) (cluster.View, error) {
	n.group.mu.Lock()
	index, held := uint64(len(n.group.log)), n.held
	n.group.mu.Unlock()
	var lag time.Duration
	if held {
		lag = time.Hour
	}
	want := c.MinIndex
	if c.Level == cluster.Linearizable {
		want = max(want, index)
	}
	if c.Level == cluster.Stale && c.MaxLag > 0 && lag > c.MaxLag {
		return cluster.View{}, n.behind("this node is further behind than was asked for")
	}
	for {
		n.mu.Lock()
		root, moved := n.root, n.moved
		n.mu.Unlock()
		if root.Index >= want {
			return cluster.View{State: root, Node: n.peer.ID, Lag: lag}, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return cluster.View{}, n.behind("this node has not applied the index that was asked for")
		}
	}
}

// Known is the replica's state.
func (n *Node) Known() (s *state.State, current bool) { return n.published(), true }

func (n *Node) behind(detail string) *cluster.ReadError {
	n.mu.Lock()
	defer n.mu.Unlock()
	return &cluster.ReadError{Code: cluster.CodeNotCaughtUp, Detail: detail, Applied: n.root.Index}
}

// Backup writes one of the state and the log up to it.
func (n *Node) Backup(ctx context.Context, s *state.State, to io.Writer) (backup.Summary, error) {
	return backup.Write(ctx, to, backup.Source{State: s, Log: n.store, Node: n.peer.ID, Binary: "test", MadeAt: time.Now()})
}

// Backups is what Scheduled says: a replica makes none by itself.
func (n *Node) Backups() *backups.Status { return n.Scheduled.Load() }

// Lifecycle tells where the replica stands.
func (n *Node) Lifecycle() nodestate.Snapshot { return n.State.Snapshot() }

// Lending refuses: a replica runs no calls.
func (n *Node) Lending() *cluster.Lending {
	return cluster.RefuseWorkers(cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNoLeader, Detail: "a solo node runs no calls, and lends none"})
}

// UnderWay of a replica is nothing: it does everything at once.
func (n *Node) UnderWay() cluster.UnderWay { return cluster.UnderWay{} }

// Order makes a transition; a restart is Shutdown, and nothing more. The leader
// hands over to nobody.
func (n *Node) Order(_ context.Context, o cluster.Order) (cluster.Ordered, error) {
	refusal := n.State.Try(o.Trigger)
	if !o.DryRun {
		refusal = n.State.Transition(o.Trigger, nodestate.Cause{By: "operator", Text: o.Reason, Principal: o.Principal, BusSeq: o.BusSeq})
	}
	if refusal != nil {
		return cluster.Ordered{}, refusal
	}
	return cluster.Ordered{State: n.State.State()}, nil
}

// Record has the leader commit an order.
func (n *Node) Record(ctx context.Context, by string, o event.Order) cluster.Answer {
	at := n
	if leader, known := n.Leader(); known && leader.ID != n.peer.ID {
		for _, other := range n.group.Nodes {
			if other.peer.ID == leader.ID {
				at = other
			}
		}
	}
	return at.Propose(ctx, event.Event{Kind: event.OperatorOrder, Principal: by, Body: event.Encode(o)})
}

// Journal is what is on record of that.
func (n *Node) Journal(after uint64, limit int) (nodejournal.Found, error) {
	return n.journal.Tail(after, limit)
}

// Log is the replica's execution log.
func (n *Node) Log() *segment.Store { return n.store }

// MintSession makes a session id.
func (n *Node) MintSession() (id [16]byte) {
	n.group.mu.Lock()
	now := n.group.wall()
	n.group.mu.Unlock()
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now)<<16)
	copy(id[:6], ms[:])
	_, _ = rand.Read(id[6:]) // never fails
	return id
}

// Status tells of all replicas, or of this one alone.
func (n *Node) Status(_ context.Context, alone bool) cluster.Status {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	status := cluster.Status{ClusterID: ClusterID, KernelID: "default", Term: n.group.term}
	for i, other := range n.group.Nodes {
		role := cluster.RoleFollower
		if i == n.group.leader {
			role, status.Leader = cluster.RoleLeader, other.peer.ID
		}
		if alone && other != n {
			continue
		}
		log := other.kernel.Log()
		status.Nodes = append(status.Nodes, cluster.NodeStatus{
			ID: other.peer.ID, API: other.peer.API, Role: role, Term: n.group.term,
			AppliedIndex: other.applied, CommitIndex: uint64(len(n.group.log)), BusSeq: log.NextSeq - 1,
			Digest: hex.EncodeToString(log.Chain[:]), Agents: other.published().Agents.Len(), Healthy: true, Version: "test",
			HistoryFrom: other.store.Status().FirstSeq, Stopped: cluster.StopOf(other.published()),
		})
		if other.applied == uint64(len(n.group.log)) {
			status.Stopped = cluster.StopOf(other.published())
		}
	}
	return status
}

// Members are the group's nodes, which all vote.
func (n *Node) Members(ctx context.Context) (cluster.Members, error) {
	status := n.Status(ctx, false)
	out := cluster.Members{ClusterID: status.ClusterID, KernelID: status.KernelID, Leader: status.Leader}
	for _, s := range status.Nodes {
		out.Voters++
		out.Answering++
		out.Members = append(out.Members, cluster.MemberStatus{
			Peer: cluster.Peer{ID: s.ID, Raft: s.Raft, API: s.API}, Role: s.Role, Voter: true, Healthy: s.Healthy, Reason: s.Reason, Version: s.Version,
		})
	}
	return out, nil
}

// ChangeMember refuses: the group is what it is.
func (n *Node) ChangeMember(_ context.Context, c cluster.MemberChange) (cluster.MemberChanged, error) {
	if leader, known := n.Leader(); !known || leader.ID != n.peer.ID {
		return cluster.MemberChanged{}, &consensus.Refusal{Code: consensus.NotLeader, Detail: leader.ID + " leads"}
	}
	for i := range n.group.Nodes {
		if n.group.Nodes[i].peer.ID == c.ID {
			return cluster.MemberChanged{Voters: len(n.group.Nodes)}, nil
		}
	}
	return cluster.MemberChanged{}, &cluster.MemberRefusal{Code: cluster.CodeUnknownMember, Field: "node", Rule: "is no member's", Hint: "see omni cluster list"}
}

// Transfer makes another node the leader: the named one, or the next.
func (n *Node) Transfer(_ context.Context, to string) error {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	if n.group.leader != n.at {
		return &consensus.Refusal{Code: consensus.NotLeader, Detail: "this node does not lead"}
	}
	for i, other := range n.group.Nodes {
		if other.peer.ID == to || (to == "" && i != n.at) {
			n.group.leader = i
			n.group.term++
			return nil
		}
	}
	return &consensus.Refusal{Code: consensus.Unreachable, Detail: to + " is no other voter"}
}

// ID of the node.
func (n *Node) ID() string { return n.peer.ID }

// KernelID of the group.
func (n *Node) KernelID() string { return "default" }

// ClusterID of the group.
func (n *Node) ClusterID() string { return ClusterID }

// Leader is who leads.
func (n *Node) Leader() (cluster.Peer, bool) {
	n.group.mu.Lock()
	defer n.group.mu.Unlock()
	if n.group.leader < 0 {
		return cluster.Peer{}, false
	}
	return n.group.Nodes[n.group.leader].peer, true
}

// Healthy is Unhealthy's reason.
func (n *Node) Healthy() error {
	if why := n.Unhealthy.Load(); why != nil {
		return &cluster.ReadError{Code: cluster.CodeDiverged, Detail: *why}
	}
	return nil
}

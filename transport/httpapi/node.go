package httpapi

import (
	"context"
	"io"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Node is what the API needs of the node it stands before; *cluster.Node
// offers it.
type Node interface {
	// Propose asks the cluster for one command and waits for its outcome.
	// Kind, Principal, Session or IdempotencyKey, and Body are the caller's.
	Propose(ctx context.Context, e event.Event) cluster.Answer
	// ProposeAll proposes in order, each event as its own entry.
	ProposeAll(ctx context.Context, batch []event.Event) []cluster.Answer
	// Read gives an immutable state that satisfies c; the error is a
	// *cluster.ReadError.
	Read(ctx context.Context, c cluster.Consistency) (cluster.View, error)
	// Backup writes a backup of a state that Read gave, and of the log up to it.
	Backup(ctx context.Context, s *state.State, to io.Writer) (backup.Summary, error)
	// Backups tells of those that the node makes by itself; nil for none.
	Backups() *backups.Status
	// Lending answers workers (TO-15).
	Lending() *cluster.Lending
	// Log is the node's execution log.
	Log() *segment.Store
	// MintSession makes a session id, without a log entry.
	MintSession() [16]byte
	// Status asks the other nodes too, unless this one is asked alone.
	Status(ctx context.Context, alone bool) cluster.Status
	// Transfer hands leadership over; to empty is the best follower. The error
	// is a *consensus.Refusal where a code says more than a sentence.
	Transfer(ctx context.Context, to string) error
	// Members are the cluster's, and how they are; the error is a *consensus.Refusal.
	Members(ctx context.Context) (cluster.Members, error)
	// ChangeMember changes one; the error is a *cluster.MemberRefusal or a
	// *consensus.Refusal.
	ChangeMember(ctx context.Context, c cluster.MemberChange) (cluster.MemberChanged, error)
	// Lifecycle tells where the node stands.
	Lifecycle() nodestate.Snapshot
	// UnderWay counts what it has begun and not ended.
	UnderWay() cluster.UnderWay
	// Record has an operator's order committed, before it is carried out (AU-10).
	Record(ctx context.Context, by string, o event.Order) cluster.Answer
	// Order changes where it stands; the error is a *nodestate.Refusal or a
	// *consensus.Refusal where nothing has changed.
	Order(ctx context.Context, o cluster.Order) (cluster.Ordered, error)
	// Journal is what is on record of that, after a seq: the newest entries, when
	// there are more than limit.
	Journal(after uint64, limit int) (nodejournal.Found, error)

	// Known is the state as this node has it now, nil for none, and whether it has once
	// been as new as the cluster's since the node started.
	Known() (s *state.State, current bool)

	ID() string
	KernelID() string
	ClusterID() string
	Leader() (cluster.Peer, bool)
	// Healthy is nil while the node can do its part.
	Healthy() error
}

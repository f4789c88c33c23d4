package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Held is a node in safe mode (EV-14): it says what holds it, and does nothing
// else. Raft is not started, so that it applies nothing, votes for nobody and
// leads nothing; its peers see it as a node that is down and tells why. It has
// no kernel, so that no read can be answered: what it could answer with would
// be as old as its last snapshot.
type Held struct {
	config  Config
	self    Peer
	started time.Time
	cause   SafeMode
	term    uint64 // as stored
	store   *raftstore.Store
	log     *segment.Store
}

// Hold keeps a node in safe mode, after Open has refused to start it with a
// *fsm.SafeModeError. It takes the data directory as Open does, and changes
// nothing in it.
func Hold(c Config, cause *fsm.SafeModeError) (*Held, error) {
	n, err := prepare(c)
	if err != nil {
		return nil, err
	}
	h := &Held{config: n.config, self: n.self, started: n.started, cause: SafeMode{
		Index: cause.Index, Digest: cause.Digest, Crashes: fsm.MaxCrashes, Hint: cause.Hint(),
	}}
	if err := h.open(n); err != nil {
		return nil, errors.Join(err, h.close())
	}
	if refusal := h.config.State.Transition(nodestate.Fatal, nodestate.Cause{By: "node", Text: h.cause.Error()}); refusal != nil {
		return nil, errors.Join(refusal, h.close())
	}
	return h, nil
}

func (h *Held) open(n *Node) (err error) {
	// What peers send to Raft is hung up on instead of waiting to be taken.
	if err := h.config.Stream.Close(); err != nil {
		return fmt.Errorf("cluster: raft streams: %w", err)
	}
	if h.store, err = n.openStore(); err != nil {
		return err
	}
	if h.log, err = n.openLog(); err != nil {
		return err
	}
	h.cause.Kind = kindAt(h.store.Logs(), h.cause.Index)
	h.term, err = h.store.Stable().GetUint64([]byte("CurrentTerm"))
	if err != nil {
		return fmt.Errorf("cluster: raft store: %w", err)
	}
	return nil
}

// kindAt is what the entry asks for; empty when the log does not have it any
// more.
func kindAt(log raft.LogStore, index uint64) string {
	var entry raft.Log
	if log.GetLog(index, &entry) != nil {
		return ""
	}
	e, err := event.Decode(entry.Data)
	if err != nil {
		return ""
	}
	return e.Kind.String()
}

// Stop gives the data directory back.
func (h *Held) Stop(ctx context.Context) error {
	return h.StopBecause(ctx, nodestate.Cause{By: "node", Text: "the node is stopped"})
}

// StopBecause is Stop for a reason.
func (h *Held) StopBecause(_ context.Context, why nodestate.Cause) error {
	return errors.Join(terminate(h.config.State, why), h.close())
}

func (h *Held) close() error {
	var errs []error
	if h.log != nil {
		errs = append(errs, h.log.Close())
	}
	if h.store != nil {
		errs = append(errs, h.store.Close())
	}
	return errors.Join(errs...)
}

// Healthy is the *SafeMode that holds the node.
func (h *Held) Healthy() error { return &h.cause }

// refusal is what everybody is told who asks for anything but the status.
func (h *Held) refusal() string {
	return h.cause.sentence() + ": ask another node; the cluster's status says what to do about this one"
}

// Propose refuses: it did not happen and will not.
func (h *Held) Propose(context.Context, event.Event) Answer {
	return Answer{Verdict: Refused, Code: CodeSafeMode, Detail: h.refusal()}
}

// ProposeAll refuses every one.
func (h *Held) ProposeAll(ctx context.Context, batch []event.Event) []Answer {
	answers := make([]Answer, len(batch))
	for i := range answers {
		answers[i] = h.Propose(ctx, batch[i])
	}
	return answers
}

// Read refuses, at every level (CL-4).
func (h *Held) Read(context.Context, Consistency) (View, error) {
	return View{}, &ReadError{Code: CodeSafeMode, Detail: h.refusal()}
}

// Known is no state.
func (h *Held) Known() (s *state.State, current bool) { return nil, false }

// Backup refuses: there is no state.
func (h *Held) Backup(context.Context, *state.State, io.Writer) (backup.Summary, error) {
	return backup.Summary{}, &h.cause
}

// Backups is nil: none are made.
func (h *Held) Backups() *backups.Status { return nil }

// Transfer refuses.
func (h *Held) Transfer(context.Context, string) error {
	return &consensus.Refusal{Code: CodeSafeMode, Detail: h.refusal()}
}

// Leader is not known: nobody tells a node that takes no part.
func (h *Held) Leader() (Peer, bool) { return Peer{}, false }

// MintSession makes a session id by this node's clock: it will be opened
// elsewhere, or not at all.
func (h *Held) MintSession() [16]byte { return mintSession(h.config.Wall().UnixMilli()) }

// Status asks every other node for its account of itself. Who leads is what
// the others say; alone, nobody is asked.
func (h *Held) Status(ctx context.Context, alone bool) Status {
	out := gatherStatus(ctx, &h.config, h.config.known(), h.ownStatus, alone)
	var newest uint64
	for _, n := range out.Nodes {
		if n.Role == RoleLeader && n.Term > newest {
			out.Leader, newest = n.ID, n.Term
		}
	}
	return out
}

func (h *Held) ownStatus() NodeStatus {
	cause := h.cause
	return NodeStatus{
		ID: h.self.ID, API: h.self.API, Raft: h.self.Raft, Role: RoleSafeMode, Term: h.term,
		Reason: cause.Error(), SafeMode: &cause, State: h.config.State.State(),
		UptimeMillis: time.Since(h.started).Milliseconds(), Version: h.config.Version,
		KnowsVersion: h.config.maxVersion(),
	}
}

// HandlePeer tells another node this one's status, and refuses whatever else it
// asks: no term, no clock and no chain value for a majority to count.
func (h *Held) HandlePeer(_ context.Context, _ string, kind byte, _ []byte) ([]byte, error) {
	if kind == peerStatus {
		return json.Marshal(h.ownStatus())
	}
	return nil, &h.cause
}

// Log is opened and not resumed: nothing can be read from it.
func (h *Held) Log() *segment.Store { return h.log }

// ID names the node.
func (h *Held) ID() string { return h.config.NodeID }

// KernelID names the kernel.
func (h *Held) KernelID() string { return h.config.KernelID }

// ClusterID names the cluster.
func (h *Held) ClusterID() string { return h.config.ClusterID }

// Members refuses: this node takes no part, and knows only who there was.
func (h *Held) Members(context.Context) (Members, error) {
	return Members{}, &consensus.Refusal{Code: CodeSafeMode, Detail: h.refusal()}
}

// ChangeMember refuses.
func (h *Held) ChangeMember(context.Context, MemberChange) (MemberChanged, error) {
	return MemberChanged{}, &consensus.Refusal{Code: CodeSafeMode, Detail: h.refusal()}
}

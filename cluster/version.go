package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
)

const (
	versionEvery = time.Second // between two rounds of asking what every node knows
	firstWait    = 300 * time.Millisecond
)

// maxVersion is the newest kernel version that the node may be taken to.
func (c *Config) maxVersion() uint32 {
	if c.MaxKernelVersion == 0 {
		return config.Version
	}
	return min(c.MaxKernelVersion, config.Version)
}

// knows is what the node tells the others: a cluster that is further already is not
// held back.
func (n *Node) knows() uint32 { return max(n.config.maxVersion(), n.fsm.State().Version()) }

// needs is told by the FSM before the state comes to a version that older binaries
// must not meet.
func (n *Node) needs(version uint32) error { return datadir.Need(n.config.DataDir, version) }

// keepVersion takes the cluster to the next kernel version once every member, learners
// too, has said just now that it knows it (EV-9).
func (n *Node) keepVersion(ctx context.Context) {
	told := ""
	for ctx.Err() == nil {
		s := n.fsm.State()
		next := s.Version() + 1
		if s.Config != nil && next <= n.knows() {
			behind := n.behindVersion(ctx, next)
			switch waits := strings.Join(behind, ", "); {
			case len(behind) == 0:
				n.raise(ctx, next)
			case waits != told && ctx.Err() == nil:
				told = waits
				n.logger.Info("the kernel version stays what it is until every node knows the next one", "version", s.Version(), "next", next, "waits for", waits)
			}
		}
		pause(ctx, versionEvery)
	}
}

// raise proposes the next version, if nobody joined meanwhile who does not know it.
// Whatever becomes of it is seen in the state.
func (n *Node) raise(ctx context.Context, next uint32) {
	n.changing.Lock() // nobody is added from here on
	defer n.changing.Unlock()
	if len(n.behindVersion(ctx, next)) > 0 {
		return
	}
	limits := n.config.Limits.At(next)
	answer := n.Propose(ctx, event.Event{
		Kind: event.KernelUpgraded, Principal: "node:" + n.config.NodeID,
		Body: event.Encode(event.Upgraded{Version: next, LogWarnBytes: limits.LogWarnBytes, LogErrorBytes: limits.LogErrorBytes}),
	})
	if answer.Verdict == Applied && answer.Outcome.Done() {
		n.logger.Info("every node knows it: the kernel version rises", "version", next)
	}
}

// behindVersion names the members that do not know a version, or do not say.
func (n *Node) behindVersion(ctx context.Context, version uint32) (behind []string) {
	members := n.group.Members()
	known := n.askVersions(ctx, members)
	for i, m := range members {
		switch {
		case known[i] == 0:
			behind = append(behind, m.ID+" (does not answer)")
		case known[i] < version:
			behind = append(behind, fmt.Sprintf("%s (knows %d)", m.ID, known[i]))
		}
	}
	return behind
}

// askVersions asks members what they know; 0 for one that does not answer.
func (n *Node) askVersions(ctx context.Context, members []consensus.Member) []uint32 {
	known := make([]uint32, len(members))
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	asked, ctx := supervise.NewGroup(ctx)
	for i, m := range members {
		asked.Go(func() { known[i] = n.versionOf(ctx, m.ID, m.Address) })
	}
	asked.Wait()
	return known
}

// versionOf asks one node; 0 when it does not answer. A binary that says nothing of
// versions knows the first.
func (n *Node) versionOf(ctx context.Context, id, address string) uint32 {
	if id == n.config.NodeID {
		return n.knows()
	}
	status := statusOf(ctx, n.config.Calls, Peer{ID: id, Raft: address})
	if status.Role == RoleDown || status.ID != id {
		return 0
	}
	return max(status.KnowsVersion, 1)
}

// firstVersion is that of a new cluster: the newest that every node knows which
// answers soon. One that is not there yet is taken for as new as this one.
func (n *Node) firstVersion(ctx context.Context) uint32 {
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	version := min(max(n.config.Limits.Version, 1), n.config.maxVersion())
	for _, known := range n.askVersions(ctx, n.group.Members()) {
		if known != 0 {
			version = min(version, known)
		}
	}
	return version
}

// CheckJoins refuses a node that is to become a member and whose binary does not know
// the kernel version that the cluster is at: it would stop at the first entry (EV-9).
func (n *Node) CheckJoins(ctx context.Context, id, address string) error {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	at := n.fsm.State().Version()
	switch known := n.versionOf(ctx, id, address); {
	case known == 0:
		return &consensus.Refusal{Code: consensus.Unreachable, Detail: id + " does not answer at " + address + ": start it first"}
	case known < at:
		return &consensus.Refusal{Code: CodeVersionTooLow, Detail: fmt.Sprintf(
			"%s knows kernel version %d, and the cluster is at %d: start it with a binary as new as the other nodes'", id, known, at)}
	}
	return nil
}

// tooEarly answers a command that came with a later kernel version than the one that
// the cluster is at: an older node would stop at it (EV-9).
func tooEarly(kind event.Kind, at uint32) Answer {
	return Answer{Verdict: Refused, Code: CodeVersionTooLow, Detail: fmt.Sprintf(
		"%s came with kernel version %d, and the cluster is at %d: upgrade the nodes that omni cluster status shows as older", kind, kind.Since(), at)}
}

package cluster

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
)

// Codes of changes of the members that are refused.
const (
	CodeUnknownMember = "UNKNOWN_MEMBER"
	CodeMemberExists  = "MEMBER_EXISTS"
	CodeAddressInUse  = "ADDRESS_IN_USE"
	CodeIDUsed        = "ID_USED"
	CodeLastVoter     = "LAST_VOTER"
	CodeMajority      = "MAJORITY_AT_RISK"
	CodeNoAnswer      = "MEMBER_UNREACHABLE"
)

// Changes of the members.
const (
	MemberAdd     = "add"
	MemberRemove  = "remove"
	MemberPromote = "promote"
	MemberDemote  = "demote"
)

// MemberChange is what somebody wants of the members.
type MemberChange struct {
	Change  string
	ID      string
	Raft    string // of MemberAdd: its Raft address
	API     string // of MemberAdd: where its API is, unless it says so itself
	Learner bool   // of MemberAdd: it stays a learner
	Force   bool   // of MemberRemove and MemberDemote: even if a majority may be lost
	DryRun  bool   // only whether it is refused, as far as can be told without doing it
}

// MemberChanged is what came of it.
type MemberChanged struct {
	Changed bool // false: it was so before
	Voters  int
}

// MemberRefusal says why the members stay as they are.
type MemberRefusal struct{ Code, Field, Rule, Hint string }

// Error implements error.
func (r *MemberRefusal) Error() string { return r.Code + ": " + r.Field + " " + r.Rule }

// Members are the members as a node sees them.
type Members struct {
	ClusterID, KernelID string
	Leader              string
	Voters, Answering   int // Answering are voters
	Members             []MemberStatus
}

// MemberStatus is one member.
type MemberStatus struct {
	Peer
	Role    Role
	Voter   bool
	Learner bool   // it stays one until somebody promotes it
	Behind  uint64 // events that it has not applied, and another has
	Missing uint64 // bytes of history that it has not fetched
	Healthy bool
	Reason  string // why not healthy; or why it is no voter yet
	Version string
}

// Members asks all of them how they are.
func (n *Node) Members(ctx context.Context) (Members, error) {
	roster := n.group.Members()
	status := n.Status(ctx, false)
	out := Members{ClusterID: status.ClusterID, KernelID: status.KernelID, Leader: status.Leader}
	var newest uint64
	for i := range status.Nodes {
		newest = max(newest, status.Nodes[i].AppliedIndex)
	}
	for i := range status.Nodes {
		s := &status.Nodes[i]
		at := slices.IndexFunc(roster, func(one consensus.Member) bool { return one.ID == s.ID })
		if at < 0 {
			continue // this node, on its way in or out
		}
		m := MemberStatus{
			Peer: Peer{ID: s.ID, Raft: s.Raft, API: s.API}, Role: s.Role, Healthy: s.Healthy, Reason: s.Reason, Version: s.Version,
		}
		if s.Role != RoleDown && s.Role != RoleSafeMode {
			m.Behind = newest - s.AppliedIndex
		}
		if s.Backfill != nil {
			m.Missing = s.Backfill.MissingBytes
		}
		m.Voter = roster[at].Voter
		m.Learner = !m.Voter && n.staysLearner(s.ID)
		if why, refused := n.refused.Load(s.ID); refused && m.Reason == "" && !m.Voter && !m.Learner {
			m.Reason = why.(string)
		}
		if m.Voter {
			out.Voters++
			if s.Role != RoleDown {
				out.Answering++
			}
		}
		out.Members = append(out.Members, m)
	}
	return out, nil
}

func (n *Node) staysLearner(id string) bool {
	if id == n.config.NodeID {
		return n.itself().Learner
	}
	told, known := n.toldBy(id)
	return known && told.Learner
}

// ChangeMember changes one member; only the leader can. The error is a
// *MemberRefusal or a *consensus.Refusal, of which Timeout, Shutdown and
// LeadershipLost leave it open.
func (n *Node) ChangeMember(ctx context.Context, c MemberChange) (MemberChanged, error) {
	if !n.leading() {
		return MemberChanged{}, n.redirect()
	}
	n.changing.Lock()
	defer n.changing.Unlock()
	return n.changeMember(ctx, c)
}

// changeMember is one change at a time.
func (n *Node) changeMember(ctx context.Context, c MemberChange) (MemberChanged, error) {
	var changed bool
	var err error
	switch c.Change {
	case MemberAdd:
		changed, err = n.addMember(ctx, c)
	case MemberRemove:
		changed, err = n.removeMember(ctx, c)
	case MemberPromote:
		changed, err = n.promoteMember(ctx, c)
	case MemberDemote:
		changed, err = n.demoteMember(ctx, c)
	}
	if err != nil {
		return MemberChanged{}, err
	}
	if changed && !c.DryRun {
		n.logger.Info("the members were changed", "change", c.Change, "node", c.ID, "voters", len(n.voters()))
	}
	return MemberChanged{Changed: changed, Voters: len(n.voters())}, nil
}

func (n *Node) redirect() error {
	if leader, known := n.Leader(); known && leader.ID != n.config.NodeID {
		return &consensus.Refusal{Code: consensus.NotLeader, Detail: leader.ID + " leads"}
	}
	return &consensus.Refusal{Code: consensus.NoLeader, Detail: "nobody is known to lead"}
}

// addMember takes a node in that waits for it, as a learner.
func (n *Node) addMember(ctx context.Context, c MemberChange) (bool, error) {
	if r := checkMember(c); r != nil {
		return false, r
	}
	for _, m := range n.group.Members() {
		switch {
		case m.ID == c.ID && m.Address == c.Raft:
			return false, nil
		case m.ID == c.ID:
			return false, &MemberRefusal{CodeMemberExists, "id", fmt.Sprintf("is a member's, at %s", m.Address), "give the new node another id, or remove that one first: omni cluster remove " + c.ID}
		case m.Address == c.Raft:
			return false, &MemberRefusal{CodeAddressInUse, "raft", fmt.Sprintf("is the address of %s", m.ID), "give the new node another --raft-addr, or remove that one first: omni cluster remove " + m.ID}
		}
	}
	told, err := n.meet(ctx, c)
	if err != nil {
		return false, err
	}
	if err := n.CheckJoins(ctx, c.ID, c.Raft); err != nil {
		return false, err
	}
	if c.DryRun {
		return true, nil
	}
	if err := n.wanted(ctx, &told, c); err != nil {
		return false, err
	}
	if err := n.group.AddLearner(ctx, c.ID, c.Raft); err != nil {
		return false, err
	}
	n.note(told)
	return true, nil
}

func checkMember(c MemberChange) *MemberRefusal {
	if c.ID == "" || len(c.ID) > 64 {
		return &MemberRefusal{"INVALID_ARGUMENT", "id", "must be 1 to 64 bytes", "such as n4"}
	}
	host, port, err := net.SplitHostPort(c.Raft)
	if ip := net.ParseIP(host); err != nil || host == "" || port == "" || port == "0" || ip != nil && ip.IsUnspecified() {
		return &MemberRefusal{"INVALID_ARGUMENT", "raft", "must be the host:port at which the other nodes reach it", "such as 10.0.0.4:7800"}
	}
	return nil
}

// meet asks the node that is to be added whether it is the one, and empty: an address
// that nobody answers at, once it counts, holds up every majority.
func (n *Node) meet(ctx context.Context, c MemberChange) (memberTold, error) {
	asking, cancel := context.WithTimeout(ctx, meetWait)
	defer cancel()
	told, err := n.askMember(asking, c.Raft)
	switch {
	case err != nil:
		return told, &MemberRefusal{CodeNoAnswer, "raft", "nobody of this cluster answers there: " + err.Error(), "start the node first: omni cluster join does both"}
	case told.ID != c.ID:
		return told, &MemberRefusal{"INVALID_ARGUMENT", "id", fmt.Sprintf("is not that of the node at %s: that is %s", c.Raft, told.ID), ""}
	case !told.Fresh:
		return told, &MemberRefusal{CodeIDUsed, "id", "is of a node that is not empty: it was a member before, or has begun a cluster of its own", "start it with an empty data directory, under a new id, by omni cluster join"}
	}
	told.Raft = c.Raft
	if told.API == "" {
		told.API = c.API
	}
	return told, nil
}

// wanted has a node that is to be added keep whether it stays a learner.
func (n *Node) wanted(ctx context.Context, told *memberTold, c MemberChange) error {
	if told.Learner == c.Learner || told.older {
		return nil
	}
	told.Learner = c.Learner
	if err := n.wish(ctx, c.Raft, c.Learner); err != nil {
		return &MemberRefusal{CodeNoAnswer, "raft", "it does not keep what it is to be: " + err.Error(), ""}
	}
	return nil
}

const meetWait = 5 * time.Second

// wish has a learner keep whether it stays one. It is kept there since whoever leads
// next must know: Raft's configuration only says what votes.
func (n *Node) wish(ctx context.Context, address string, learner bool) error {
	body := []byte{0}
	if learner {
		body[0] = 1
	}
	ctx, cancel := context.WithTimeout(ctx, meetWait)
	defer cancel()
	_, err := n.config.Calls.Call(ctx, address, peerWish, body)
	return err
}

func (n *Node) find(id string) (consensus.Member, error) {
	members := n.group.Members()
	var ids string
	for _, m := range members {
		if m.ID == id {
			return m, nil
		}
		ids += ", " + m.ID
	}
	return consensus.Member{}, &MemberRefusal{CodeUnknownMember, "node", "is no member's", "the members are: " + ids[2:]}
}

// promoteMember makes a learner a voter that has all it needs; otherwise it becomes
// one by itself when it has.
func (n *Node) promoteMember(ctx context.Context, c MemberChange) (bool, error) {
	id := c.ID
	m, err := n.find(id)
	if err != nil || m.Voter || c.DryRun {
		return err == nil && !m.Voter, err
	}
	if told, known := n.toldBy(id); !known || told.Learner && !told.older {
		if err := n.wish(ctx, m.Address, false); err != nil {
			return false, &MemberRefusal{CodeNoAnswer, "node", "is of a node that does not answer: " + err.Error(), "see omni cluster list"}
		}
		told.ID, told.Raft, told.Learner = id, m.Address, false
		n.note(told)
	}
	return true, n.group.Promote(ctx, id)
}

func (n *Node) demoteMember(ctx context.Context, c MemberChange) (bool, error) {
	m, err := n.find(c.ID)
	if err != nil || !m.Voter {
		return false, err
	}
	if err := n.maySpare(ctx, c); err != nil || c.DryRun {
		return err == nil, err
	}
	told, known := n.toldBy(c.ID)
	if !known || !told.older {
		if err := n.wish(ctx, m.Address, true); err != nil {
			return false, &MemberRefusal{CodeNoAnswer, "node", "is of a node that does not answer, and would not know that it is to stay a learner: " + err.Error(), "remove it: omni cluster remove " + c.ID}
		}
		told.ID, told.Raft, told.Learner = c.ID, m.Address, true
		n.note(told)
	}
	return true, n.group.Demote(ctx, c.ID)
}

func (n *Node) removeMember(ctx context.Context, c MemberChange) (bool, error) {
	m, err := n.find(c.ID)
	if err != nil {
		return false, err
	}
	if m.Voter {
		if err := n.maySpare(ctx, c); err != nil {
			return false, err
		}
	}
	if c.DryRun {
		return true, nil
	}
	if err := n.group.Remove(ctx, c.ID); err != nil {
		return false, err
	}
	n.refused.Delete(c.ID)
	return true, nil
}

// maySpare tells whether the group goes on without a voter. This node, which leads,
// first hands leadership over: the next leader decides.
func (n *Node) maySpare(ctx context.Context, c MemberChange) error {
	var left []consensus.Member
	for _, m := range n.group.Members() {
		if m.Voter && m.ID != c.ID {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return &MemberRefusal{CodeLastVoter, "node", "is the only voter's: without it there is no cluster", "add another node first: omni cluster join"}
	}
	answering, need := len(n.group.Answering(ctx, left)), len(left)/2+1
	if answering < need && !c.Force {
		return &MemberRefusal{
			CodeMajority, "node", fmt.Sprintf("is of a voter that is needed: of the %d that would be left, %d answer, and %d must", len(left), answering, need),
			"bring the others back, or remove those that are gone for good first (omni cluster list); --force does it anyway, and may leave a cluster that can do nothing",
		}
	}
	if c.ID != n.config.NodeID || c.DryRun {
		return nil
	}
	if err := n.HandOver(ctx); err != nil {
		return err
	}
	return n.redirect()
}

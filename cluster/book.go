package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/supervise"
)

// Kinds of questions about membership. A node of an older version does not know
// them, and says so.
const (
	peerMember  byte = 40 // → memberTold as JSON
	peerBelongs byte = 41 // a node's id → belongs*, of the leader
	peerWish    byte = 42 // 1: stay a learner; 0: vote when you can → the same
)

// Answers to peerBelongs.
const (
	belongsUnknown byte = 0 // it does not lead, or cannot be sure
	belongsMember  byte = 1
	belongsNot     byte = 2 // by a configuration that is committed
)

// memberTold is what a node says of itself as a member.
type memberTold struct {
	ID      string `json:"id"`
	Raft    string `json:"raft"`
	API     string `json:"api"`
	Version string `json:"version"`
	Learner bool   `json:"learner"` // it wants to stay one
	Fresh   bool   `json:"fresh"`   // it waits to be taken in, and was never a member

	older bool // it is of a version that does not know the question
}

// book is who the members are and where: Raft's configuration says who, and each
// says itself where its API is. What the node was started with serves until then, and
// for nodes of a version that cannot say it.
type book struct {
	mu    sync.Mutex // guards what follows
	told  map[string]memberTold
	at    map[string]time.Time // when each was asked last
	kept  datadir.Membership   // as it is on disk
	since uint64               // everything up to here was in the log when the node found itself a member; 0: it has not
}

func (n *Node) openBook() (err error) {
	n.book.told, n.book.at = make(map[string]memberTold), make(map[string]time.Time)
	n.book.kept, err = datadir.ReadMembership(n.config.DataDir)
	if err == nil && !n.book.kept.Member {
		n.book.kept.Learner = n.config.Learner
	}
	return err
}

// peers are the members, this node included, in the order in which they became that.
// Before it knows a configuration they are what it was started with.
func (n *Node) peers() []Peer {
	members := n.group.Members()
	if len(members) == 0 {
		return n.config.Peers
	}
	out := make([]Peer, 0, len(members)+1)
	for _, m := range members {
		out = append(out, n.peerOf(m))
	}
	if !isMember(members, n.config.NodeID) {
		out = append(out, n.self) // it is on its way in, or out
	}
	return out
}

// voters are the members that vote.
func (n *Node) voters() []Peer {
	var out []Peer
	for _, m := range n.group.Members() {
		if m.Voter {
			out = append(out, n.peerOf(m))
		}
	}
	return out
}

func (n *Node) peerOf(m consensus.Member) Peer {
	p := Peer{ID: m.ID, Raft: m.Address}
	n.book.mu.Lock()
	told, known := n.book.told[m.ID]
	kept := n.book.kept.Peers
	n.book.mu.Unlock()
	if known && told.Raft == m.Address {
		p.API = told.API
		return p
	}
	for _, one := range n.config.Peers {
		if one.ID == m.ID {
			p.API = one.API
			return p
		}
	}
	for _, one := range kept {
		if one.ID == m.ID && one.Raft == m.Address {
			p.API = one.API
		}
	}
	return p
}

// peer is a member by its id.
func (n *Node) peer(id string) Peer {
	for _, m := range n.group.Members() {
		if m.ID == id {
			return n.peerOf(m)
		}
	}
	for _, p := range n.config.Peers {
		if p.ID == id {
			return p
		}
	}
	return Peer{ID: id}
}

// toldBy is what a member has said of itself.
func (n *Node) toldBy(id string) (memberTold, bool) {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	told, known := n.book.told[id]
	return told, known
}

func (n *Node) note(told memberTold) {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	n.book.told[told.ID] = told
}

// itself is what this node says of itself.
func (n *Node) itself() memberTold {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	return memberTold{
		ID: n.self.ID, Raft: n.self.Raft, API: n.self.API, Version: n.config.Version,
		Learner: n.book.kept.Learner, Fresh: n.config.Join && !n.book.kept.Member,
	}
}

// askMember asks whoever is at an address what it is. An older node knows only the
// question about its status, which tells enough: it stays what it is until somebody
// says otherwise.
func (n *Node) askMember(ctx context.Context, address string) (told memberTold, err error) {
	answer, err := n.config.Calls.Call(ctx, address, peerMember, nil)
	if err == nil {
		err = json.Unmarshal(answer, &told)
	}
	if err == nil {
		return told, nil
	}
	answer, second := n.config.Calls.Call(ctx, address, peerStatus, nil)
	var status NodeStatus
	if second != nil || json.Unmarshal(answer, &status) != nil {
		return told, fmt.Errorf("cluster: the node at %s does not say what it is: %w", address, err)
	}
	return memberTold{
		ID: status.ID, Raft: status.Raft, API: status.API, Version: status.Version, Learner: true, Fresh: status.AppliedIndex == 0, older: true,
	}, nil
}

const (
	memberLook  = time.Second // how often the node looks at its membership
	joinLook    = 50 * time.Millisecond
	memberAgain = 10 * time.Second // how often a member is asked anew
	memberWait  = time.Second      // for an answer
)

// keepBook asks members where they are, keeps what it knows on disk, and sees
// whether this node is still one of them.
func (n *Node) keepBook(ctx context.Context) {
	told := ""
	for ctx.Err() == nil {
		n.askMembers(ctx)
		if err := n.keepMembership(); err != nil && err.Error() != told {
			told = err.Error()
			n.logger.Error("what is known of the members is not on disk", "error", err)
		}
		if n.endIfOutlived(ctx) {
			return
		}
		if n.mayBeRemoved() && n.isRemoved(ctx) {
			n.leave()
			return
		}
		if n.wasMember() {
			pause(ctx, memberLook)
		} else {
			pause(ctx, joinLook) // it is to know that it became one before it could be removed
		}
	}
}

// wasMember tells whether the node has ever been a member for good. One that was started
// with the first configuration is one of those in it.
func (n *Node) wasMember() bool {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	return n.book.kept.Member || !n.config.Join
}

// askMembers asks those that were not asked for a while, all at once.
func (n *Node) askMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, memberWait)
	defer cancel()
	asked, ctx := supervise.NewGroup(ctx)
	for _, m := range n.group.Members() {
		if m.ID == n.config.NodeID || !n.isDue(m.ID) {
			continue
		}
		asked.Go(func() {
			if told, err := n.askMember(ctx, m.Address); err == nil && told.ID == m.ID {
				told.Raft = m.Address
				n.note(told)
			}
		})
	}
	asked.Wait()
}

// isDue tells whether a member is to be asked, and takes it as asked.
func (n *Node) isDue(id string) bool {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	if at, asked := n.book.at[id]; asked && time.Since(at) < memberAgain {
		return false
	}
	n.book.at[id] = time.Now()
	return true
}

// keepMembership writes what has changed.
func (n *Node) keepMembership() error {
	roster := n.group.Roster()
	if len(roster.Members) == 0 {
		return nil
	}
	var peers []datadir.KnownPeer
	for _, m := range roster.Members {
		p := n.peerOf(m)
		peers = append(peers, datadir.KnownPeer{ID: p.ID, Raft: p.Raft, API: p.API, Voter: m.Voter})
	}
	member := n.isCommitted(roster)
	return n.keep(func(m *datadir.Membership) { m.Peers, m.Member = peers, m.Member || member })
}

// isCommitted tells whether this node is a member for good: a configuration that is not
// committed may be replaced by one without it, and it waits on then.
func (n *Node) isCommitted(roster consensus.Roster) bool {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	switch {
	case !isMember(roster.Members, n.config.NodeID):
		n.book.since = 0
	case n.book.since == 0:
		n.book.since = roster.UpTo
	}
	return n.book.since > 0 && n.group.Committed(n.book.since)
}

// keep changes what is kept of the membership, on disk first.
func (n *Node) keep(change func(*datadir.Membership)) error {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	next := n.book.kept
	change(&next)
	if reflect.DeepEqual(next, n.book.kept) {
		return nil
	}
	if err := datadir.KeepMembership(n.config.DataDir, next); err != nil {
		return err
	}
	n.book.kept = next
	return nil
}

func isMember(members []consensus.Member, id string) bool {
	return slices.ContainsFunc(members, func(m consensus.Member) bool { return m.ID == id })
}

// answerMember answers a question about membership.
func (n *Node) answerMember(ctx context.Context, kind byte, body []byte) ([]byte, error) {
	switch kind {
	case peerMember:
		return json.Marshal(n.itself())
	case peerBelongs:
		return []byte{n.belongs(ctx, string(body))}, nil
	}
	if len(body) != 1 || body[0] > 1 {
		return nil, errUnknownQuestion
	}
	err := n.keep(func(m *datadir.Membership) { m.Learner = body[0] == 1 })
	return body, err
}

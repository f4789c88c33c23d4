package cluster

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"
)

// statusWait bounds how long a peer may take to tell its status.
const statusWait = time.Second

// Status asks every node for its account of itself.
func (n *Node) Status(ctx context.Context) Status {
	out := Status{ClusterID: n.config.ClusterID, KernelID: n.config.KernelID, Nodes: make([]NodeStatus, len(n.config.Peers))}
	if leader, ok := n.Leader(); ok {
		out.Leader = leader.ID
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	var asked sync.WaitGroup
	for i, p := range n.config.Peers {
		asked.Go(func() { out.Nodes[i] = n.statusOf(ctx, p) })
	}
	asked.Wait()
	for i := range out.Nodes {
		out.Term = max(out.Term, out.Nodes[i].Term)
	}
	return out
}

func (n *Node) statusOf(ctx context.Context, p Peer) NodeStatus {
	if p.ID == n.config.NodeID {
		return n.ownStatus()
	}
	silent := NodeStatus{ID: p.ID, API: p.API, Raft: p.Raft, Role: RoleDown, Reason: "the node does not answer"}
	answer, err := n.config.Calls.Call(ctx, p.Raft, peerStatus, nil)
	if err != nil {
		return silent
	}
	var status NodeStatus
	if json.Unmarshal(answer, &status) != nil {
		silent.Reason = "the node's answer does not parse"
		return silent
	}
	return status
}

func (n *Node) ownStatus() NodeStatus {
	raft := n.group.Status()
	s := n.fsm.State()
	status := NodeStatus{
		ID: n.self.ID, API: n.self.API, Raft: n.self.Raft, Term: raft.Term, AppliedIndex: s.Index, CommitIndex: raft.CommitIndex,
		BusSeq: s.Log.NextSeq - 1, Digest: hex.EncodeToString(s.Log.Chain[:]), LagMillis: n.currentLag().Milliseconds(),
		Agents: s.Agents.Len(), UptimeMillis: time.Since(n.started).Milliseconds(), Version: n.config.Version,
	}
	switch raft.State {
	case "Leader":
		status.Role = RoleLeader
	case "Candidate":
		status.Role = RoleCandidate
	default:
		status.Role = RoleFollower
	}
	if err := n.Healthy(); err != nil {
		status.Reason = err.Error()
	} else {
		status.Healthy = true
	}
	return status
}

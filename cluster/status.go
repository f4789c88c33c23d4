package cluster

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/omnikernel/omnikernel/cluster/capacity"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/supervise"
)

// statusWait bounds how long a peer may take to tell its status.
const statusWait = time.Second

// Status asks every node for its account of itself; alone, this one only, which
// costs nothing and waits for nobody.
func (n *Node) Status(ctx context.Context, alone bool) Status {
	out := gatherStatus(ctx, &n.config, n.peers(), n.ownStatus, alone)
	if leader, ok := n.Leader(); ok {
		out.Leader = leader.ID
	}
	out.Near = capacity.NearOf(n.fsm.State())
	return out
}

// gatherStatus asks every one of the peers but this node, which speaks for itself.
func gatherStatus(ctx context.Context, c *Config, peers []Peer, own func() NodeStatus, alone bool) Status {
	if alone {
		self := own()
		return Status{ClusterID: c.ClusterID, KernelID: c.KernelID, Term: self.Term, Nodes: []NodeStatus{self}, Stopped: self.Stopped, KernelVersion: self.KernelVersion}
	}
	out := Status{ClusterID: c.ClusterID, KernelID: c.KernelID, Nodes: make([]NodeStatus, len(peers))}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	asked, ctx := supervise.NewGroup(ctx)
	for i, p := range peers {
		asked.Go(func() {
			if p.ID == c.NodeID {
				out.Nodes[i] = own()
			} else {
				out.Nodes[i] = statusOf(ctx, c.Calls, p)
			}
		})
	}
	asked.Wait()
	var newest uint64
	for i := range out.Nodes {
		told := &out.Nodes[i]
		out.Term = max(out.Term, told.Term)
		if told.AppliedIndex > newest {
			newest, out.Stopped = told.AppliedIndex, told.Stopped
		}
		out.KernelVersion = max(out.KernelVersion, told.KernelVersion)
	}
	return out
}

func statusOf(ctx context.Context, calls consensus.PeerCaller, p Peer) NodeStatus {
	silent := NodeStatus{ID: p.ID, API: p.API, Raft: p.Raft, Role: RoleDown, Reason: "the node does not answer"}
	answer, err := calls.Call(ctx, p.Raft, peerStatus, nil)
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
	status.HistoryFrom, status.Backfill = n.history()
	status.Backups = n.Backups()
	status.Stopped, status.State = StopOf(s), n.state.State()
	status.KernelVersion, status.KnowsVersion = s.Version(), n.knows()
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

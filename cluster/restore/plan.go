package restore

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/config"
)

// Plan of a cluster that is to be made from a backup.
type Plan struct {
	ClusterID string         // of the new cluster
	Peers     []cluster.Peer // all its nodes; the same on every machine
	Store     raftstore.Kind // of their Raft logs; bolt when empty

	// Dir is the data directory of Node; without Node, every peer gets Dir/ID.
	Dir  string
	Node string

	// Finish, when set, is called when everything is on disk and before a node
	// could start: for what else belongs into Dir.
	Finish   func(backup.Header) error
	Progress backup.Progress // may be nil
	Logger   hclog.Logger    // nil is silence
}

// PlanError says what is wrong with a plan. Nothing was done.
type PlanError struct{ Field, Rule string }

// Error implements error.
func (e *PlanError) Error() string { return e.Field + ": " + e.Rule }

// Target is a directory that a node is given.
type Target struct {
	Node string `json:"node"`
	Dir  string `json:"dir"`
}

// Targets are the directories that the plan makes.
func (p *Plan) Targets() []Target {
	var targets []Target
	for _, peer := range p.Peers {
		switch p.Node {
		case "":
			targets = append(targets, Target{peer.ID, filepath.Join(p.Dir, peer.ID)})
		case peer.ID:
			targets = append(targets, Target{peer.ID, p.Dir})
		}
	}
	return targets
}

// Check says what is wrong with the plan by itself; a *PlanError.
func (p *Plan) Check() error {
	if r := config.CheckClusterID(p.ClusterID); r != nil {
		return &PlanError{"cluster id", r.Rule}
	}
	if len(p.Peers) == 0 {
		return &PlanError{"peers", "must list every node of the new cluster"}
	}
	if p.Dir == "" {
		return &PlanError{"data directory", "must be named"}
	}
	if !slices.Contains([]raftstore.Kind{"", raftstore.Bolt, raftstore.WAL}, p.Store) {
		return &PlanError{"store", fmt.Sprintf("must be %s or %s", raftstore.Bolt, raftstore.WAL)}
	}
	ids, addresses := make(map[string]bool), make(map[string]bool)
	for _, peer := range p.Peers {
		switch {
		case peer.ID == "" || peer.Raft == "":
			return &PlanError{"peers", "each must have an id and a Raft address"}
		case p.Node == "" && peer.ID != filepath.Base(peer.ID) || peer.ID == "." || peer.ID == "..":
			return &PlanError{"peers", fmt.Sprintf("%q cannot be the name of a directory: restore each node by itself", peer.ID)}
		case ids[peer.ID]:
			return &PlanError{"peers", fmt.Sprintf("%s is there twice", peer.ID)}
		case addresses[peer.Raft]:
			return &PlanError{"peers", fmt.Sprintf("two have the Raft address %s", peer.Raft)}
		}
		ids[peer.ID], addresses[peer.Raft] = true, true
	}
	if p.Node != "" && !ids[p.Node] {
		return &PlanError{"node", fmt.Sprintf("%s must be one of the peers", p.Node)}
	}
	return nil
}

func (p *Plan) members() []consensus.Member {
	members := make([]consensus.Member, 0, len(p.Peers))
	for _, peer := range p.Peers {
		members = append(members, consensus.Member{ID: peer.ID, Address: peer.Raft, Voter: true})
	}
	return members
}

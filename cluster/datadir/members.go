package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const membersFile = "members.json"

// Membership is what a node keeps of its cluster beside Raft: it can be read while
// Raft is not running.
type Membership struct {
	Member  bool        `json:"member"`            // the node has seen itself in a committed configuration
	Learner bool        `json:"learner,omitempty"` // it stays a learner until somebody promotes it
	Peers   []KnownPeer `json:"peers,omitempty"`   // the members as the node knew them last, itself included
}

// KnownPeer is one member, and where it is.
type KnownPeer struct {
	ID    string `json:"id"`
	Raft  string `json:"raft"`
	API   string `json:"api,omitempty"`
	Voter bool   `json:"voter,omitempty"`
}

// ReadMembership gives what the node knew last; nothing is no error.
func ReadMembership(dir string) (m Membership, err error) {
	path := filepath.Join(dir, membersFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("cluster: data directory: %w", err)
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return Membership{}, fmt.Errorf("cluster: %s does not parse: %w: remove the file, it is made anew", path, err)
	}
	return m, nil
}

// KeepMembership writes it.
func KeepMembership(dir string, m Membership) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, membersFile), append(content, '\n'))
}

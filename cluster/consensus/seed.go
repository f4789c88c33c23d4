package consensus

import (
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// SeedSnapshot begins a snapshot in an empty SnapshotDir, from which a group of these
// members starts: what Bootstrap is for a group without a past. Every node of the
// group is given the same members, index and term. The snapshot is there when the
// sink is closed.
func SeedSnapshot(dir string, index, term uint64, members []Member) (raft.SnapshotSink, error) {
	snapshots, err := newSnapshotFiles(dir, hclog.NewNullLogger())
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	// The transport is asked only how it writes addresses: as they are.
	_, addresses := raft.NewInmemTransport("")
	sink, err := snapshots.Create(raft.SnapshotVersionMax, index, term, configurationOf(members), 1, addresses)
	if err != nil {
		return nil, fmt.Errorf("create a snapshot: %w", err)
	}
	return sink, nil
}

// SeedTerm makes an empty stable store that of a node which has seen the term: terms
// go on rising from the snapshot's, and the group is not bootstrapped again.
func SeedTerm(stable raft.StableStore, term uint64) error {
	if err := stable.SetUint64([]byte("CurrentTerm"), term); err != nil {
		return fmt.Errorf("store the term: %w", err)
	}
	return nil
}

// LastSnapshot is the index of the newest snapshot in a SnapshotDir, sound or not; 0
// when there is none.
func LastSnapshot(dir string) (index uint64, err error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, retainedSnapshots, hclog.NewNullLogger())
	if err != nil {
		return 0, fmt.Errorf("open snapshots: %w", err)
	}
	found, err := snapshots.List()
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].Index, nil
}

// SnapshotTerm is the term of the newest snapshot in a SnapshotDir whose metadata is
// sound; 0 when there is none.
func SnapshotTerm(dir string) (uint64, error) {
	var s Standing
	if err := s.readSnapshot(dir); err != nil {
		return 0, err
	}
	return s.LastTerm, nil
}

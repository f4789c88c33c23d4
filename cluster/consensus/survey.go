package consensus

import (
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Standing is what the files of one node know of its group, while nothing runs.
type Standing struct {
	Term     uint64 // the node's
	First    uint64 // index of the log's first entry; 0 when it is empty
	Last     uint64 // index of the last entry that the node has, in its log or under its snapshot
	LastTerm uint64 // of that
	Snapshot uint64 // index of the newest snapshot; 0 for none
	Members  []Member
	Since    uint64 // index of the newest configuration, which has the members

	log uint64 // index of the log's last entry
}

// Survey reads it.
func Survey(log raft.LogStore, stable raft.StableStore, snapshotDir string) (s Standing, err error) {
	if s.Term, err = stable.GetUint64([]byte("CurrentTerm")); ignoreNotFound(err) != nil {
		return s, fmt.Errorf("read the term: %w", err)
	}
	if err := s.readSnapshot(snapshotDir); err != nil {
		return s, err
	}
	if s.First, err = log.FirstIndex(); err != nil {
		return s, fmt.Errorf("read the log: %w", err)
	}
	if s.log, err = log.LastIndex(); err != nil {
		return s, fmt.Errorf("read the log: %w", err)
	}
	for index := max(s.First, s.Snapshot+1); s.First > 0 && index <= s.log; index++ {
		var entry raft.Log
		if err := log.GetLog(index, &entry); err != nil {
			return s, fmt.Errorf("read entry %d of the log: %w", index, err)
		}
		if entry.Type == raft.LogConfiguration {
			s.Members, s.Since = membersOf(raft.DecodeConfiguration(entry.Data)), index
		}
		s.Last, s.LastTerm = index, entry.Term
	}
	return s, nil
}

func (s *Standing) readSnapshot(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	snapshots, err := newSnapshotFiles(dir, hclog.NewNullLogger()) // which checks their metadata
	if err != nil {
		return fmt.Errorf("open snapshots: %w", err)
	}
	found, err := snapshots.List()
	if err != nil || len(found) == 0 {
		return err
	}
	s.Snapshot, s.Last, s.LastTerm = found[0].Index, found[0].Index, found[0].Term
	s.Members, s.Since = membersOf(found[0].Configuration), found[0].ConfigurationIndex
	return nil
}

// Reform makes the node the only member of its group: as if it had, in a term of its
// own, been elected and appended that configuration. It goes on with every entry that
// it has, those included of which it does not know that they were committed. The index
// is the configuration's.
//
// Two groups come of it if the others still can do anything: whoever calls it must know
// that they cannot, and never will.
func Reform(log raft.LogStore, stable raft.StableStore, s Standing, only Member) (index uint64, err error) {
	term := max(s.Term, s.LastTerm) + 1
	if err := stable.SetUint64([]byte("CurrentTerm"), term); err != nil {
		return 0, fmt.Errorf("store the term: %w", err)
	}
	if s.First > 0 && s.log < s.Snapshot {
		// What is below a snapshot that came from a leader; there would be a gap.
		if err := log.DeleteRange(s.First, s.log); err != nil {
			return 0, fmt.Errorf("empty the log below the snapshot: %w", err)
		}
	}
	index = s.Last + 1
	entry := &raft.Log{Index: index, Term: term, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(configurationOf([]Member{only}))}
	if err := log.StoreLog(entry); err != nil {
		return 0, fmt.Errorf("append the configuration: %w", err)
	}
	return index, nil
}

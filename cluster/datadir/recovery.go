package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const recoveryFile = "RECOVERED"

// Recovery says that the node was made the only member of its cluster, after a majority
// was lost, and that the cluster's log does not say so yet.
type Recovery struct {
	Index   uint64   `json:"index"` // of the configuration in the Raft log
	Term    uint64   `json:"term"`  // that the node had seen before
	Members []string `json:"members"`
	Token   string   `json:"token"` // that confirmed it: its beginning names the recovery in lineages
}

// NoteRecovery writes it.
func NoteRecovery(dir string, r Recovery) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, recoveryFile), append(content, '\n'))
}

// PendingRecovery gives it; ok is false when there is none.
func PendingRecovery(dir string) (r Recovery, ok bool, err error) {
	content, err := os.ReadFile(filepath.Join(dir, recoveryFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, false, fmt.Errorf("cluster: data directory: %w", err)
	}
	return r, true, nil
}

// ForgetRecovery is for when the log says so.
func ForgetRecovery(dir string) error {
	if err := os.Remove(filepath.Join(dir, recoveryFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	return syncDir(dir)
}

package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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
	ID      string   `json:"id,omitempty"`  // in lineages; a binary that knew of none left it out
	Sum     string   `json:"sum,omitempty"` // of all that, where there is an id
}

func (r Recovery) sum() string {
	return fmt.Sprintf("%08x", crc32.Checksum(fmt.Appendf(nil, "%d %d %q %q", r.Index, r.Term, r.Members, r.ID), castagnoli))
}

// NoteRecovery writes it.
func NoteRecovery(dir string, r Recovery) error {
	r.Sum = r.sum()
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, recoveryFile), append(content, '\n'))
}

// PendingRecovery gives it; ok is false when there is none.
func PendingRecovery(dir string) (r Recovery, ok bool, err error) {
	path := filepath.Join(dir, recoveryFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		strict := json.NewDecoder(bytes.NewReader(content))
		strict.DisallowUnknownFields()
		err = strict.Decode(&r)
	}
	if err == nil && (r.ID != "" || r.Sum != "") && r.Sum != r.sum() {
		err = errors.New("its checksum does not fit")
	}
	if err != nil {
		return r, false, fmt.Errorf("cluster: the note of a recovery, %s, is damaged: %w", path, err)
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

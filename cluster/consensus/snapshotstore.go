package consensus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Names of files beside and within a snapshot's directory. The library's own
// checksum is of the state alone.
const (
	snapshotsDir = "snapshots"
	metaFile     = "meta.json"
	sumFile      = "meta.sum" // hex SHA-256 of meta.json
)

// ErrDamagedSnapshot says that what a snapshot says of itself is not what was
// written: where it stands in the log, or who the members are.
var ErrDamagedSnapshot = errors.New("the snapshot's file is damaged")

// snapshotFiles is the library's store of snapshots, with a checksum of each
// one's metadata. A snapshot whose metadata is damaged is none.
type snapshotFiles struct {
	raft.SnapshotStore
	dir string
	log hclog.Logger

	mu    sync.Mutex // guards found
	found map[string]error
}

func newSnapshotFiles(dir string, log hclog.Logger) (*snapshotFiles, error) {
	store, err := raft.NewFileSnapshotStoreWithLogger(dir, retainedSnapshots, log)
	if err != nil {
		return nil, err
	}
	return &snapshotFiles{SnapshotStore: store, dir: filepath.Join(dir, snapshotsDir), log: log, found: make(map[string]error)}, nil
}

// Create implements raft.SnapshotStore.
func (s *snapshotFiles) Create(
	version raft.SnapshotVersion, index, term uint64, members raft.Configuration, membersIndex uint64, transport raft.Transport,
) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, members, membersIndex, transport)
	if err != nil {
		return nil, err
	}
	return &summedSink{sink, s}, nil
}

// summedSink adds the checksum when the snapshot is whole.
type summedSink struct {
	raft.SnapshotSink
	files *snapshotFiles
}

// Close implements raft.SnapshotSink. Without its checksum, which a power cut
// may take, a snapshot is as good as the library's.
func (s *summedSink) Close() error {
	if err := s.SnapshotSink.Close(); err != nil {
		return err
	}
	dir := filepath.Join(s.files.dir, s.ID())
	meta, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err == nil {
		err = writeWhole(filepath.Join(dir, sumFile), sumOf(meta)+"\n")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a later one may have taken its place already
		return fmt.Errorf("snapshot %s: %w", s.ID(), err)
	}
	return nil
}

func sumOf(meta []byte) string {
	sum := sha256.Sum256(meta)
	return hex.EncodeToString(sum[:])
}

// writeWhole writes a file that is there as a whole or not at all.
func writeWhole(path, content string) error {
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	return err
}

// List implements raft.SnapshotStore: sound ones only, the newest first.
func (s *snapshotFiles) List() ([]*raft.SnapshotMeta, error) {
	all, err := s.SnapshotStore.List()
	sound := make([]*raft.SnapshotMeta, 0, len(all))
	for _, meta := range all {
		if damage := s.check(meta); damage != nil {
			s.note(meta.ID, damage)
			continue
		}
		sound = append(sound, meta)
	}
	return sound, err
}

// check holds a snapshot's metadata against its checksum, and against the name
// of its directory, which says where in the log it was taken.
func (s *snapshotFiles) check(meta *raft.SnapshotMeta) error {
	path := filepath.Join(s.dir, meta.ID, metaFile)
	if !strings.HasPrefix(meta.ID, fmt.Sprintf("%d-%d-", meta.Term, meta.Index)) {
		return fmt.Errorf("%s: %w: it says term %d, index %d", path, ErrDamagedSnapshot, meta.Term, meta.Index)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(s.dir, meta.ID, sumFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // of a version that made none
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(sum)) != sumOf(content) {
		return fmt.Errorf("%s: %w: it does not go with its checksum in %s", path, ErrDamagedSnapshot, sumFile)
	}
	return nil
}

// note keeps what is damaged, and says so once.
func (s *snapshotFiles) note(id string, damage error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found[id] == nil {
		s.log.Error("a snapshot is passed over", "error", damage)
	}
	s.found[id] = damage
}

// damage is all that was found.
func (s *snapshotFiles) damage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for _, one := range s.found { // few, and for people
		all = append(all, one)
	}
	return errors.Join(all...)
}

// damageOf is what a node's snapshots were passed over for.
func damageOf(snapshots raft.SnapshotStore) error {
	if files, ok := snapshots.(*snapshotFiles); ok {
		return files.damage()
	}
	return nil
}

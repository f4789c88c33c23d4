package raftstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

const (
	boltFile = "raft.db"
	walDir   = "wal"
)

// Backend is what both libraries offer: a log, and one durable write per key. Get
// answers nil for a key that was never written.
type Backend interface {
	raft.LogStore
	Set(key, value []byte) error
	Get(key []byte) ([]byte, error)
	Close() error
}

type backend = Backend

// openBackend opens the files of one kind and refuses when those of the other
// kind are there.
func openBackend(o Options) (backend, error) {
	if o.Backend != nil {
		return o.Backend()
	}
	file, segments := filepath.Join(o.Dir, boltFile), filepath.Join(o.Dir, walDir)
	mine, other := file, segments
	if o.Kind == WAL {
		mine, other = segments, file
	}
	if _, err := os.Lstat(other); err == nil {
		return nil, fmt.Errorf("%s is there, asked for kind %q: %w", other, o.Kind, ErrOtherKind)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for another store: %w", err)
	}
	if o.Kind == WAL {
		return openWAL(mine, o.Logger)
	}
	return openBolt(mine, o.LockTimeout)
}

func openWAL(dir string, logger hclog.Logger) (backend, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the raft log: %w", err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	store, err := wal.Open(dir, wal.WithLogger(logger))
	if err != nil {
		return nil, fmt.Errorf("open the raft log %s: %w", dir, err)
	}
	return store, nil
}

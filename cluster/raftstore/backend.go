package raftstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	boltFile = "raft.db"
	walDir   = "wal"
)

// backend is what both libraries offer: a log, and one durable write per key.
type backend interface {
	raft.LogStore
	Set(key, value []byte) error
	Get(key []byte) ([]byte, error)
	Close() error
}

// openBackend opens the files of one kind and refuses when those of the other
// kind are there.
func openBackend(o Options) (backend, error) {
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

// openBolt opens the database. A new one is made under another name first: a
// crash while bolt writes its first pages would leave a file that looks like a
// damaged one for ever.
func openBolt(path string, lockTimeout time.Duration) (backend, error) {
	options := raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{
		Timeout: lockTimeout,
		// The free list is rebuilt at open instead of written with every commit.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
	}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := createBolt(options); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("look for the raft log: %w", err)
	}
	store, err := raftboltdb.New(options)
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("open the raft log %s: %w", path, err)
	}
	return store, nil
}

func createBolt(options raftboltdb.Options) error {
	final := options.Path
	options.Path = final + ".new"
	if err := os.RemoveAll(options.Path); err != nil {
		return fmt.Errorf("remove an unfinished raft log: %w", err)
	}
	store, err := raftboltdb.New(options)
	if err != nil {
		return fmt.Errorf("create the raft log: %w", err)
	}
	if err := store.Close(); err != nil {
		return fmt.Errorf("create the raft log: %w", err)
	}
	if err := os.Rename(options.Path, final); err != nil {
		return fmt.Errorf("create the raft log: %w", err)
	}
	return syncDir(filepath.Dir(final))
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

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
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"go.etcd.io/bbolt"
)

const (
	boltFile = "raft.db"
	walDir   = "wal"
	walMeta  = "wal-meta.db" // the library's bookkeeping: which segments there are, term, vote
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
	mine, other := o.path(), filepath.Join(o.Dir, walDir)
	if o.Kind == WAL {
		other = filepath.Join(o.Dir, boltFile)
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

// path is where the entries are: one library's errors say it, the other's do not.
func (o Options) path() string {
	if o.Kind == WAL {
		return filepath.Join(o.Dir, walDir)
	}
	return filepath.Join(o.Dir, boltFile)
}

// Missing names the file without which there is no store in a directory; "" when it
// is there, or when a store of the other kind is: that Open refuses.
func Missing(kind Kind, dir string) (path string, err error) {
	path, other := filepath.Join(dir, boltFile), filepath.Join(dir, walDir)
	if kind == WAL {
		path, other = filepath.Join(other, walMeta), path
	}
	if _, err := os.Lstat(other); err == nil {
		return "", nil
	}
	_, err = os.Lstat(path)
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	}
	return "", fmt.Errorf("look for the raft store: %w", err)
}

func openWAL(dir string, logger hclog.Logger) (backend, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the raft log: %w", err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	meta := filepath.Join(dir, walMeta)
	if err := checkPages(meta); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the raft log %s: %w", meta, err)
	}
	if err := checkMeta(meta); err != nil {
		return nil, fmt.Errorf("open the raft log %s: %w", meta, err)
	}
	files, err := wal.Open(dir, wal.WithLogger(logger))
	if err != nil {
		return nil, fmt.Errorf("open the raft log %s: %w", dir, err)
	}
	log, err := newWALLog(files)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the raft log %s: %w", dir, err), files.Close())
	}
	return log, nil
}

// checkMeta looks at what the stable values are called, before the library opens the file.
func checkMeta(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		values := tx.Bucket([]byte(metadb.StableBucket))
		if values == nil {
			return nil // it has only been made
		}
		return checkKeys(values)
	})
	return errors.Join(err, db.Close())
}

package raftstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// What stands among the stable values about the log beside them. In a file of
// another version it is missing, or says something else.
const (
	keyLayout = "Layout"
	layout    = "chunks 1"
)

// boltConf is the bucket in which raft-boltdb keeps stable values.
const boltConf = "conf"

// openBolt opens the database. A new one is made under another name first: a
// crash while bolt writes its first pages would leave a file that looks like a
// damaged one for ever.
func openBolt(path string, lockTimeout time.Duration) (backend, error) {
	options := bbolt.Options{
		Timeout: lockTimeout,
		// The free list is rebuilt at open instead of written with every commit.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := createBolt(path, options); err != nil {
			return nil, fmt.Errorf("create the raft log: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("look for the raft log: %w", err)
	}
	log, err := openChunks(path, options)
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("open the raft log %s: %w", path, err)
	}
	return log, nil
}

func createBolt(path string, options bbolt.Options) error {
	unfinished := path + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	files, err := raftboltdb.New(raftboltdb.Options{Path: unfinished, BoltOptions: &options})
	if err != nil {
		return err
	}
	if err := errors.Join(files.Set([]byte(keyLayout), []byte(layout)), files.Close()); err != nil {
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func openChunks(path string, options bbolt.Options) (*chunkLog, error) {
	if err := checkPages(path); err != nil {
		return nil, err
	}
	if err := checkLayout(path, options); err != nil {
		return nil, err
	}
	files, err := raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &options, NoSync: !syncs})
	if err != nil {
		return nil, err
	}
	log, err := openChunkLog(files)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return log, nil
}

// checkLayout looks into the file before the library does, which would add to
// it.
func checkLayout(path string, options bbolt.Options) error {
	options.ReadOnly = true
	db, err := bbolt.Open(path, 0o600, &options)
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		var found []byte
		conf := tx.Bucket([]byte(boltConf))
		if conf != nil {
			found = conf.Get([]byte(keyLayout))
		}
		if string(found) != layout {
			return fmt.Errorf("its layout is %q, not %q: %w", found, layout, ErrLayout)
		}
		return checkKeys(conf)
	})
	return errors.Join(err, db.Close())
}

package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// restoringFile says that what is in the directory may be incomplete. It is the
// first file there, and the last one to go.
const restoringFile = "RESTORING"

// lostAndFound is what an empty file system of its own may hold.
const lostAndFound = "lost+found"

// ErrNotEmpty says that a directory has data, which a restore never touches.
var ErrNotEmpty = errors.New("cluster: the data directory is not empty")

func restoring(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, restoringFile))
	return err == nil
}

// Begin prepares an empty or missing directory for a restore, and tells whether it
// was made. What an earlier restore left there that was cut short is removed: it
// began in an empty directory, too, so nothing else is there.
func Begin(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return false, fmt.Errorf("cluster: data directory: %w", err)
		}
		return true, mark(dir)
	}
	if err != nil {
		return false, fmt.Errorf("cluster: data directory: %w", err)
	}
	again := restoring(dir)
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == restoringFile, name == lostAndFound:
		case !again:
			return false, fmt.Errorf("%w: %s holds %s", ErrNotEmpty, dir, name)
		default:
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return false, fmt.Errorf("cluster: data directory: %w", err)
			}
		}
	}
	return false, mark(dir)
}

func mark(dir string) error {
	text := []byte("omni backup restore was writing here. It has not finished: run it again.\n")
	if err := os.WriteFile(filepath.Join(dir, restoringFile), text, 0o600); err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	return syncDir(dir)
}

// Assign gives a directory to a node, while it is being restored.
func Assign(dir, cluster, node string) error {
	return writeOwner(filepath.Join(dir, nodeFile), owner{Cluster: cluster, Node: node})
}

// End makes a restored directory one that a node can start in. Every file in it
// must be durable; their names are made so here.
func End(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case entry.Name() == lostAndFound:
			return fs.SkipDir // may not even be readable
		}
		return syncDir(path)
	})
	if err == nil {
		err = syncDir(filepath.Dir(dir))
	}
	if err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	if err := os.Remove(filepath.Join(dir, restoringFile)); err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	return syncDir(dir)
}

// Undo removes what a restore has written, and the directory if Begin made it.
func Undo(dir string, made bool) error {
	if made {
		return os.RemoveAll(dir)
	}
	if _, err := Begin(dir); err != nil { // removes everything but the mark
		return err
	}
	return os.Remove(filepath.Join(dir, restoringFile))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	return nil
}

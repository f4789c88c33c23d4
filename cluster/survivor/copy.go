package survivor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/cluster/datadir"
)

// keepCopy keeps the Raft store, without its snapshots, which are not changed. One that
// was cut short, by a full disk or a kill, is made anew under another name first; one
// that is whole stays as it is.
func keepCopy(p Plan, last uint64) (string, error) {
	from := datadir.RaftDir(p.Dir, p.Kernel)
	to := fmt.Sprintf("%s-before-recovery-%d", from, last)
	if _, err := os.Lstat(to); err == nil {
		return to, nil
	}
	unfinished := to + ".tmp"
	err := os.RemoveAll(unfinished)
	if err == nil {
		err = copyStore(from, unfinished)
	}
	if err == nil {
		err = os.Rename(unfinished, to)
	}
	if err == nil {
		err = syncPath(filepath.Dir(to))
	}
	if err != nil {
		return "", fmt.Errorf("copy of the Raft store: %w", err)
	}
	return to, nil
}

func copyStore(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case name == "snapshots":
			return fs.SkipDir
		case name == "LOCK":
			return nil
		case entry.IsDir():
			return os.Mkdir(filepath.Join(to, name), 0o700)
		}
		return copyFile(path, filepath.Join(to, name))
	})
}

// copyFile is durable, its name as well.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close(), syncPath(filepath.Dir(to)))
}

func syncPath(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

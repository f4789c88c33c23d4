package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Suffix ends the names of backups.
const Suffix = ".omniback"

// PartialSuffix ends the names of files that are being written. One that is left
// behind is of no use.
const PartialSuffix = ".partial"

// ErrExists says that there is a file of that name; it was not touched.
var ErrExists = errors.New("backup: the file exists")

// Save writes a file that has its name only when it is whole and durable: write
// fills a temporary one beside it, whose name begins with partial, and name, which is
// asked afterwards, says what to call it. The temporary file is removed when something
// fails.
func Save(dir, partial string, write func(*os.File) error, name func() string) (path string, err error) {
	f, err := os.CreateTemp(dir, partial+"*"+PartialSuffix)
	if err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()           // again, perhaps: the first error is the one to tell
			_ = os.Remove(f.Name()) // it is of no use, and its name says so
		}
	}()
	if err := write(f); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	path = filepath.Join(dir, name())
	// Not atomic beside another program that makes the same name; a backup of that
	// name would hold the same.
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%w: %s", ErrExists, path)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	return path, syncDir(dir)
}

// syncDir makes a new name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

package dev

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// directory is a data directory that this process holds.
type directory struct {
	path      string
	temporary bool
	lock      *os.File
}

// lockName is the file whose lock says that a dev cluster runs here. It holds
// the process id of who has it, for people.
const lockName = "dev.lock"

// openDirectory makes the directory if needed and locks it.
func openDirectory(path string) (*directory, error) {
	d := &directory{path: path, temporary: path == ""}
	if d.temporary {
		made, err := os.MkdirTemp("", "omni-dev-")
		if err != nil {
			return nil, &Problem{Rule: "no temporary directory can be made: " + cause(err), Hint: "name one: --data-dir D"}
		}
		d.path = made
	} else {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, &Problem{Rule: path + " is no path: " + err.Error()}
		}
		d.path = absolute
		if err := os.MkdirAll(d.path, 0o700); err != nil {
			return nil, &Problem{Rule: d.path + " cannot be made: " + cause(err), Hint: "choose another: --data-dir D"}
		}
		if err := d.checkOwn(); err != nil {
			return nil, err
		}
	}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	return d, nil
}

// checkOwn refuses a directory that somebody uses for something else.
func (d *directory) checkOwn() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return &Problem{Rule: d.path + " cannot be read: " + cause(err)}
	}
	for _, entry := range entries {
		if name := entry.Name(); name == FileName || name == lockName {
			return nil
		}
	}
	if len(entries) > 0 {
		return &Problem{Rule: d.path + " is not empty and holds no dev cluster", Hint: "name an empty directory, or one that does not exist"}
	}
	return nil
}

// acquire takes the lock. The operating system gives it back when this process
// ends, however it ends.
func (d *directory) acquire() error {
	path := filepath.Join(d.path, lockName)
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return &Problem{Rule: d.path + " is not writable: " + cause(err), Hint: "choose another: --data-dir D"}
	}
	switch err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder := "another omni dev"
		if raw, err := os.ReadFile(path); err == nil && len(raw) > 0 && len(raw) < 20 {
			holder += " (process " + strings.TrimSpace(string(raw)) + ")"
		}
		lock.Close()
		return &Problem{Rule: holder + " runs a cluster in " + d.path, Hint: "stop it, or name another directory: --data-dir D"}
	case err != nil:
		lock.Close()
		return &Problem{Rule: path + " cannot be locked: " + err.Error()}
	}
	d.lock = lock
	// The number is for people only: a cluster runs without it as well.
	if lock.Truncate(0) == nil {
		_, _ = lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return nil
}

// close gives the lock back, and a temporary directory with everything in it.
func (d *directory) close() error {
	var err error
	if d.temporary {
		err = os.RemoveAll(d.path)
	}
	return errors.Join(err, d.lock.Close())
}

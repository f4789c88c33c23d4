package raftstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockFile is held for as long as the store is open. The bolt file has a lock
// of its own; the segment library waits without end for its one, so the
// directory has this one for both.
const lockFile = "LOCK"

const lockPoll = 20 * time.Millisecond

// lockDir takes the exclusive lock of dir, waiting at most timeout. The
// operating system releases it when the process ends, however it ends.
func lockDir(dir string, timeout time.Duration) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	deadline := time.Now().Add(timeout)
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		if !time.Now().Before(deadline) {
			_ = file.Close()
			return nil, fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		time.Sleep(lockPoll)
	}
}

// syncDir makes the names in dir durable: a power cut must not take away a
// file whose content was already acknowledged.
func syncDir(dir string) error {
	handle, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open directory to sync it: %w", err)
	}
	err = handle.Sync()
	if closed := handle.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

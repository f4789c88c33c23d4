package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Sweep takes down every mount and loop device of this package below a directory,
// in use or not, and returns what it took down. It is for runs that were
// interrupted: of one that is under way it takes the disks away. Files stay.
func Sweep(dir string) (swept []string, err error) {
	if dir, err = absolute(dir); err != nil {
		return nil, err
	}
	mounts, err := mountsBelow(dir)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, m := range mounts {
		failed = append(failed, m.abort())
		err := unix.Unmount(m.point, 0)
		if err != nil {
			// Its user is stuck, or its server dead: out of sight now, gone when the last
			// file is closed.
			err = unix.Unmount(m.point, unix.MNT_DETACH)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("unmount %s: %w", m.point, err))
			continue
		}
		swept = append(swept, m.point)
	}
	loops, err := loopsBelow(dir) // those that did not go with their mounts
	failed = append(failed, err)
	for _, device := range loops {
		if err := detach(device); err != nil {
			failed = append(failed, err)
			continue
		}
		swept = append(swept, device)
	}
	return swept, errors.Join(failed...)
}

// abort ends the connection of a faulty disk to whoever serves it: users that wait
// for an answer could not even be killed, nor the mount be taken away.
func (m mounted) abort() (err error) {
	if m.source != mark {
		return nil
	}
	dir, err := os.MkdirTemp("", mark)
	if err != nil {
		return fmt.Errorf("abort %s: %w", m.point, err)
	}
	defer os.Remove(dir)
	if err := unix.Mount("none", dir, "fusectl", 0, ""); err != nil {
		return fmt.Errorf("abort %s: %w", m.point, err)
	}
	defer func() { err = errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH)) }()
	err = os.WriteFile(filepath.Join(dir, m.minor, "abort"), []byte("1"), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it has ended by itself
	}
	return err
}

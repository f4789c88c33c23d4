package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Fill takes the room on the disk with a file of its own, but for so many KiB. It may
// be called again, to leave more or less.
func (d *Image) Fill(keepKiB int64) error {
	if err := d.Free(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(d.mount, ballastName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer f.Close()
	var size int64
	// The file's own extents take room, too, and others may write meanwhile.
	for step := int64(1) << 40; step > 0; {
		room, err := d.room()
		if err != nil {
			return err
		}
		step = min(step, room-keepKiB<<10)
		if step <= 0 {
			break
		}
		switch err := unix.Fallocate(int(f.Fd()), 0, size, step); {
		case err == nil:
			size += step
		case errors.Is(err, unix.ENOSPC):
			step /= 2
		default:
			return fmt.Errorf("fill the disk: %w", err)
		}
	}
	return f.Sync()
}

// Free gives the room back that Fill took.
func (d *Image) Free() error {
	if err := os.Remove(filepath.Join(d.mount, ballastName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("free the disk: %w", err)
	}
	return nil
}

// room is how many bytes are free.
func (d *Image) room() (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(d.mount, &s); err != nil {
		return 0, fmt.Errorf("room on %s: %w", d.mount, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// attach makes a loop device of a file. It goes away by itself once nobody has it
// open nor mounted any more; the caller closes what it gets when it is mounted.
func attach(image string) (device *os.File, err error) {
	backing, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("loop device: %w", err)
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("disks of images need root and loop devices (modprobe loop): %w", err)
	}
	defer control.Close()
	const tries = 100 // another one may be quicker to take the number
	for range tries {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("disks of images need a free loop device: %w", err)
		}
		device, err = os.OpenFile(fmt.Sprintf("/dev/loop%d", number), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("loop device: %w", err)
		}
		config := unix.LoopConfig{Fd: uint32(backing.Fd())}
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		copy(config.Info.File_name[:len(config.Info.File_name)-1], image)
		err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
		if err == nil {
			return device, nil
		}
		device.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("loop device over %s: %w", image, err)
		}
	}
	return nil, errors.New("loop device: others took each one that was free")
}

// backingOf is the file under a loop device, as the kernel names it; empty without
// one.
func backingOf(device string) string {
	content, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "loop", "backing_file"))
	if err != nil {
		return "" // not attached
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), " (deleted)")
}

func isOurLoop(device string) bool {
	return strings.HasPrefix(device, "/dev/loop") && strings.HasPrefix(filepath.Base(backingOf(device)), mark)
}

// loopsBelow lists the loop devices of images below a directory.
func loopsBelow(dir string) ([]string, error) {
	devices, err := filepath.Glob("/sys/block/loop*")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, device := range devices {
		device = "/dev/" + filepath.Base(device)
		if isOurLoop(device) && isBelow(backingOf(device), dir) {
			found = append(found, device)
		}
	}
	return found, nil
}

// detached waits until a device is no longer over an image: the last process that
// used the file system may still be ending, or another mount namespace hold it.
func detached(device, image string) error {
	for deadline := time.Now().Add(5 * time.Second); backingOf(device) == image; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is still over %s after it was unmounted: a process or another mount namespace holds it", device, image)
		}
	}
	return nil
}

// detach takes a device away from its image, at once or when its last user ends.
func detach(device string) error {
	f, err := os.Open(device)
	if err != nil {
		return fmt.Errorf("loop device: %w", err)
	}
	defer f.Close()
	if err := unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0); err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("detach %s: %w", device, err)
	}
	return nil
}

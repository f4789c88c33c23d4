package disk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Image is an ext4 file system of its own in a sparse file.
type Image struct {
	image  string // the file
	mount  string
	device string // of the present mount
}

// Names below the directory of an image.
const (
	imageName   = mark + ".img"
	mountName   = "disk"
	ballastName = "." + mark + "-ballast"
)

// New makes an image of so many MiB in an empty or missing directory and mounts
// it. At least 8 MiB are needed for a journal.
func New(dir string, mebibytes int64) (*Image, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	d := &Image{image: filepath.Join(dir, imageName), mount: filepath.Join(dir, mountName)}
	f, err := os.OpenFile(d.image, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	if err := errors.Join(f.Truncate(mebibytes<<20), f.Close(), os.Mkdir(d.mount, 0o700)); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	// No blocks that only root may use: the node is root, and full means full.
	output, err := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("disks of images need mkfs.ext4 (apt-get install e2fsprogs): %w: %s", err, output)
	}
	return d, d.attachAndMount()
}

// attachAndMount brings the file system up; what a cut left in its journal is
// played back.
func (d *Image) attachAndMount() error {
	device, err := attach(d.image)
	if err != nil {
		return err
	}
	defer device.Close() // the mount holds it from now on, or it goes away
	if err := unix.Mount(device.Name(), d.mount, "ext4", unix.MS_NOATIME, "errors=remount-ro"); err != nil {
		return fmt.Errorf("mount %s: disks of images need root and ext4: %w", d.mount, err)
	}
	d.device = device.Name()
	return nil
}

func (d *Image) unmount() error {
	if err := unmount(d.mount); err != nil {
		return err
	}
	return detached(d.device, d.image)
}

// Dir is where the file system is mounted.
func (d *Image) Dir() string { return d.mount }

// EXT4_IOC_SHUTDOWN stops the file system at once; with this flag it does not
// write its journal.
const (
	ext4Shutdown    = 0x8004587d
	withoutLogFlush = 2
)

// Cut takes the power away and gives it back: what was not fsynced is gone, but for
// what ext4 happened to write by itself. Whoever uses the disk must be dead or
// stopped first; it is an error when something still does, and the power is off
// then.
func (d *Image) Cut() error {
	root, err := os.Open(d.mount)
	if err != nil {
		return fmt.Errorf("cut the power: %w", err)
	}
	how := uint32(withoutLogFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, root.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&how)))
	root.Close()
	if errno != 0 {
		return fmt.Errorf("cut the power of %s: this kernel's ext4 cannot be shut down: %w", d.mount, errno)
	}
	return d.restart()
}

// restart mounts again.
func (d *Image) restart() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return d.attachAndMount()
}

// ReadOnly makes the file system read-only under whoever has files open for
// writing, the way in which it becomes so by itself: as if it had found an error.
// What was not fsynced may be lost.
func (d *Image) ReadOnly() error {
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(d.device), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("injected by the fault tests"), 0); err != nil {
		return fmt.Errorf("make %s read-only: this kernel's ext4 takes no injected errors: %w", d.mount, err)
	}
	return nil
}

// Writable repairs a file system that ReadOnly broke. Whoever uses it must be dead or
// stopped first, as it must where that happens by itself.
func (d *Image) Writable() error {
	if err := d.unmount(); err != nil {
		return err
	}
	output, err := exec.Command("e2fsck", "-p", "-f", d.image).CombinedOutput()
	var exit *exec.ExitError
	// 1: errors were corrected.
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("repair %s: %w: %s", d.image, err, strings.TrimSpace(string(output)))
	}
	return d.attachAndMount()
}

// Close unmounts, and removes the image.
func (d *Image) Close() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return errors.Join(os.Remove(d.image), os.Remove(d.mount))
}

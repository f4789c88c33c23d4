package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// What a process sees of the system, where the system has it. Of /etc it is what
// programs need to start, to know names and to trust certificates.
var (
	systemDirs  = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
	systemFiles = [...]string{
		"/etc/alternatives", "/etc/ca-certificates", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf",
		"/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/pki", "/etc/protocols",
		"/etc/resolv.conf", "/etc/services", "/etc/ssl",
	}
	devices = [...]string{"full", "null", "random", "urandom", "zero"}
)

const (
	readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	writable = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	device   = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
)

// enterRoot builds the file system that the process sees, and makes it the root of
// this mount namespace. It names the step that failed.
func (s *spec) enterRoot() (step string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "private", err
	}
	if err := unix.Mount("tmpfs", s.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=755"); err != nil {
		return "root", err
	}
	for _, build := range [...]struct {
		step string
		f    func() error
	}{{"system", s.mountSystem}, {"devices", s.mountDevices}, {"work", s.mountWork}, {"directories", s.mountDirs}, {"proc", s.mountProc}, {"pivot", s.pivot}} {
		if err := build.f(); err != nil {
			return build.step, err
		}
	}
	return "", nil
}

func (s *spec) mountSystem() error {
	for _, dir := range systemDirs {
		file, err := os.Lstat(dir)
		switch {
		case err != nil: // not every system has all
		case file.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(dir)
			if err == nil {
				err = os.Symlink(target, s.Root+dir)
			}
			if err != nil {
				return err
			}
		case file.IsDir():
			if err := s.bind(dir, dir, readOnly); err != nil {
				return err
			}
		}
	}
	for _, path := range systemFiles {
		source, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if err := s.bind(source, path, readOnly); err != nil {
			return err
		}
	}
	return nil
}

func (s *spec) mountDevices() error {
	for _, name := range devices {
		if err := s.bind("/dev/"+name, "/dev/"+name, device); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(target, s.Root+"/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

func (s *spec) mountDirs() error {
	if err := s.bind(s.Programs, programsDir, readOnly); err != nil {
		return err
	}
	for _, dir := range s.Read {
		if err := s.bind(dir, dir, readOnly); err != nil {
			return err
		}
	}
	for _, dir := range s.Write {
		if err := s.bind(dir, dir, writable); err != nil {
			return err
		}
	}
	return nil
}

// mountWork makes the directory that the process works in: it is in memory, of
// bounded size, and gone with the namespace.
func (s *spec) mountWork() error {
	if err := os.Mkdir(s.Root+workDir, 0o755); err != nil {
		return err
	}
	owner := max(s.UID, 0)
	options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=700,uid=%d,gid=%d", s.Limits.FileBytes, maxInodes, owner, owner)
	if err := unix.Mount("tmpfs", s.Root+workDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	return os.Symlink("work", s.Root+"/tmp")
}

const maxInodes = 16_384

func (s *spec) mountProc() error {
	if err := os.Mkdir(s.Root+"/proc", 0o755); err != nil {
		return err
	}
	return unix.Mount("proc", s.Root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// bind shows a file or directory of the system in the new root.
func (s *spec) bind(source, target string, attributes uint64) error {
	file, err := os.Stat(source)
	if err != nil {
		return err
	}
	target = s.Root + target
	if file.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes})
}

// pivot makes the new root the only one.
func (s *spec) pivot() error {
	const old = "/.old"
	if err := os.Mkdir(s.Root+old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(s.Root, s.Root+old); err != nil {
		return err
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount(old, unix.MNT_DETACH); err != nil {
		return err
	}
	if err := os.Remove(old); err != nil {
		return err
	}
	return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

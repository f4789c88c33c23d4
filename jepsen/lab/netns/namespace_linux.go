package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// names is where `ip netns` keeps namespaces, each a mounted file.
const names = "/run/netns"

// Usable tells whether this program may make namespaces here. The error says what
// is missing, and what to do.
func Usable() error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces need root: run this as root, with sudo for example")
	}
	if _, err := ipCommand(); err != nil {
		return err
	}
	if _, err := os.Stat(tunDevice); err != nil {
		return fmt.Errorf("TAP devices need %s: load the module with `modprobe tun`, or give the container the device: %w", tunDevice, err)
	}
	return nil
}

// Add makes a namespace. Its loopback interface is down until it is plugged in.
func Add(name string) error { return ip("", "netns", "add", name) }

// Delete removes a namespace's name. The namespace is gone when no process, thread
// or socket is in it any more.
func Delete(name string) error { return ip("", "netns", "delete", name) }

// Exists tells whether there is a namespace of that name.
func Exists(name string) bool {
	_, err := os.Stat(path(name))
	return err == nil
}

// List is the names of all namespaces of this machine that have one, anybody's.
func List() ([]string, error) {
	entries, err := os.ReadDir(names)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	list := make([]string, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list, nil
}

// ID is what tells the namespace from all others, while it exists. The id of "" is
// the one of the program's own.
func ID(name string) (uint64, error) { return identify(path(name)) }

// OfProcess is the ID of the namespace in which a process is.
func OfProcess(pid int) (uint64, error) { return identify(fmt.Sprintf("/proc/%d/ns/net", pid)) }

func identify(file string) (uint64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: the system does not say its inode", file)
	}
	return stat.Ino, nil
}

func path(name string) string {
	if name == "" {
		return "/proc/thread-self/ns/net"
	}
	return filepath.Join(names, name)
}

// enter moves the calling thread, which must be locked and must never serve
// anybody else again. leave moves it back.
func enter(name string) (leave func(), err error) {
	own, err := open("")
	if err != nil {
		return nil, err
	}
	other, err := open(name)
	if err != nil {
		return nil, errors.Join(err, unix.Close(own))
	}
	defer unix.Close(other)
	if err := unix.Setns(other, unix.CLONE_NEWNET); err != nil {
		return nil, errors.Join(fmt.Errorf("enter namespace %q: %w", name, err), unix.Close(own))
	}
	return func() {
		_ = unix.Setns(own, unix.CLONE_NEWNET) // or it ends where it is
		_ = unix.Close(own)
	}, nil
}

func open(name string) (int, error) {
	fd, err := unix.Open(path(name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open namespace %q: %w", name, err)
	}
	return fd, nil
}

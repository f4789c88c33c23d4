package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Signals that change a node's process.
const (
	sigStop = unix.SIGSTOP
	sigCont = unix.SIGCONT
)

// errLocked is lockFile's, when another program holds the lock.
var errLocked = errors.New("another program holds it")

// lockFile locks a file for as long as it is open: when the program ends, however
// that happens, the lock is gone.
func lockFile(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		case err != nil:
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return nil
	}
}

// attributes of a node's process: a Ctrl-C does not reach it, and it ends with the
// thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// unmount unmounts a file system. One that is in use disappears from the tree, and
// is gone when it is not in use any more.
func unmount(point string) error {
	err := unix.Unmount(point, 0)
	if err == nil || errors.Is(err, unix.EINVAL) { // it was unmounted together with another
		return nil
	}
	return unix.Unmount(point, unix.MNT_DETACH)
}

// detach detaches a loop device from its file.
func detach(device string) error {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0)
	if errors.Is(err, unix.ENXIO) { // it was meanwhile
		return nil
	}
	return err
}

// narrow gives a pipe room for so many bytes, or a little more.
func narrow(pipe *os.File, bytes int) error { return control(pipe, unix.F_SETPIPE_SZ, bytes) }

// fill fills a pipe, of which this is the end to read from, until nobody can write
// to it any more.
func fill(pipe *os.File) error {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	to := -1
	errControl := raw.Control(func(fd uintptr) {
		// Opened anew: that this end does not wait must not be true of the node's.
		to, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err := errors.Join(errControl, err); err != nil {
		return err
	}
	defer unix.Close(to)
	pad := bytes.Repeat([]byte{padding}, sinkBytes)
	for size := len(pad); size > 0; { // a write of up to a page is whole, or is not
		_, err := unix.Write(to, pad[:size])
		switch {
		case errors.Is(err, unix.EAGAIN):
			size /= 2
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		}
	}
	return nil
}

// writes tells whether a thread of a process is inside of write to one of its
// files.
func writes(pid, file int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil {
		return false, err
	}
	var seen int
	for _, thread := range threads {
		text, readErr := os.ReadFile(thread)
		if readErr != nil { // the thread has ended, or nothing may be read
			err = readErr
			continue
		}
		seen++
		var number, first int
		if n, _ := fmt.Sscanf(string(text), "%d 0x%x", &number, &first); n == 2 && number == unix.SYS_WRITE && first == file {
			return true, nil
		}
	}
	if seen > 0 {
		err = nil
	}
	return false, err
}

func control(f *os.File, what, value int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	errControl := raw.Control(func(fd uintptr) { _, err = unix.FcntlInt(fd, what, value) })
	return errors.Join(err, errControl)
}

// stopWithin is how long a process may take until it stands still.
const stopWithin = 5 * time.Second

// awaitStopped waits until a process that was sent SIGSTOP stands still.
func awaitStopped(pid int) error {
	deadline := time.Now().Add(stopWithin)
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		// 1234 (name) T …, and the name may have brackets
		if _, rest, found := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " "); found && rest[0] == 'T' {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not stop: %s", pid, strings.TrimSpace(string(text)))
		}
		time.Sleep(time.Millisecond)
	}
}

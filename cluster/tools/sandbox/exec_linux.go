package sandbox

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runExec is stage 2: it gives up what is left to give up, and becomes the program.
func runExec() {
	// That there are no new privileges is a thread's, and execve takes the thread's.
	runtime.LockOSThread()
	s, _ := readSpec()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		fail("no_new_privs", err)
	}
	// The node goes first: it leads, and programs can wait.
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && 20-now < niceness {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, niceness); err != nil {
			fail("priority", err)
		}
	}
	unix.Umask(0o022)
	if err := unix.Chdir(s.Work); err != nil {
		fail("work", err)
	}
	if s.Probe {
		probe(s)
	}
	program, err := syscall.BytePtrFromString(s.Program)
	args, err2 := syscall.SlicePtrFromStrings(append([]string{s.Program}, s.Args...))
	env, err3 := syscall.SlicePtrFromStrings(s.Env)
	if err := errors.Join(err, err2, err3); err != nil {
		fail("arguments", unix.EINVAL)
	}
	if err := unix.Dup3(usageFD, controlFD, 0); err != nil {
		fail("usage", err)
	}
	if err := s.limit(); err != nil {
		fail("limits", err)
	}
	// From the limit of memory on nothing may be allocated before the program is there.
	memory := unix.Rlimit{Cur: s.Limits.MemoryBytes, Max: s.Limits.MemoryBytes}
	_, _, failed := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_AS, uintptr(unsafe.Pointer(&memory)), 0, 0, 0)
	step := "limits"
	if failed == 0 {
		step = "exec"
		_, _, failed = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(program)),
			uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&env[0])))
	}
	memory = unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	_, _, _ = unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_AS, uintptr(unsafe.Pointer(&memory)), 0, 0, 0)
	fail(step, failed)
}

// limit sets every limit but that of memory.
func (s *spec) limit() error {
	processes := s.Limits.Processes
	if !s.Full {
		// The kernel counts all that the user runs, and not only here.
		processes += tasksOf(os.Getuid())
	}
	for _, l := range [...]struct {
		which     int
		soft, max uint64
	}{
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_NOFILE, maxOpenFiles, maxOpenFiles},
		{unix.RLIMIT_FSIZE, s.Limits.FileBytes, s.Limits.FileBytes},
		{unix.RLIMIT_CPU, s.Limits.CPUSeconds, s.Limits.CPUSeconds + 1}, // the signal can be caught, the end cannot
		{unix.RLIMIT_NPROC, processes, processes},
	} {
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: l.soft, Max: l.max}); err != nil {
			return err
		}
	}
	return nil
}

const (
	maxOpenFiles = 256
	niceness     = 10 // as nice(1) counts
)

// probe tells whether a program could be started, without one.
func probe(s *spec) {
	for _, dir := range [...]string{s.Work, s.Programs} {
		if s.Full && dir == s.Programs {
			dir = programsDir
		}
		if err := unix.Access(dir, unix.X_OK); err != nil {
			fail("enter "+dir, err)
		}
	}
	if err := unix.Access(s.Work, unix.W_OK); err != nil {
		fail("write "+s.Work, err)
	}
	unix.Exit(0)
}

func errnoOf(err error) (unix.Errno, bool) {
	var number unix.Errno
	ok := errors.As(err, &number)
	return number, ok
}

package sandbox

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runInit is stage 1. It ends when the program has, or when the node lets go of the
// control pipe, and leaves nothing that runs.
func runInit() {
	s, control := readSpec()
	// Whoever has the same user must not look into it, or trace it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		fail("dumpable", err)
	}
	if s.Full {
		if step, err := s.enterRoot(); err != nil {
			fail("mounts: "+step, err)
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fail("subreaper", err)
	}
	child, err := s.fork()
	if err != nil {
		fail("start", err)
	}
	var living atomic.Int64
	living.Store(int64(child))
	go func() {
		_, _ = io.Copy(io.Discard, control)
		if s.Full {
			unix.Exit(1) // and the kernel kills whatever is in the namespace
		}
		if pid := living.Load(); pid != 0 {
			_ = unix.Kill(int(pid), unix.SIGKILL)
		}
	}()
	ended := await(child)
	living.Store(0)
	for !reaped() {
		if s.Full {
			_ = unix.Kill(-1, unix.SIGKILL)
		} else {
			killDescendants()
		}
		time.Sleep(time.Millisecond)
	}
	tell(ended)
	unix.Exit(0)
}

// fork starts stage 2: as a user of its own, in a user namespace of its own at
// level Full, where it is no more than that user.
func (s *spec) fork() (pid int, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer write.Close()
	attributes := &syscall.SysProcAttr{Setsid: true}
	groups := s.UID >= 0 && maySetGroups()
	if s.UID >= 0 {
		attributes.Credential = &syscall.Credential{Uid: uint32(s.UID), Gid: uint32(s.UID), NoSetGroups: !groups}
	}
	if s.Full {
		outside := max(s.UID, 0) // without a user of its own it is the init's, who is 0 here
		attributes.Cloneflags = unix.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: outside, Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: outside, Size: 1}}
		attributes.GidMappingsEnableSetgroups = groups
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: !groups}
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{os.Args[0], stageTwo}, &syscall.ProcAttr{
		Env: stageEnvironment(), Files: []uintptr{0, 1, 2, read.Fd(), reportFD, usageFD}, Sys: attributes,
	})
	_ = read.Close()
	if err != nil {
		return 0, err
	}
	for _, fd := range [...]int{0, 1, 2, usageFD} {
		_ = unix.Close(fd) // they are the program's
	}
	return pid, json.NewEncoder(write).Encode(s)
}

// maySetGroups tells whether the user namespace that this is lets groups be given up,
// which one that a user made by himself does not.
func maySetGroups() bool {
	text, err := os.ReadFile("/proc/self/setgroups")
	return err != nil || strings.TrimSpace(string(text)) != "deny"
}

// nobody is who the program is, as it sees itself.
const nobody = 65534

// await waits for the program's end, and buries orphans meanwhile.
func await(child int) report {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return report{Step: "wait", What: err.Error()}
		case pid != child:
		case status.Signaled():
			return report{Ended: true, Signal: int(status.Signal())}
		case status.Exited():
			return report{Ended: true, Status: status.ExitStatus()}
		}
	}
}

// reaped buries what has ended; true when there is no child left.
func reaped() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err == unix.ECHILD:
			return true
		case err != nil || pid == 0:
			return false
		}
	}
}

// stageEnvironment is what the stages themselves have of an environment.
func stageEnvironment() []string {
	env := []string{"GOMAXPROCS=1", "GOTRACEBACK=single"}
	if race, ok := os.LookupEnv("GORACE"); ok {
		env = append(env, "GORACE="+race)
	}
	return env
}

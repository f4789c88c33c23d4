package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is one that was started. Its streams are the caller's to use and to close;
// they end when the process has, whoever inherited them. Usage is what it writes to
// its descriptor 3.
type Process struct {
	Stdin, Stdout, Stderr, Usage *os.File

	init    *exec.Cmd // stage 1
	full    bool
	control *os.File
	report  *os.File
	work    string // to be removed
	kill    sync.Once
}

// Start starts a process. Wait must be called, once, and soon after Kill returns.
func (s *Sandbox) Start(c Command) (*Process, error) {
	if err := Find(s.options.Programs, c.Program); err != nil {
		return nil, err
	}
	dir := s.options.Programs
	if s.level == Full {
		dir = programsDir
	}
	return s.start(&spec{
		Program: filepath.Join(dir, c.Program), Args: c.Args, Env: c.Env, Limits: c.Limits,
	}, c.Network)
}

func (s *Sandbox) start(sp *spec, network bool) (_ *Process, err error) {
	sp.Full, sp.UID, sp.Root, sp.Work = s.level == Full, s.options.UID, s.root(), workDir
	sp.Programs, sp.Read, sp.Write = s.options.Programs, s.options.Read, s.options.Write
	p := &Process{full: sp.Full, init: exec.Command("/proc/self/exe")}
	defer func() {
		if err != nil {
			p.close()
			err = &StartError{Step: "process", Err: err}
		}
	}()
	if !sp.Full {
		if p.work, err = s.makeWork(); err != nil {
			return nil, err
		}
		sp.Work = p.work
	}
	sp.Env = append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + sp.Work, "TMPDIR=" + sp.Work,
	}, sp.Env...)
	p.init.Args = []string{os.Args[0], stageOne}
	p.init.Env = stageEnvironment()
	p.init.SysProcAttr = attributes(sp, network)
	if err = p.run(); err != nil {
		return nil, err
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(endsWithin))
	if json.NewEncoder(p.control).Encode(sp) != nil {
		p.Kill() // the stage is gone, or does not read: Wait tells how it ended
	}
	return p, nil
}

// makeWork makes a directory to work in, which the user whom programs run as may
// enter, and nobody else.
func (s *Sandbox) makeWork() (string, error) {
	work, err := os.MkdirTemp(s.own, workPrefix)
	if err == nil && s.options.UID >= 0 {
		err = os.Chown(work, s.options.UID, s.options.UID)
	}
	return work, err
}

func attributes(sp *spec, network bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if !sp.Full {
		return a
	}
	a.Cloneflags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !network {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if sp.UID < 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return a
}

// run starts stage 1 with its pipes.
func (p *Process) run() (err error) {
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			_ = file.Close()
		}
	}()
	pipe := func(ours **os.File, weRead bool) (their *os.File) {
		if err != nil {
			return nil
		}
		var read, write *os.File
		if read, write, err = os.Pipe(); err != nil {
			return nil
		}
		*ours, their = write, read
		if weRead {
			*ours, their = read, write
		}
		theirs = append(theirs, their)
		return their
	}
	stdin, stdout, stderr := pipe(&p.Stdin, false), pipe(&p.Stdout, true), pipe(&p.Stderr, true)
	more := []*os.File{pipe(&p.control, false), pipe(&p.report, true), pipe(&p.Usage, true)}
	if err != nil {
		return err
	}
	p.init.Stdin, p.init.Stdout, p.init.Stderr, p.init.ExtraFiles = stdin, stdout, stderr, more
	return p.init.Start()
}

// Kill ends the process with all that it started. It may be called at any time, and
// more than once.
func (p *Process) Kill() {
	p.kill.Do(func() {
		_ = p.control.Close()
		if p.full {
			_ = p.init.Process.Kill() // … and the kernel kills the namespace with it
		}
		_ = p.report.SetReadDeadline(time.Now().Add(endsWithin))
	})
}

// Wait waits until the process has ended and nothing of it is left.
func (p *Process) Wait() Exit {
	exit := p.hear()
	p.Kill()
	if _, err := io.Copy(io.Discard, p.report); errors.Is(err, os.ErrDeadlineExceeded) {
		_ = p.init.Process.Kill() // it is our own program, and hangs
	}
	_ = p.init.Wait()
	p.close()
	return exit
}

// hear reads what the stages report, up to the last word.
func (p *Process) hear() Exit {
	words := json.NewDecoder(io.LimitReader(p.report, maxReportBytes))
	for {
		var r report
		if words.Decode(&r) != nil {
			return Exit{Err: errLost}
		}
		if r.Step != "" {
			err := errors.New(r.What)
			if r.Errno != 0 {
				err = r.Errno
			}
			return Exit{Err: &StartError{Step: r.Step, Err: err}}
		}
		if r.Ended {
			return Exit{Status: r.Status, Signal: r.Signal}
		}
	}
}

const maxReportBytes = 16 << 10

// close closes what only this package uses, and removes the directory. The streams
// are the caller's once there is a process.
func (p *Process) close() {
	for _, file := range [...]*os.File{p.control, p.report} {
		if file != nil {
			_ = file.Close()
		}
	}
	if p.init.Process == nil {
		for _, file := range [...]*os.File{p.Stdin, p.Stdout, p.Stderr, p.Usage} {
			if file != nil {
				_ = file.Close()
			}
		}
	}
	if p.work != "" {
		_ = removeAll(p.work)
	}
}

package mcpclient

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
)

// process is a server's program: the leader of a process group, which ends with it.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	exited chan struct{}
	unread chan struct{} // closed when nobody reads stdout any more
	once   sync.Once     // guards unread

	mu     sync.Mutex // guards reaped
	reaped bool       // its number may be another's
}

// inherited are the variables of the node's environment that a program gets.
var inherited = [...]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// environment is a program's, with its secrets in it; those are told to the redactor.
func (s *Server) environment(o *Options, secrets *httprequest.Redactor) ([]string, *Failure) {
	var env []string
	for _, name := range inherited {
		_, other := s.Env[name]
		if text, ok := os.LookupEnv(name); ok && !other {
			env = append(env, name+"="+text)
		}
	}
	for name, text := range s.Env {
		text, failure := o.resolve(s, text, secrets)
		if failure != nil {
			return nil, failure
		}
		env = append(env, name+"="+text)
	}
	slices.Sort(env)
	return env, nil
}

// resolve puts the secret in the place of its name.
func (o *Options) resolve(s *Server, text string, secrets *httprequest.Redactor) (string, *Failure) {
	before, name, ok := httprequest.CutSecret(text)
	if !ok {
		return text, nil
	}
	plain, known := "", false
	if o.Secrets != nil {
		plain, known = o.Secrets(name, s.Origin())
	}
	if !known {
		return "", failed(NotMade, "this node does not have the secret "+name+" for "+s.Origin())
	}
	secrets.Add(name, plain)
	return before + plain, nil
}

// start starts the program. What it writes on stderr goes to tell, line by line.
func (s *Server) start(env []string, tell func(line string)) (*process, *Failure) {
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.Dir, env, attributes()
	p := &process{cmd: cmd, exited: make(chan struct{}), unread: make(chan struct{})}
	var pipes [6]*os.File
	for i := 0; i < len(pipes); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(pipes[:]...)
			return nil, failed(NotMade, "this node has no pipes left for the server")
		}
		pipes[i], pipes[i+1] = r, w
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0], pipes[3], pipes[5]
	if err := cmd.Start(); err != nil {
		closeAll(pipes[:]...)
		return nil, failed(NotMade, "the server could not be started: "+whyNotStarted(err))
	}
	p.stdin, p.stdout, p.stderr = pipes[1], pipes[2], pipes[4]
	closeAll(pipes[0], pipes[3], pipes[5])
	go tellLines(p.stderr, tell)
	go p.reap()
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe without content
		}
	}
}

func whyNotStarted(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "there is no such program or directory"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be run"
	}
	return "the system refused"
}

// Write is told what the server is told, by one goroutine at a time. A program that
// does not read has lost its place.
func (p *process) Write(b []byte) (int, error) {
	_ = p.stdin.SetWriteDeadline(time.Now().Add(readsWithin))
	n, err := p.stdin.Write(b)
	if err != nil {
		go p.kill() // half a message is no place to go on from
	}
	if n == 0 && err != nil {
		return 0, errUnwritten
	}
	return n, err
}

// Close tells the program that there will be no more.
func (p *process) Close() error { return p.stdin.Close() }

// reap waits for the program's end, and takes whatever it left behind along.
func (p *process) reap() {
	awaitExit(p.cmd)
	p.mu.Lock()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // if there is anybody
	_ = p.cmd.Wait()                                      // how it ended does not matter
	p.reaped = true
	p.mu.Unlock()
	close(p.exited)
	// What it said last may still be in the pipe. Whoever left its group may hold the
	// pipe open for ever.
	patience := time.NewTimer(endsWithin)
	defer patience.Stop()
	select {
	case <-p.unread:
	case <-patience.C:
	}
	closeAll(p.stdout, p.stderr)
}

// reader is the program's stdout, for one reader.
type reader struct{ *process }

func (r reader) Read(b []byte) (int, error) { return r.stdout.Read(b) }

func (r reader) Close() error {
	r.once.Do(func() { close(r.unread) })
	return r.stdout.Close()
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may be gone already
	}
}

func (p *process) kill() { p.signal(syscall.SIGKILL) }

// end ends the program: as the protocol wishes it, and then however it takes.
func (p *process) end() {
	_ = p.stdin.Close() // it may be closed already
	for _, next := range [...]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		patience := time.NewTimer(endsWithin)
		select {
		case <-p.exited:
			patience.Stop()
			return
		case <-patience.C:
			p.signal(next)
		}
	}
	<-p.exited
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bookShell is the bash that the page's commands are typed into, on a machine of its
// own. The other machines are directories; testdata/runbook has what leads there.
type bookShell struct {
	*processes
	machines string // a directory of each, by name
	dir      string // where the shell works
	net      string // stands for "10.0.0." on the page
	blocks   int
	typed    io.Writer
	ended    chan string // the exit codes of what was typed
	orders   net.Listener
	asked    chan order
}

// order is what systemctl wants of the test, which answers it.
type order struct {
	words  []string // machine, verb, …
	answer chan error
}

// blockWithin bounds a block of commands, and waitWithin what one of them waits for.
const (
	blockWithin = 3 * time.Minute
	waitWithin  = "--timeout 90s"
)

var waits = regexp.MustCompile(`--timeout \S+`)

func newBookShell(t *testing.T, machines int) *bookShell {
	t.Helper()
	s := &bookShell{machines: t.TempDir(), net: freeNetwork(t, machines), ended: make(chan string, 1), asked: make(chan order)}
	var dirs []string
	for i := range machines {
		dirs = append(dirs, filepath.Join(s.machines, fmt.Sprintf("n%d", i+1), "var/lib/omni"))
	}
	s.processes = newProcesses(t, dirs, "--timing", "2")
	s.scheme, s.unaudited = "https://", true
	s.client.Close()
	for i := range dirs {
		s.api[i], s.raft[i] = fmt.Sprintf("%s%d:7700", s.net, i+1), fmt.Sprintf("%s%d:7800", s.net, i+1)
		s.prepare(s.id(i), s.omni)
	}
	s.prepare("safe", s.omni)
	s.dir = filepath.Join(s.machines, "safe/root")
	require.NoError(t, os.MkdirAll(s.dir, 0o700))
	s.takeOrders()
	s.open()
	return s
}

// freeNetwork is a network of this machine's loopback interface where nobody listens at
// the ports of the page: "127.x.y.".
func freeNetwork(t *testing.T, machines int) string {
	t.Helper()
	for try := range 100 {
		network, free := fmt.Sprintf("127.%d.%d.", 10+(os.Getpid()+try)%200, 1+(os.Getpid()/200+try)%250), true
		for i := range machines {
			for _, port := range []string{"7700", "7800"} {
				l, err := net.Listen("tcp", fmt.Sprintf("%s%d:%s", network, i+1, port))
				if err != nil {
					free = false
					continue
				}
				require.NoError(t, l.Close())
			}
		}
		if free {
			return network
		}
	}
	require.FailNow(t, "no network of the loopback interface is free: whatever listens at port 7700 or 7800 of all addresses (0.0.0.0) must be stopped")
	return ""
}

// prepare makes a machine ready as docs/deploy.md has it.
func (s *bookShell) prepare(machine, program string) {
	s.t.Helper()
	for _, dir := range []string{"etc/omni/tls", "usr/local/bin", "var/lib", "var/tmp"} {
		require.NoError(s.t, os.MkdirAll(filepath.Join(s.machines, machine, dir), 0o700))
	}
	require.NoError(s.t, os.Symlink(program, filepath.Join(s.machines, machine, "usr/local/bin/omni")))
}

// open starts the shell. It ends with the first command that fails.
func (s *bookShell) open() {
	s.t.Helper()
	standIns, err := filepath.Abs("testdata/runbook")
	require.NoError(s.t, err)
	in, typed, err := os.Pipe()
	require.NoError(s.t, err)
	ended, told, err := os.Pipe()
	require.NoError(s.t, err)
	defer in.Close()
	defer told.Close()
	bash := exec.Command("bash", "-euo", "pipefail")
	bash.Dir, bash.Stdin, bash.ExtraFiles = s.dir, in, []*os.File{told}
	bash.Env = []string{
		"PATH=" + standIns + ":" + filepath.Join(s.machines, "safe/usr/local/bin") + ":/usr/bin:/bin",
		"HOME=" + s.dir, "MACHINES=" + s.machines, "MACHINE=safe", "CONTROL=" + s.orders.Addr().String(), "GORACE=atexit_sleep_ms=0",
	}
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(s.t, bash.Start())
	s.typed = typed
	go func() {
		defer close(s.ended)
		for lines := bufio.NewScanner(ended); lines.Scan(); {
			s.ended <- lines.Text()
		}
	}()
	s.t.Cleanup(func() {
		_ = syscall.Kill(-bash.Process.Pid, syscall.SIGKILL) // what it waits for, too
		_ = bash.Wait()                                      // killed: that is what it says
		_, _ = typed.Close(), ended.Close()
	})
}

// types types a block of the page, and gives what it printed.
func (s *bookShell) types(block pageBlock) string {
	s.t.Helper()
	s.blocks++
	at := func(kind string) string { return filepath.Join(s.machines, fmt.Sprintf("block-%d%s", s.blocks, kind)) }
	text := waits.ReplaceAllString(strings.ReplaceAll(block.text, "10.0.0.", s.net), waitWithin)
	require.NoError(s.t, os.WriteFile(at(""), []byte(text), 0o600))
	_, err := fmt.Fprintf(s.typed, ". %[1]s </dev/null >%[1]s.out 2>&1; echo $? >&3\n", at(""))
	require.NoError(s.t, err)
	output := func() string {
		raw, err := os.ReadFile(at(".out"))
		require.NoError(s.t, err)
		return string(raw)
	}
	for deadline := time.After(blockWithin); ; {
		select {
		case code, open := <-s.ended:
			require.True(s.t, open && code == "0", "docs/operations.md, line %d: a command failed:\n%s\n%s", block.line, block.text, output())
			return output()
		case o := <-s.asked:
			o.answer <- s.obeys(o.words)
		case <-deadline:
			require.FailNow(s.t, "it does not end", "docs/operations.md, line %d:\n%s\n%s", block.line, block.text, output())
		}
	}
}

// takeOrders has systemctl's orders come to where the shell is waited for.
func (s *bookShell) takeOrders() {
	s.t.Helper()
	var err error
	s.orders, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = s.orders.Close() })
	go func() {
		for {
			connection, err := s.orders.Accept()
			if err != nil {
				return // the test is over
			}
			line, _ := bufio.NewReader(connection).ReadString('\n')
			o := order{strings.Fields(line), make(chan error)}
			s.asked <- o
			if err := <-o.answer; err != nil {
				_, _ = fmt.Fprint(connection, err)
			} else {
				_, _ = fmt.Fprint(connection, "done")
			}
			_ = connection.Close()
		}
	}()
}

// obeys does what systemctl is to do: machine, verb, and last the unit.
func (s *bookShell) obeys(words []string) error {
	line := strings.Join(words, " ")
	for i := range s.nodes {
		if len(words) < 3 || words[0] != s.id(i) || words[len(words)-1] != "omni" {
			continue
		}
		switch strings.Join(words[1:len(words)-1], " ") {
		case "start", "enable --now":
			return s.boot(i)
		case "stop", "disable --now":
			s.halt(i)
			return nil
		case "restart":
			s.halt(i)
			return s.boot(i)
		case "reload":
			return s.nodes[i].Process.Signal(syscall.SIGHUP)
		}
	}
	return fmt.Errorf("nobody knows how: %s", line)
}

// halt stops a node. One that was removed stops by itself, and is told of it the same.
func (s *bookShell) halt(i int) {
	if s.nodes[i] == nil {
		return
	}
	s.signal(i, syscall.SIGTERM)
	late := time.AfterFunc(time.Minute, func() { _ = s.nodes[i].Process.Kill() })
	err := s.nodes[i].Wait()
	require.True(s.t, late.Stop(), "%s did not stop within a minute", s.id(i))
	if err != nil {
		require.Positive(s.t, s.said(i, "was removed from its cluster"), "%s: %v", s.id(i), err)
	}
	s.nodes[i] = nil
}

// boot starts what the unit says, with the machine's own flags.
func (s *bookShell) boot(i int) error {
	if s.nodes[i] != nil {
		return fmt.Errorf("%s runs already", s.id(i))
	}
	root := filepath.Join(s.machines, s.id(i))
	env, err := os.ReadFile(filepath.Join(root, "etc/omni/omni.env"))
	if err != nil {
		return err
	}
	flags, named := strings.CutPrefix(strings.TrimSpace(strings.ReplaceAll(string(env), "\\\n", "")), `OMNI_SERVER_FLAGS="`)
	if !named || !strings.HasSuffix(flags, `"`) {
		return fmt.Errorf("omni.env is not understood: %s", env)
	}
	var start string
	for line := range strings.Lines(deployed(s.t, "systemd/omni.service")) {
		if line, found := strings.CutPrefix(line, "ExecStart="); found {
			start = strings.NewReplacer("%S", "/var/lib", "$OMNI_SERVER_FLAGS", strings.TrimSuffix(flags, `"`)).Replace(strings.TrimSpace(line))
		}
	}
	args := strings.Fields(start)
	for i, arg := range args {
		if strings.HasPrefix(arg, "/") {
			args[i] = root + arg
		}
	}
	s.launch(i, args[0], append(args[1:], s.flags...))
	return nil
}

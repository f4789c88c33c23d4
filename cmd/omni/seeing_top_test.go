package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/omnikernel/omnikernel/cmd/omni/top"
)

// seenTop: omni top tells what the nodes export; on a terminal it draws in place until q
// or Ctrl-C, and leaves the terminal as it was.
func seenTop(t *testing.T, p *processes) {
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), p.omni, append([]string{"top", "--every", "300ms"}, args...)...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "LC_ALL=C.UTF-8")
		for i := range p.api {
			cmd.Args = append(cmd.Args, "--server", p.url(i))
		}
		return cmd
	}
	output, err := command("--once", "-o", "json").Output()
	require.NoError(t, err)
	var view top.View
	require.NoError(t, json.Unmarshal(output, &view))
	require.Len(t, view.Nodes, 3)
	require.NotEmpty(t, view.Leader)
	agents := 0
	for _, n := range view.Agents {
		agents += n
	}
	require.Positive(t, agents)
	require.Positive(t, view.RequestsPerS, "its own, at least")
	require.NotEmpty(t, view.Slowest)

	output, err = command("--once").Output()
	require.NoError(t, err)
	require.NotContains(t, string(output), "\x1b", "plain when piped")
	for _, want := range []string{"leader n", "events/s", "outbox", "agents  defined"} {
		require.Contains(t, string(output), want)
	}

	for name, key := range map[string]string{"q": "q", "Ctrl-C": "\x03"} {
		terminal, theirs, err := pty.Open()
		require.NoError(t, err)
		require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: 120}))
		modes := func() unix.Termios {
			m, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
			require.NoError(t, err)
			return *m
		}
		before := modes()
		cmd := command()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		require.NoError(t, cmd.Start())
		screen := &typed{}
		go screen.take(terminal)
		require.Eventually(t, func() bool {
			frames := strings.Count(screen.text(), "events/s")
			return frames >= 2 && strings.Contains(screen.text(), "\x1b[") // drawn again, in place
		}, time.Minute, 20*time.Millisecond, "%s", name)
		require.NotEqual(t, before, modes(), "keys come one by one")
		_, err = io.WriteString(terminal, key)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "%s ends it", name)
		require.Equal(t, before, modes(), "the terminal is as it was after %s", name)
		require.NoError(t, theirs.Close())
		require.NoError(t, terminal.Close())
	}
}

// typed is what came out of a terminal.
type typed struct {
	mu  sync.Mutex // guards all
	all strings.Builder
}

func (s *typed) take(from io.Reader) {
	piece := make([]byte, 4096)
	for {
		n, err := from.Read(piece)
		s.mu.Lock()
		s.all.Write(piece[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *typed) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

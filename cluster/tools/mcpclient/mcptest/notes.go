package mcptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Calls is how often the servers of a directory noted a line: "TOOL/ID", or "started".
// A line that ends with a slash counts every one that begins so.
func Calls(t testing.TB, dir, line string) (n int) {
	t.Helper()
	for _, one := range lines(t, dir) {
		if one == line || strings.HasSuffix(line, "/") && strings.HasPrefix(one, line) {
			n++
		}
	}
	return n
}

// Running are the servers of a directory that have not ended.
func Running(t testing.TB, dir string) (pids []int) {
	t.Helper()
	for _, one := range lines(t, dir) {
		text, ok := strings.CutPrefix(one, "pid/")
		if !ok {
			continue
		}
		pid, err := strconv.Atoi(text)
		require.NoError(t, err)
		if !Ended(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Ended tells whether a process has ended, though nobody may have asked after it yet.
func Ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	status, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(status)), "Z")
}

func lines(t testing.TB, dir string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "calls"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(string(content), "\n")
}

// Hold holds calls back, "TOOL-ID", until they are released.
func Hold(t testing.TB, dir, name string) (release func()) {
	t.Helper()
	file := filepath.Join(dir, "hold-"+name)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	return func() { require.NoError(t, os.Remove(file)) }
}

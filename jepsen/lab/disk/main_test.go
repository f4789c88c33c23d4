//go:build root && linux

package disk_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// The environment of a child process that uses disks: what it does, where and in
// which round.
const (
	childKind  = "OMNI_DISK_TEST_CHILD"
	childDir   = "OMNI_DISK_TEST_DIR"
	childRound = "OMNI_DISK_TEST_ROUND"
)

var children = map[string]func(dir string, round int) error{"bolt": useBolt, "wal": useWAL, "hold": hold}

// TestMain runs the children, too.
func TestMain(m *testing.M) {
	kind := os.Getenv(childKind)
	if kind == "" {
		os.Exit(run(m))
	}
	var round int
	_, err := fmt.Sscan(os.Getenv(childRound), &round)
	if err == nil {
		err = children[kind](os.Getenv(childDir), round)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is this program as another process.
func child(t *testing.T, kind, dir string, round int) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childKind+"="+kind, childDir+"="+dir, childRound+"="+fmt.Sprint(round))
	return cmd
}

func run(m *testing.M) int {
	var err error
	if builtDir, err = os.MkdirTemp("", "omni-disk-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(builtDir)
	return m.Run()
}

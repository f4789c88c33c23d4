//go:build root

package lab_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab"
)

// Variables of the environment of a process that is left alone with its lab.
const (
	orphanDir  = "LAB_TEST_ORPHAN_DIR"
	orphanOmni = "LAB_TEST_ORPHAN_OMNI"
)

// beOrphaned is that process: it opens a lab, with a file system in it, says so,
// and waits to be killed.
func beOrphaned() {
	err := func() error {
		l, err := lab.Open(context.Background(), lab.Plan{Dir: os.Getenv(orphanDir), Omni: os.Getenv(orphanOmni), Nodes: 3})
		if err != nil {
			return err
		}
		disk := filepath.Join(os.Getenv(orphanDir), "disk")
		for _, command := range [][]string{
			{"truncate", "--size", "16M", disk},
			{"mkfs.ext4", "-q", disk},
			{"mount", "-o", "loop", disk, l.Node("n1").Data()},
			{"truncate", "--size", "16M", disk + "2"},
			{"losetup", "--find", disk + "2"}, // unmounting does not detach this one
		} {
			if said, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w: %s", command, err, said)
			}
		}
		return l.Start(context.Background())
	}()
	fmt.Println("open:", err)
	select {}
}

// What a program has left that was killed is removed, and nothing of a lab whose
// program lives.
func TestSweep(t *testing.T) {
	alive := newCluster(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	orphan := exec.Command(self)
	orphan.Env = append(os.Environ(), orphanDir+"="+dir, orphanOmni+"="+omni)
	orphan.Stderr = os.Stderr
	says, err := orphan.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, orphan.Start())
	defer func() { _ = orphan.Process.Kill() }()
	line, err := bufio.NewReader(says).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open: <nil>\n", line)
	pid := orphan.Process.Pid
	there := strings.Join(leftovers(t, pid, dir), ", ")
	for _, what := range []string{"-n3", ".json", "a mount", "process", "loop device"} {
		require.Contains(t, there, what, "it is there as long as its program")
	}
	_, err = lab.Sweep()
	require.NoError(t, err)
	require.Equal(t, there, strings.Join(leftovers(t, pid, dir), ", "), "its program lives")

	require.NoError(t, orphan.Process.Kill())
	_ = orphan.Wait() // killed: that is what it says
	swept, err := lab.Sweep()
	require.NoError(t, err)
	name := fmt.Sprintf("omj-%d-", pid)
	require.Contains(t, strings.Join(swept.Labs, " "), name)
	for _, node := range []string{"-n1", "-n2", "-n3"} {
		require.Regexp(t, name+`\d+`+node, swept.Namespaces)
	}
	require.Contains(t, swept.Mounts, filepath.Join(dir, "n1"))
	require.NotEmpty(t, swept.Loops)
	// A loop device that somebody else has open for a moment goes when that one has closed it.
	for end := time.Now().Add(30 * time.Second); len(leftovers(t, pid, dir)) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	require.Empty(t, leftovers(t, pid, dir))
	alive.commit()

	swept, err = lab.Sweep()
	require.NoError(t, err)
	require.NotContains(t, strings.Join(swept.Labs, " "), name, "a second time there is nothing")
}

// Close removes everything, and says what should have been gone.
func TestClose(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	l, err := lab.Open(t.Context(), lab.Plan{Dir: dir, Omni: omni, Nodes: 3})
	require.NoError(t, err)
	other, err := lab.Open(t.Context(), lab.Plan{Dir: t.TempDir(), Omni: omni, Nodes: 1})
	require.NoError(t, err, "another lab at the same time")
	require.NotEqual(t, l.Address(), other.Address())
	require.NoError(t, other.Close())
	var order []string
	l.Defer(func() error { order = append(order, "first"); return nil })
	l.Defer(func() error { order = append(order, "second"); return nil })
	forgotten := filepath.Join(dir, "a b")
	require.NoError(t, os.Mkdir(forgotten, 0o755))
	said, err := exec.Command("mount", "-t", "tmpfs", "none", forgotten).CombinedOutput()
	require.NoError(t, err, "%s", said)
	err = l.Close()
	require.ErrorContains(t, err, "mounts ["+forgotten+"]")
	require.Equal(t, []string{"second", "first"}, order)
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Node("n1").Start(), lab.ErrClosed)
	for _, left := range leftovers(t, os.Getpid(), dir) {
		require.NotContains(t, left, l.Name())
	}

	for _, bad := range []lab.Plan{
		{Omni: omni, Nodes: 3},
		{Dir: dir, Omni: omni},
		{Dir: dir, Omni: omni, Nodes: 10},
		{Dir: dir, Omni: dir, Nodes: 3},
		{Dir: dir, Omni: filepath.Join(dir, "none"), Nodes: 3},
		{Dir: dir, Omni: omni, Nodes: 3, Data: []string{dir}},
	} {
		_, err := lab.Open(t.Context(), bad)
		require.Error(t, err, "%+v", bad)
	}
}

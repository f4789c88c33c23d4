//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The stages are this test's program.
func TestMain(m *testing.M) {
	Enter()
	os.Exit(m.Run())
}

// common makes a directory that every user may enter, whatever the environment says
// of temporary ones: programs run as another user.
func common(t *testing.T) string {
	t.Helper()
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		passable := true
		for dir := base; dir != "/"; dir = filepath.Dir(dir) {
			file, err := os.Stat(dir)
			passable = passable && err == nil && file.Mode()&0o001 != 0
		}
		if !passable {
			continue
		}
		dir, err := os.MkdirTemp(base, "sandbox-test-")
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
		require.NoError(t, os.Chmod(dir, 0o755))
		return dir
	}
	require.Fail(t, "there is no directory that everybody may enter")
	return ""
}

// box is a sandbox with its directory of programs.
type box struct {
	*Sandbox
	programs, shared string
}

func open(t *testing.T, level Level) *box {
	t.Helper()
	dir := common(t)
	b := &box{programs: filepath.Join(dir, "programs"), shared: filepath.Join(dir, "shared")}
	require.NoError(t, os.Mkdir(b.programs, 0o755))
	require.NoError(t, os.Mkdir(b.shared, 0o700))
	require.NoError(t, os.Chmod(b.shared, 0o777))
	var err error
	b.Sandbox, err = Open(Options{Level: level, Dir: filepath.Join(dir, "own"), Programs: b.programs, Write: []string{b.shared}, UID: nobody})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, b.Close())
		left, err := os.ReadDir(filepath.Join(dir, "own"))
		assert.NoError(t, err)
		assert.Empty(t, left)
	})
	assert.Equal(t, level, b.Level())
	return b
}

// atBothLevels runs a test with all that the kernel gives, and with what is left
// without it.
func atBothLevels(t *testing.T, test func(t *testing.T, b *box)) {
	for _, level := range []Level{Full, Plain} {
		t.Run(string(level), func(t *testing.T) { test(t, open(t, level)) })
	}
}

func (b *box) script(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(b.programs, name), []byte("#!/bin/sh\n"+text), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(b.programs, name), 0o755))
}

var roomy = Limits{CPUSeconds: 30, MemoryBytes: 1 << 30, FileBytes: 16 << 20, Processes: 64}

// run runs a script to its end.
func (b *box) run(t *testing.T, text string, limits Limits, env ...string) (stdout, stderr string, exit Exit) {
	t.Helper()
	b.script(t, "script", text)
	p, err := b.Start(Command{Program: "script", Env: env, Limits: limits})
	require.NoError(t, err)
	watch := time.AfterFunc(time.Minute, p.Kill)
	defer watch.Stop()
	require.NoError(t, p.Stdin.Close())
	out, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	talk, err := io.ReadAll(p.Stderr)
	require.NoError(t, err)
	exit = p.Wait()
	for _, file := range []*os.File{p.Stdout, p.Stderr, p.Usage} {
		require.NoError(t, file.Close())
	}
	return string(out), string(talk), exit
}

// running counts processes whose arguments have a word.
func running(word string) (count int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		content, _ := os.ReadFile(file)
		if strings.Contains(string(content), word) {
			count++
		}
	}
	return count
}

func TestProgramRuns(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *box) {
		stdout, stderr, exit := b.run(t, `cat; echo "$WORD $(pwd) $HOME $TMPDIR"; echo talk >&2; echo x > file; cat file; exit 7`, roomy, "WORD=hello")
		assert.Equal(t, Exit{Status: 7}, exit)
		lines := strings.Fields(stdout)
		require.Len(t, lines, 5, stdout)
		assert.Equal(t, "hello", lines[0])
		assert.Equal(t, lines[1], lines[2])
		assert.Equal(t, lines[1], lines[3])
		assert.Equal(t, "talk\n", stderr)
		left, err := os.ReadDir(b.own)
		require.NoError(t, err)
		assert.Len(t, left, 2, "the working directory is gone: %v", left)
	})
}

func TestUsageAndStdin(t *testing.T) {
	b := open(t, Full)
	b.script(t, "script", `cat; echo used >&3`)
	p, err := b.Start(Command{Program: "script", Limits: roomy})
	require.NoError(t, err)
	_, err = io.WriteString(p.Stdin, "given")
	require.NoError(t, err)
	require.NoError(t, p.Stdin.Close())
	out, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	used, err := io.ReadAll(p.Usage)
	require.NoError(t, err)
	assert.Equal(t, Exit{}, p.Wait())
	assert.Equal(t, "given", string(out))
	assert.Equal(t, "used\n", string(used))
}

// A program has no more than it was given.
func TestProgramIsClean(t *testing.T) {
	t.Setenv("OMNI_SECRET_X", "a-secret-of-the-node")
	atBothLevels(t, func(t *testing.T, b *box) {
		stdout, _, exit := b.run(t, `env | cut -d= -f1 | sort | tr '\n' ' '`, roomy)
		require.Equal(t, Exit{}, exit)
		assert.Equal(t, "HOME LANG PATH PWD TMPDIR ", stdout)
		stdout, _, _ = b.run(t, `exec ls /proc/self/fd`, roomy)
		assert.Equal(t, "0\n1\n2\n3\n4\n", stdout, "4 is what ls reads")
		stdout, _, _ = b.run(t, `grep -E '^(NoNewPrivs|CapPrm|CapEff|CapAmb|Uid):' /proc/self/status | tr -s '\t\n' '  '`, roomy)
		assert.Contains(t, stdout, "CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1")
		if os.Geteuid() == 0 {
			assert.Contains(t, stdout, "Uid: 65534 65534")
		}
		stdout, _, _ = b.run(t, `nice`, roomy)
		nice, err := strconv.Atoi(strings.TrimSpace(stdout))
		require.NoError(t, err, stdout)
		assert.GreaterOrEqual(t, nice, 10, "the node goes first")
		stdout, _, _ = b.run(t, `ulimit -t; ulimit -v; ulimit -f; ulimit -n; ulimit -c`, roomy)
		assert.Equal(t, fmt.Sprintf("30\n%d\n%d\n256\n0\n", roomy.MemoryBytes>>10, roomy.FileBytes>>9), stdout)
	})
}

// At level Full a program sees the system to read, and nothing else.
func TestProgramIsAlone(t *testing.T) {
	b := open(t, Full)
	private := filepath.Join(b.programs, "..", "private")
	require.NoError(t, os.WriteFile(private, []byte("x"), 0o644))
	require.NoError(t, os.Chmod(private, 0o644))
	stdout, stderr, _ := b.run(t, `
echo processes $(ls /proc | grep -c '^[0-9]')
echo network $(tail -n +3 /proc/net/dev | cut -d: -f1) $(tail -n +2 /proc/net/route | wc -l)
echo root $(ls /)
cat `+private+` 2>/dev/null || echo no file
for f in /usr/x /etc/x /programs/x /x /dev/x /proc/sys/kernel/hostname; do (echo x > $f) 2>/dev/null && echo wrote $f; done
mount -t tmpfs x /work 2>/dev/null && echo mounted
unshare -r true 2>/dev/null && unshare -rm mount -t tmpfs x /usr 2>/dev/null; ls /usr/bin/env
echo mine > `+b.shared+`/file && echo wrote
kill -9 1 2>/dev/null; echo alive
`, roomy)
	lines := strings.Split(stdout, "\n")
	require.GreaterOrEqual(t, len(lines), 7, stdout+stderr)
	count, err := strconv.Atoi(strings.TrimPrefix(lines[0], "processes "))
	require.NoError(t, err, stdout)
	assert.LessOrEqual(t, count, 6)
	assert.Equal(t, "network lo 0", lines[1], "which is down")
	assert.Equal(t, "root bin dev etc", lines[2][:16])
	assert.NotContains(t, lines[2], "home")
	assert.Equal(t, []string{"no file", "/usr/bin/env", "wrote", "alive", ""}, lines[3:])
	content, err := os.ReadFile(filepath.Join(b.shared, "file"))
	require.NoError(t, err)
	assert.Equal(t, "mine\n", string(content))
}

// What a program leaves running goes with it, and so does everything when it is
// killed: processes that left its group and session too.
func TestNothingIsLeft(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *box) {
		word := "86411" + strconv.Itoa(os.Getpid())
		_, _, exit := b.run(t, `sleep `+word+`0 & setsid sleep `+word+`1 & (setsid sh -c 'setsid sleep `+word+`2 & setsid sleep `+word+`3' &) ; exit 0`, roomy)
		assert.Equal(t, Exit{}, exit)
		assert.Zero(t, running(word))

		b.script(t, "script", `setsid sleep `+word+`4 & (setsid sleep `+word+`5 &); chmod 0 .; echo ready; sleep `+word+`6`)
		p, err := b.Start(Command{Program: "script", Limits: roomy})
		require.NoError(t, err)
		ready := make([]byte, 6)
		_, err = io.ReadFull(p.Stdout, ready)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return running(word) > 0 }, 10*time.Second, time.Millisecond)
		p.Kill()
		p.Wait()
		assert.Zero(t, running(word))
		left, err := os.ReadDir(b.own)
		require.NoError(t, err)
		assert.Len(t, left, 2, "%v", left)
	})
}

// A program that forks as much as it can gets no further than its limit, and is over
// when it is killed.
func TestForks(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *box) {
		word := "86412" + strconv.Itoa(os.Getpid())
		few := roomy
		few.Processes = 8
		// A shell that cannot fork ends.
		_, stderr, exit := b.run(t, `i=0; while [ $i -lt 200 ]; do setsid sleep `+word+` & i=$((i+1)); done; echo all >&2; wait`, few)
		assert.NotZero(t, exit.Status)
		assert.NotContains(t, stderr, "all")
		assert.Zero(t, running(word))
	})
}

func TestLimits(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *box) {
		little := Limits{CPUSeconds: 1, MemoryBytes: 128 << 20, FileBytes: 1 << 20, Processes: 64}
		_, _, exit := b.run(t, `while :; do :; done`, little)
		assert.Equal(t, int(unix.SIGXCPU), exit.Signal)
		_, stderr, exit := b.run(t, `head -c 400000000 /dev/zero | tail > /dev/null`, little)
		assert.Equal(t, Exit{Status: 1}, exit, stderr)
		_, _, exit = b.run(t, `exec head -c 2000000 /dev/zero > file`, little)
		assert.NotEqual(t, Exit{}, exit)
		if b.Level() == Full {
			_, _, exit = b.run(t, `for i in 1 2 3 4; do head -c 500000 /dev/zero > file$i || exit 9; done`, little)
			assert.Equal(t, Exit{Status: 9}, exit, "all files together")
		}
	})
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *box) {
		outside := filepath.Join(filepath.Dir(b.programs), "outside")
		require.NoError(t, os.WriteFile(outside, []byte("#!/bin/sh\n"), 0o600))
		require.NoError(t, os.Chmod(outside, 0o755))
		b.script(t, "good", "exit 3")
		b.script(t, "data", "exit 0")
		require.NoError(t, os.Chmod(filepath.Join(b.programs, "data"), 0o644))
		require.NoError(t, os.Mkdir(filepath.Join(b.programs, "folder"), 0o755))
		for name, target := range map[string]string{"out": outside, "up": "../outside", "inside": "good", "nowhere": "gone", "sh": "/bin/sh"} {
			require.NoError(t, os.Symlink(target, filepath.Join(b.programs, name)))
		}
		for name, want := range map[string]error{
			"": ErrName, "../outside": ErrName, "/bin/sh": ErrName, ".hidden": ErrName, "a b": ErrName, "x\x00": ErrName, "folder/x": ErrName,
			"out": ErrAbsent, "up": ErrAbsent, "nowhere": ErrAbsent, "sh": ErrAbsent, "none": ErrAbsent,
			"data": ErrExecutable, "folder": ErrExecutable,
		} {
			_, err := b.Start(Command{Program: name, Limits: roomy})
			assert.ErrorIs(t, err, want, name)
		}
		for name, want := range map[string]Exit{"good": {Status: 3}, "inside": {Status: 3}} {
			p, err := b.Start(Command{Program: name, Limits: roomy})
			require.NoError(t, err)
			assert.Equal(t, want, p.Wait(), name)
		}

		for text, want := range map[string]unix.Errno{"#!/bin/none\n": unix.ENOENT, "no magic\n": unix.ENOEXEC} {
			require.NoError(t, os.WriteFile(filepath.Join(b.programs, "broken"), []byte(text), 0o600))
			require.NoError(t, os.Chmod(filepath.Join(b.programs, "broken"), 0o755))
			for _, memory := range []uint64{1 << 30, 1 << 20} {
				limits := roomy
				limits.MemoryBytes = memory
				p, err := b.Start(Command{Program: "broken", Limits: limits})
				require.NoError(t, err)
				var start *StartError
				exit := p.Wait()
				require.ErrorAs(t, exit.Err, &start)
				assert.Equal(t, "exec", start.Step)
				assert.ErrorIs(t, exit.Err, want)
			}
		}
	})
}

// The reason is told before a program fails of it: a user that may not enter.
func TestDirectoryThatNobodyMayEnter(t *testing.T) {
	dir := common(t)
	programs := filepath.Join(dir, "programs")
	require.NoError(t, os.Mkdir(programs, 0o700))
	_, err := Open(Options{Level: Plain, Dir: filepath.Join(dir, "own"), Programs: programs, UID: nobody})
	if os.Geteuid() == 0 {
		assert.ErrorContains(t, err, "user 65534, whom programs run as, cannot enter "+programs)
	} else {
		assert.NoError(t, err)
	}
	_, err = Open(Options{Level: Auto, Dir: filepath.Join(dir, "own"), Programs: filepath.Join(dir, "none"), UID: nobody})
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(Options{Level: "much", Dir: filepath.Join(dir, "own"), Programs: programs})
	assert.ErrorContains(t, err, "must be auto, full or plain")
}

// What a node left that ended without warning is removed by the next; what another
// one uses is not.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := common(t)
	o := Options{Level: Auto, Dir: filepath.Join(dir, "own"), Programs: dir, UID: nobody}
	left := filepath.Join(o.Dir, ownPrefix+"1", workPrefix+"2")
	require.NoError(t, os.MkdirAll(left, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(left, "file"), nil, 0o600))
	require.NoError(t, os.Chmod(left, 0))
	first, err := Open(o)
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Dir(left))
	second, err := Open(o)
	require.NoError(t, err)
	assert.DirExists(t, first.own)
	require.NoError(t, errors.Join(first.Close(), second.Close()))
}

// Where the kernel gives no namespaces, auto makes do without, and says why; full
// does not start.
func TestAutoTakesWhatThereIs(t *testing.T) {
	const inside = "SANDBOX_TEST_INSIDE"
	if os.Getenv(inside) == "" {
		// A user namespace in which there are no mount namespaces.
		self := exec.Command("/bin/sh", "-c", `echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$0" -test.run 'TestAutoTakesWhatThereIs$' -test.v`, os.Args[0])
		self.Env = append(os.Environ(), inside+"=1")
		self.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		output, err := self.CombinedOutput()
		require.NoError(t, err, "%s", output)
		assert.Contains(t, string(output), "--- PASS: TestAutoTakesWhatThereIs")
		return
	}
	dir := common(t)
	o := Options{Level: Auto, Dir: filepath.Join(dir, "own"), Programs: dir}
	s, err := Open(o)
	require.NoError(t, err)
	assert.Equal(t, Plain, s.Level())
	assert.ErrorIs(t, s.Why(), unix.ENOSPC)
	stdout, _, exit := (&box{Sandbox: s, programs: dir}).run(t, "echo here", roomy)
	assert.Equal(t, Exit{}, exit)
	assert.Equal(t, "here\n", stdout)
	require.NoError(t, s.Close())
	o.Level = Full
	_, err = Open(o)
	assert.ErrorContains(t, err, "this machine does not let programs have namespaces of their own, which is asked for")
	o.Level, o.UID = Auto, nobody
	_, err = Open(o)
	assert.ErrorContains(t, err, "there may be no user 65534 here")
}

//go:build linux

package program

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// The stages of sandboxes are this test's program.
func TestMain(m *testing.M) {
	sandbox.Enter()
	os.Exit(m.Run())
}

// bench is a node's programs, behind the registry that calls go through.
type bench struct {
	t        *testing.T
	kind     *Kind
	registry *tools.Registry
	dir      string
	log      bytes.Buffer
	revision uint64
}

const apiKey = "a-secret-that-nobody-else-says"

func newBench(t *testing.T, level sandbox.Level) *bench {
	t.Helper()
	b := &bench{t: t, dir: filepath.Join(t.TempDir(), "programs")}
	require.NoError(t, os.Mkdir(b.dir, 0o755))
	require.NoError(t, os.Chmod(b.dir, 0o755)) // whatever the umask is
	uid := 65534
	if level == sandbox.Plain {
		uid = os.Getuid() // whoever else may not enter the test's directory
	}
	b.kind = NewKind(Options{
		Sandbox: sandbox.Options{Level: level, Dir: filepath.Join(t.TempDir(), "own"), Programs: b.dir, UID: uid},
		Secrets: func(name, receiver string) (string, bool) { return apiKey, name == "KEY" && receiver == "exec:script" },
		Logger:  hclog.New(&hclog.LoggerOptions{Output: &b.log, Level: hclog.Debug}),
	})
	require.NoError(t, b.kind.Open())
	require.NoError(t, b.kind.Open())
	var err error
	b.registry, err = tools.New(tools.Options{Kinds: []tools.Kind{b.kind}})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, b.kind.Close())
		left, err := os.ReadDir(b.kind.options.Sandbox.Dir)
		assert.NoError(t, err)
		assert.Empty(t, left)
	})
	return b
}

func atBothLevels(t *testing.T, test func(t *testing.T, b *bench)) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Plain} {
		t.Run(string(level), func(t *testing.T) { test(t, newBench(t, level)) })
	}
}

// manifest is of a tool whose program is the text.
func (b *bench) manifest(script string, config map[string]any) *kerneltools.Manifest {
	b.t.Helper()
	path := filepath.Join(b.dir, "script")
	require.NoError(b.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o600))
	require.NoError(b.t, os.Chmod(path, 0o755))
	all := map[string]any{"program": "script"}
	for name, member := range config {
		all[name] = member
	}
	raw, problem := value.FromGo(all)
	require.Nil(b.t, problem)
	m := &kerneltools.Manifest{Name: "test.script", Adapter: "exec", Config: raw, Secrets: []string{"KEY"}}
	require.Nil(b.t, b.registry.Check(m))
	return m
}

func (b *bench) call(ctx context.Context, m *kerneltools.Manifest, args any, timeout time.Duration) tools.Result {
	b.t.Helper()
	raw, problem := value.FromGo(args)
	require.Nil(b.t, problem)
	b.revision++
	return b.registry.Run(ctx, tools.Request{
		Tool: m.Name, Args: raw, IdempotencyKey: "agent-7-1", Timeout: timeout, Revision: b.revision, Manifest: m,
	})
}

func (b *bench) run(script string, config map[string]any) tools.Result {
	b.t.Helper()
	return b.call(b.t.Context(), b.manifest(script, config), map[string]any{"city": "Oslo"}, time.Minute)
}

// gone waits until no process has the word among its arguments, and no directory of a
// call is left.
func (b *bench) gone(word string) {
	b.t.Helper()
	own := filepath.Join(b.kind.options.Sandbox.Dir, "*", "omni-tool-*")
	require.Eventually(b.t, func() bool {
		left, _ := filepath.Glob(own)
		return running(word) == 0 && len(left) == 0
	}, 30*time.Second, 5*time.Millisecond)
}

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

// TO-13: arguments are JSON on standard input, the result is JSON on standard output,
// what it cost may stand on descriptor 3, and secrets are in the environment, and in
// nothing that comes back.
func TestProgramAnswers(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *bench) {
		got := b.run(`echo 'tokens=7, usd-micros=12' >&$OMNI_USAGE_FD; cat`, nil)
		assert.JSONEq(t, `{"city":"Oslo"}`, string(got.Value.AppendJSON(nil)), got.Message)
		assert.Equal(t, kerneltools.Usage{Metered: true, Tokens: 7, USDMicros: 12}, got.Usage)

		got = b.run(`echo "my key is $KEY" >&2; printf '{"%s": ["%s", "%s", "%s", "%s", "%s"]}' "$KEY" "$KEY" "$1" "$MODE" "$OMNI_TOOL" "$OMNI_IDEMPOTENCY_KEY"`,
			map[string]any{"args": []any{"a b"}, "env": map[string]any{"KEY": "Bearer secret:KEY", "MODE": "fast"}})
		assert.JSONEq(t, `{"Bearer secret:KEY": ["Bearer secret:KEY", "a b", "fast", "test.script", "agent-7-1"]}`, string(got.Value.AppendJSON(nil)), got.Message)
		assert.Contains(t, b.log.String(), "my key is Bearer secret:KEY")
		assert.NotContains(t, b.log.String(), apiKey)
		got = b.run(`echo "{$KEY"`, map[string]any{"env": map[string]any{"KEY": "secret:KEY"}})
		assert.Equal(t, failure.ToolResultInvalid, got.Code)
		assert.NotContains(t, got.Message, apiKey)
	})
}

// Every failure has its code, and nothing of the program is left.
func TestFailures(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *bench) {
		word := "86421" + strconv.Itoa(os.Getpid())
		for _, row := range []struct {
			name, script string
			config       map[string]any
			code         failure.Code
			says         string
			passing      bool
		}{
			{"status", "echo 1; exit 3", nil, failure.ToolFailed, "the program ended with status 3", false},
			{"may pass", "exit 75", nil, failure.ToolFailed, "the program ended with status 75", true},
			{"signal", "kill -SEGV $$", nil, failure.ToolCrashed, "the program was ended by signal 11", true},
			{"flood", "sleep " + word + "0 & yes", nil, failure.ToolResultTooLarge, "the program wrote more than 65536 bytes, and was ended", false},
			{"10 MB", "head -c 10000000 /dev/zero", nil, failure.ToolResultTooLarge, "the program wrote more than 65536 bytes, and was ended", false},
			{"flood of errors", "head -c 10000000 /dev/zero >&2; head -c 1000000 /dev/zero >&3; echo 1", nil, "", "", false},
			{"nothing", "cat > /dev/null", nil, failure.ToolResultInvalid, "the program wrote nothing: it must write a JSON value, and be it null", false},
			{"no JSON", "echo hello", nil, failure.ToolResultInvalid, "what the program wrote is no JSON value: ", false},
			{"half", `printf '{"a": 1'`, nil, failure.ToolResultInvalid, "what the program wrote is no JSON value: ", false},
			{"two", `echo 1 2`, nil, failure.ToolResultInvalid, "what the program wrote is no JSON value: ", false},
			{"CPU", "while :; do :; done", map[string]any{"limits": map[string]any{"cpu_seconds": 1}}, failure.ToolLimitExceeded, "the program used more than 1 s of CPU time, and was ended", false},
			{"memory", "head -c 200000000 /dev/zero | tail > /dev/null", map[string]any{"limits": map[string]any{"memory_bytes": 64 << 20}}, failure.ToolFailed, "the program ended with status 1", false},
			{"left behind", "setsid sleep " + word + "2 & echo 1", nil, "", "", false},
		} {
			got := b.run(row.script, row.config)
			assert.Equal(t, row.code, got.Code, "%s: %s", row.name, got.Message)
			assert.Equal(t, row.code == "", got.OK, row.name)
			assert.True(t, strings.HasPrefix(got.Message, row.says), "%s: %s", row.name, got.Message)
		}
		b.gone(word)
		if b.kind.sandbox().Level() == sandbox.Full { // as root, which the other is here, there is no limit
			got := b.run("for i in 1 2 3 4 5 6 7 8 9 10; do sleep "+word+"1 & done; wait", map[string]any{"limits": map[string]any{"processes": 4}})
			assert.Equal(t, tools.Fail(failure.ToolFailed, "the program ended with status 2"), got)
			b.gone(word)
		} else {
			got := b.run("exec head -c 3000000 /dev/zero > file", map[string]any{"limits": map[string]any{"file_bytes": 1 << 20}})
			assert.Equal(t, "TOOL_LIMIT_EXCEEDED: the program wrote more than 1048576 bytes to a file, and was ended", string(got.Code)+": "+got.Message)
		}
	})
}

// A failure that may pass is tried again, where the tool is idempotent.
func TestPassingFailures(t *testing.T) {
	b := newBench(t, sandbox.Full)
	for script, want := range map[string]bool{"exit 75": true, "exit 1": false, "kill -KILL $$": true} {
		m := b.manifest(script, nil)
		caller, err := b.kind.Make(m)
		require.NoError(t, err)
		assert.Equal(t, want, caller.Call(t.Context(), tools.Request{Tool: m.Name, Args: value.EmptyMap}).Passing, script)
	}
}

// A program that hangs is ended with its time, and one whose call is withdrawn at
// once, with all that they started.
func TestHangingProgramsAreEnded(t *testing.T) {
	atBothLevels(t, func(t *testing.T, b *bench) {
		word := "86422" + strconv.Itoa(os.Getpid())
		m := b.manifest("trap '' TERM INT HUP; setsid sleep "+word+"0 & (setsid setsid sleep "+word+"1 &); sleep "+word+"2", nil)
		got := b.call(t.Context(), m, nil, 300*time.Millisecond)
		assert.Equal(t, tools.Fail(failure.ToolTimeout, "no answer within 300 ms"), got)
		b.gone(word)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan tools.Result)
		go func() { ended <- b.call(ctx, m, nil, time.Minute) }()
		require.Eventually(t, func() bool { return running(word) >= 3 }, 30*time.Second, 5*time.Millisecond)
		cancel()
		assert.Equal(t, failure.Withdrawn, (<-ended).Code)
		b.gone(word)
	})
}

// What cannot be started certainly did nothing, and says why.
func TestUnreachablePrograms(t *testing.T) {
	b := newBench(t, sandbox.Full)
	m := b.manifest("echo 1", nil)
	path := filepath.Join(b.dir, "script")
	for want, change := range map[string]func() error{
		"the program is no file that everybody may execute":                                                                   func() error { return os.Chmod(path, 0o644) },
		"the program is no file in the directory of programs, or a link that leads out of it":                                 func() error { return os.Symlink("/bin/true", path) },
		"the program's interpreter, or what it is linked with, is not there: a script must begin with #! and the path of one": func() error { return os.WriteFile(path, []byte("#!/none\n"), 0o755) },
		"the program is nothing that can be executed: a script must begin with #! and the path of its interpreter":            func() error { return os.WriteFile(path, []byte("echo 1\n"), 0o755) },
		"this node does not have the secret OTHER for exec:script":                                                            nil,
	} {
		if change != nil {
			if strings.Contains(want, "everybody") {
				require.NoError(t, change())
			} else {
				require.NoError(t, os.Remove(path))
				require.NoError(t, change())
				_ = os.Chmod(path, 0o755)
			}
		} else {
			m = b.manifest("echo 1", nil)
			m.Secrets = []string{"OTHER"}
			raw, _ := value.FromGo(map[string]any{"program": "script", "env": map[string]any{"X": "secret:OTHER"}})
			m.Config = raw
		}
		assert.Equal(t, tools.Fail(failure.ToolUnreachable, want), b.call(t.Context(), m, nil, time.Minute))
		_ = os.Remove(path)
		m = b.manifest("echo 1", nil)
	}
	closed := NewKind(Options{})
	caller, err := closed.Make(m)
	require.NoError(t, err)
	assert.Equal(t, failure.ToolUnreachable, caller.Call(t.Context(), tools.Request{}).Code)
}

// TO-9: what is wrong with a config is said when it is registered.
func TestConfigsThatAreRefused(t *testing.T) {
	b := newBench(t, sandbox.Full)
	m := b.manifest("echo 1", nil)
	for _, row := range []struct {
		config map[string]any
		field  string
	}{
		{map[string]any{}, "config.program"},
		{map[string]any{"program": 1}, "config.program"},
		{map[string]any{"program": "/bin/sh"}, "config.program"},
		{map[string]any{"program": "../script"}, "config.program"},
		{map[string]any{"program": "absent"}, "config.program"},
		{map[string]any{"program": "script", "shell": true}, "config.shell"},
		{map[string]any{"program": "script", "args": "x"}, "config.args"},
		{map[string]any{"program": "script", "args": []any{"a", 1}}, "config.args[1]"},
		{map[string]any{"program": "script", "args": []any{"a\x00"}}, "config.args[0]"},
		{map[string]any{"program": "script", "env": []any{}}, "config.env"},
		{map[string]any{"program": "script", "env": map[string]any{"A B": "x"}}, `config.env["A B"]`},
		{map[string]any{"program": "script", "env": map[string]any{"PATH": "x"}}, "config.env.PATH"},
		{map[string]any{"program": "script", "env": map[string]any{"LD_PRELOAD": "x"}}, "config.env.LD_PRELOAD"},
		{map[string]any{"program": "script", "env": map[string]any{"OMNI_TOOL": "x"}}, "config.env.OMNI_TOOL"},
		{map[string]any{"program": "script", "env": map[string]any{"A": "secret:OTHER"}}, "config.env.A"},
		{map[string]any{"program": "script", "limits": 1}, "config.limits"},
		{map[string]any{"program": "script", "limits": map[string]any{"cpu_seconds": 0}}, "config.limits.cpu_seconds"},
		{map[string]any{"program": "script", "limits": map[string]any{"cpu_seconds": 3601}}, "config.limits.cpu_seconds"},
		{map[string]any{"program": "script", "limits": map[string]any{"memory": 1}}, "config.limits.memory"},
		{map[string]any{"program": "script", "network": 1}, "config.network"},
	} {
		raw, problem := value.FromGo(row.config)
		require.Nil(t, problem)
		m.Config = raw
		refusal := b.registry.Check(m)
		require.NotNil(t, refusal, "%v", row.config)
		assert.Equal(t, row.field, refusal.Field, "%+v", refusal)
	}
	m.Config = nil
	assert.Equal(t, "config.program", b.registry.Check(m).Field)
}

// Calls do not see one another.
func TestManyAtOnce(t *testing.T) {
	b := newBench(t, sandbox.Full)
	m := b.manifest(`cat > file; sleep 0.1; cat file`, nil)
	results := make(chan error)
	for i := range 8 {
		go func() {
			raw, _ := value.FromGo(i)
			got := b.registry.Run(t.Context(), tools.Request{Tool: m.Name, Args: raw, Timeout: time.Minute, Revision: 1, Manifest: m})
			if n, ok := got.Value.Int(); !ok || n != int64(i) {
				results <- fmt.Errorf("%d: %+v", i, got)
				return
			}
			results <- nil
		}()
	}
	for range 8 {
		assert.NoError(t, <-results)
	}
}

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient/mcptest"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/transport/api"
)

// The transcripts in testdata run omni as people do: as a process. It is this
// test binary under another name, so that omni dev's own child processes are
// the same program.
func TestMain(m *testing.M) {
	sandbox.Enter()
	programs := map[string]func(){"omni": main, "omni-fragile": func() { runMain(fragileLookup) }, "omni-mcptest": mcptest.Main}
	if programs[filepath.Base(os.Args[0])] == nil {
		// The race detector would make every process wait a second at its end.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		os.Unsetenv(serverVariable)
	}
	testscript.Main(m, programs)
}

// testStore is the Raft store of the nodes that tests start: what OMNI_TEST_STORE
// says, or the default.
func testStore() raftstore.Kind {
	return cmp.Or(raftstore.Kind(os.Getenv("OMNI_TEST_STORE")), raftstore.Bolt)
}

// serverFlagsOf are the flags of servers whose store is of this kind, on a
// machine with few cores.
func serverFlagsOf(store raftstore.Kind) []string {
	return []string{"--timing", "2", "--store", string(store)}
}

// What needs no cluster: help, usage, files, exit codes.
func TestTranscripts(t *testing.T) { transcripts(t, "testdata/alone", nil) }

// What talks to a cluster: one of three real nodes, shared by the transcripts.
func TestTranscriptsOnACluster(t *testing.T) {
	cluster := startCluster(t, testStore())
	t.Cleanup(func() { // once they all have ended: what they did is in order (LO-12)
		stdout, stderr, exit := omniOf(t, cluster, "log", "audit")
		assert.Equal(t, api.ExitDone, exit, "%s%s", stdout, stderr)
	})
	transcripts(t, "testdata/cluster", map[string]string{
		serverVariable: strings.Join(cluster.File().APIs(), ","), "DIR": cluster.Dir(),
		"HELLO": examplePath(t, "hello/agent.yaml"), "EXAMPLES": examplePath(t, ""), "API": cluster.File().APIs()[0],
	})
}

// What starts a cluster of its own and hurts it, one transcript after the
// other: two cores are not many.
func TestTranscriptsWithFaults(t *testing.T) {
	faults := func(t *testing.T, name string, store raftstore.Kind) {
		transcripts(t, "testdata/faults/"+name, map[string]string{
			"HELLO": examplePath(t, "hello/agent.yaml"), "STORE": string(store),
		})
	}
	for _, name := range []string{"demo", "drill-pause", "drill-transfer", "estop"} {
		t.Run(name, func(t *testing.T) { faults(t, name, testStore()) })
	}
	// Processes that end and come back read what they wrote.
	for _, name := range []string{"dev", "drill-kill", "backup"} {
		t.Run(name, func(t *testing.T) {
			overStores(t, func(t *testing.T, store raftstore.Kind) { faults(t, name, store) })
		})
	}
}

// overStores runs a test over both kinds of Raft store.
func overStores(t *testing.T, test func(t *testing.T, store raftstore.Kind)) {
	for _, store := range []raftstore.Kind{raftstore.Bolt, raftstore.WAL} {
		t.Run(string(store), func(t *testing.T) { test(t, store) })
	}
}

func transcripts(t *testing.T, dir string, env map[string]string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(8 * time.Minute),
		UpdateScripts:       os.Getenv("UPDATE_TRANSCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			for name, text := range env {
				e.Setenv(name, text)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "shape": shape, "field": field, "await": await, "awaits": awaits, "damage": damage,
		},
	})
}

// startCluster starts three real nodes for the length of a test.
func startCluster(t *testing.T, store raftstore.Kind) *dev.Cluster {
	t.Helper()
	omni, err := exec.LookPath("omni")
	require.NoError(t, err)
	cluster, err := dev.Start(t.Context(), dev.Options{
		Binary: omni, DataDir: t.TempDir(), ServerFlags: serverFlagsOf(store),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	return cluster
}

func examplePath(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../../examples/" + name)
	require.NoError(t, err)
	return path
}

// exits CODE COMMAND…: runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstderr: %s", got, want, ts.ReadFile("stderr"))
	}
}

// shape: turns the JSON on stdout into its fields, one a line, as "path: type".
// A list has the fields of all its items.
func shape(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: shape")
	}
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	seen := make(map[string]string)
	walk(doc, "", seen)
	var lines []string
	for path, kind := range seen {
		lines = append(lines, path+": "+kind)
	}
	slices.Sort(lines)
	ts.Check(os.WriteFile(ts.MkAbs("shape"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	ts.Check(ts.Exec("cat", ts.MkAbs("shape")))
}

func walk(v any, path string, seen map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			walk(member, strings.TrimPrefix(path+"."+key, "."), seen)
		}
	case []any:
		seen[path] = "list"
		for _, item := range v {
			walk(item, path+"[]", seen)
		}
	case nil:
		seen[path] = "null"
	default:
		seen[path] = strings.TrimPrefix(fmt.Sprintf("%T", v), "float64")
		if seen[path] == "" {
			seen[path] = "number"
		}
	}
}

// field PATH NAME: keeps a field of the JSON on stdout in the environment.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field PATH NAME")
	}
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	for part := range strings.SplitSeq(args[0], ".") {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[part]
		case []any:
			at, err := strconv.Atoi(part)
			ts.Check(err)
			doc = v[at]
		}
	}
	ts.Setenv(args[1], fmt.Sprint(doc))
}

// await COMMAND…: runs a command until it succeeds.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: await COMMAND…")
	}
	repeat(ts, args, func() bool { return true })
}

// awaits PATTERN COMMAND…: … and until its output matches.
func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: awaits PATTERN COMMAND…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	repeat(ts, args[1:], func() bool { return pattern.MatchString(ts.ReadFile("stdout")) })
}

func repeat(ts *testscript.TestScript, command []string, suits func() bool) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ts.Exec(command[0], command[1:]...) == nil && suits() {
			return
		}
	}
	ts.Fatalf("not in a minute: %s", ts.ReadFile("stderr"))
}

// damage FILE: turns one bit in the middle of a file.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FILE")
	}
	raw := []byte(ts.ReadFile(args[0]))
	raw[len(raw)/2] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), raw, 0o600))
}

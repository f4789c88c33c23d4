//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

// tally is a real program that counts its calls in a directory which it may write
// to, and waits there as long as it is told.
type tally struct {
	t                *testing.T
	programs, shared string
}

func newTally(t *testing.T) *tally {
	c := &tally{t: t, programs: t.TempDir(), shared: t.TempDir()}
	require.NoError(t, os.Chmod(c.shared, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(c.programs, "count"), []byte(`#!/bin/sh
read -r args
id=${args#*:} id=${id%\}}
echo made >> "$1/$id"
while [ -e "$1/hold-$id" ]; do sleep 0.02; done
printf '{"id": %s, "key": "%s"}' "$id" "$KEY"
`), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(c.programs, "count"), 0o755))
	return c
}

// manifest writes one of a tool that is the program.
func (c *tally) manifest(name string, idempotent bool) string {
	file := filepath.Join(c.t.TempDir(), "tool.yaml")
	timeout := 6000 // a leader's end makes it unknown when its time is over
	if idempotent {
		timeout = 60_000 // an election and a second start are within it
	}
	require.NoError(c.t, os.WriteFile(file, fmt.Appendf(nil, `
name: %s
adapter: exec
config:
  program: count
  args: [%s]
  env: {KEY: "secret:COUNT"}
secrets: [COUNT]
input: {type: object, properties: {id: {type: integer}}, required: [id]}
output: {type: object, required: [id]}
resource: [id]
timeout_ms: %d
idempotent: %t
`, name, c.shared, timeout, idempotent), 0o600))
	return file
}

func (c *tally) hold(id int) (release func()) {
	path := filepath.Join(c.shared, "hold-"+strconv.Itoa(id))
	require.NoError(c.t, os.WriteFile(path, nil, 0o644))
	return func() { require.NoError(c.t, os.Remove(path)) }
}

func (c *tally) count(id int) int {
	content, _ := os.ReadFile(filepath.Join(c.shared, strconv.Itoa(id)))
	return strings.Count(string(content), "made\n")
}

// running lists the program's processes.
func (c *tally) running() (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		content, _ := os.ReadFile(file)
		if strings.Contains(string(content), "/programs/count\x00"+c.shared) {
			pids = append(pids, filepath.Dir(file))
		}
	}
	return pids
}

// TO-4, TO-7, TO-13: a program is a tool on three nodes; the leader is killed while it
// runs twice. Both processes end with their node. What may be made twice is started
// again; what may not is started once, and its end is unknown. The log is in order,
// the secret is nowhere, and of the processes nothing is left.
func TestProgramSurvivesItsLeader(t *testing.T) {
	const secret = "a-secret-that-no-program-else-says"
	c := newTally(t)
	t.Setenv("OMNI_SECRET_COUNT", secret)
	t.Setenv("OMNI_SECRET_COUNT_FOR", "exec:count")
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, append(smallFlags(testStore()),
		"--exec-dir", c.programs, "--exec-write", c.shared, "--exec-sandbox", "full", "--log-level", "debug")...)
	p.startAll()
	p.alike()
	p.run("tool", "register", "-f", c.manifest("count.read", true))
	p.run("tool", "register", "-f", c.manifest("count.pay", false))
	for id, tool := range map[int]string{1: "count.read", 2: "count.pay"} {
		assert.JSONEq(t, fmt.Sprintf(`{"id": %d, "key": "secret:COUNT"}`, id), p.run("tool", "test", tool, "--args", fmt.Sprintf(`{"id":%d}`, id)))
	}

	release, free := c.hold(3), c.hold(4)
	reads, pays := p.callOf("count.read", 3), p.callOf("count.pay", 4)
	require.Eventually(t, func() bool { return c.count(3) == 1 && c.count(4) == 1 }, 30*time.Second, 5*time.Millisecond)
	before := c.running()
	assert.GreaterOrEqual(t, len(before), 2)
	killed := p.leader()
	p.kill(killed)
	require.Eventually(t, func() bool {
		for _, process := range before {
			if _, err := os.Stat(process); err == nil {
				return false
			}
		}
		return true
	}, 30*time.Second, 5*time.Millisecond, "they end with their node")
	require.Eventually(t, func() bool { return c.count(3) == 2 }, 30*time.Second, 5*time.Millisecond, "the new leader starts it again")
	release()
	got := p.answerOf(reads)
	assert.Equal(t, true, got["ok"], "%v", got)
	assert.Equal(t, "OUTCOME_UNKNOWN", p.answerOf(pays)["code"])
	free()
	assert.Equal(t, 1, c.count(4), "dispatched once, started once")

	// What the killed node left goes when it comes back.
	left, err := filepath.Glob(filepath.Join(p.dirs[killed], "programs", "omni-tools-*"))
	require.NoError(t, err)
	require.Len(t, left, 1)
	p.start(killed)
	p.alike()
	assert.NoDirExists(t, left[0])
	var dispatched int
	for record, err := range p.client.Records(t.Context(), api.LogQuery{}) {
		require.NoError(t, err)
		if record.Kind == "CALL_DISPATCHED" {
			dispatched++
		}
	}
	assert.Equal(t, 2, dispatched, "one for each payment")
	assert.Contains(t, p.run("log", "audit"), "the log keeps to the rules")
	p.stopAll()
	assert.Empty(t, c.running())
	for i := range p.dirs {
		left, err := os.ReadDir(filepath.Join(p.dirs[i], "programs"))
		require.NoError(t, err)
		assert.Empty(t, left)
		p.hidden(p.dirs[i], secret)
	}
	p.hidden(p.output, secret)
}

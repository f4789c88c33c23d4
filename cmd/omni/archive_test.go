package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Of an archived log everything is the same on every node, whatever happened
// meanwhile, and everything can be read as before (LO-1, LO-7, LO-8, CL-5).
func TestArchivesAreAlike(t *testing.T) {
	archivesAlike(t, testStore(), testSeed(t), 2*time.Second, false)
}

const callsAndEnds = `name: early
grants: [{effect: ALLOW, action: tool.call, resource: echo}]
program: {kind: SEQ, payload: {steps: [
  {kind: LET, payload: {name: a, do: {kind: CALL, payload: {tool: echo, args: "${input}"}}}},
  {kind: LET, payload: {name: b, do: {kind: CALL, payload: {tool: echo, args: "${[a, a]}"}}}},
  {kind: RETURN, payload: {value: "${b}"}}]}}
`

// early is an agent from before everything else, and a proof of its first record.
type early struct {
	id    string
	seq   uint64 // busSeq of its definition, or a little later
	proof string // file
	lives string // another agent, which waits for a message
}

// archivesAlike lets three nodes come through a random course of kills, pauses,
// snapshots, installs and archiving, and holds what is left against each other, with
// the archive and without. One may then lose its disk, and fetches what the others
// have left.
func archivesAlike(t *testing.T, store raftstore.Kind, seed uint64, during time.Duration, emptied bool) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(store)...)
	p.startAll()
	p.alike()
	old := p.startEarly()
	f := &traffic{client: p.client, name: "archived"}
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.run(ctx, seed) })
	running.Go(func() { p.archiveNowAndThen(ctx, rand.New(rand.NewPCG(seed, 77))) })
	p.chaos(rand.New(rand.NewPCG(seed, 99)), during)
	p.leaveBehind()
	end()
	running.Wait()
	p.alike()
	p.whole()
	p.run("log", "archive")
	p.alike()
	archived := p.awaitArchived()
	t.Logf("%d segments archived, %d commands acknowledged", archived, len(f.acked))
	require.Greater(t, archived, 2, "too little to say anything")
	p.requireReadable(&old)
	p.stopAll()
	p.requireSameArchives(f)

	// What was moved to the archive is taken away.
	p.unaudited = true
	for i := range p.dirs {
		require.NoError(t, os.RemoveAll(filepath.Join(p.logDir(i), "archive")))
	}
	p.startAll()
	p.alike()
	p.requireCompacted(&old)
	if emptied {
		p.kill(2)
		require.NoError(t, os.RemoveAll(p.dirs[2]))
		p.start(2)
		p.whole()
		p.alike()
		p.awaitArchived()
		p.requireCompacted(&old)
	}
	p.requireRestores(&old, store)
	p.requireSameArchives(nil)
}

// startEarly lets an agent live and end, and takes a proof of it.
func (p *processes) startEarly() early {
	p.t.Helper()
	file, proof := filepath.Join(p.t.TempDir(), "early.yaml"), filepath.Join(p.t.TempDir(), "proof.json")
	require.NoError(p.t, os.WriteFile(file, []byte(callsAndEnds), 0o600))
	var got struct {
		AgentID     string `json:"agent_id"`
		Transitions []struct {
			BusSeq uint64 `json:"bus_seq"`
		} `json:"transitions"`
	}
	require.NoError(p.t, json.Unmarshal([]byte(p.run("agent", "start", "-f", file, "--input", "7", "--wait", "-o", "json")), &got))
	require.NotEmpty(p.t, got.Transitions)
	seq := got.Transitions[0].BusSeq
	require.NoError(p.t, os.WriteFile(proof, []byte(p.run("log", "prove", fmt.Sprint(seq))), 0o600))
	waits, problem := value.FromJSON([]byte(`{"kind":"LET","payload":{"name":"m","do":{"kind":"RECEIVE","payload":{}}}}`), 1<<10)
	require.Nil(p.t, problem)
	lives, err := p.client.Start(p.t.Context(), event.Start{Define: event.Define{
		Program: waits, Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "mailbox.receive"}},
	}})
	require.NoError(p.t, err)
	return early{got.AgentID, seq, proof, lives.AgentID}
}

// archiveNowAndThen archives what is sealed, until the context ends.
func (p *processes) archiveNowAndThen(ctx context.Context, random *rand.Rand) {
	c := p.client.Fork()
	for ctx.Err() == nil {
		// Refused, or without an answer, while there is no leader: the next one counts.
		_, _ = c.ArchiveLog(context.WithoutCancel(ctx), event.ArchiveLog{}, client.Timeout(5*time.Second))
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(random.IntN(1500)) * time.Millisecond):
		}
	}
}

// awaitArchived waits until each node has done what the last LOG_ARCHIVE says, and
// gives the number of segments that are archived.
func (p *processes) awaitArchived() (archived int) {
	p.t.Helper()
	list, err := p.client.Segments(p.t.Context())
	require.NoError(p.t, err)
	require.Zero(p.t, list.Next, "one page has them all")
	done := func(i int, s *api.LogSegment) bool {
		raw, err := os.ReadFile(filepath.Join(p.logDir(i), fmt.Sprintf("%020d.cmp", s.Start)))
		if err != nil || len(raw) < 136 {
			return false
		}
		_, moved := os.Stat(filepath.Join(p.logDir(i), fmt.Sprintf("%020d.seg", s.Start)))
		at := raw[128:136] // docs/log.md
		return os.IsNotExist(moved) && bytes.Equal(at, binary.LittleEndian.AppendUint64(nil, s.ArchivedAt))
	}
	for i := range p.dirs {
		archived = 0
		for at := range list.Segments {
			if s := &list.Segments[at]; s.ArchivedAt != 0 {
				archived++
				require.Eventually(p.t, func() bool { return done(i, s) }, 30*time.Second, 20*time.Millisecond, "%s, segment %d", p.id(i), s.Start)
			}
		}
	}
	return archived
}

// requireReadable asks every node for what is in the archive.
func (p *processes) requireReadable(old *early) {
	p.t.Helper()
	require.Contains(p.t, p.run("log", "check", old.proof, "--live"), "the proof holds")
	require.Contains(p.t, p.run("log", "verify"), "as in the manifests of n1, n2, n3")
	require.Contains(p.t, p.run("replay", old.id), "the log holds: ")
	require.Contains(p.t, p.run("agent", "fork", old.id, "--at", fmt.Sprint(old.seq), "--wait"), "[7,7]", "it goes on from its first call")
	for i := range p.dirs {
		only := []string{"--node", p.id(i)}
		require.Contains(p.t, p.run(append([]string{"agent", "history", old.id}, only...)...), "COMPLETING")
		require.Contains(p.t, p.run(append([]string{"log", "--agent", old.id}, only...)...), " CALL_REQUESTED ")
		code, body := p.read(i, "/watch?from=1")
		var e api.Error
		require.NoError(p.t, json.Unmarshal([]byte(body), &e))
		assert.Equal(p.t, http.StatusGone, code)
		assert.Equal(p.t, api.CodeCompacted, e.Code)
		assert.Greater(p.t, e.First, old.seq)
	}
}

// requireSameArchives compares every file of stopped nodes' logs, and finds every
// acknowledged command of the traffic, if there was any, in what the archive and the
// log hold together.
func (p *processes) requireSameArchives(f *traffic) {
	p.t.Helper()
	first := make(map[string][]byte)
	for i := range p.dirs {
		files := p.logFiles(i)
		if f != nil {
			blocks := p.blocksIn(files)
			for _, command := range f.acked {
				require.True(p.t, bytes.Contains(blocks[command.index], []byte(command.mark)),
					"%s: the log has no %s at index %d, which was acknowledged", p.id(i), command.mark, command.index)
			}
		}
		if i == 0 {
			first = files
			continue
		}
		for name := range files {
			p.requireSameFile(i, name, first[name], files[name])
		}
		for name := range first {
			p.requireSameFile(i, name, first[name], files[name])
		}
	}
}

// requireSameFile compares a file of a node with the first one's. Of the log's end
// something may be missing, where a node ended first.
func (p *processes) requireSameFile(i int, name string, first, file []byte) {
	p.t.Helper()
	same := min(len(first), len(file))
	most := 0
	if filepath.Ext(name) == ".seg" && filepath.Dir(name) == "." {
		most = 8192
	}
	require.LessOrEqual(p.t, max(len(first), len(file))-same, most, "%s of %s and %s", name, p.id(0), p.id(i))
	require.True(p.t, bytes.Equal(first[:same], file[:same]), "%s of %s and %s differ", name, p.id(0), p.id(i))
}

// logFiles are the files of a stopped node's log, by name; indexes are derived.
func (p *processes) logFiles(i int) map[string][]byte {
	p.t.Helper()
	files := make(map[string][]byte)
	for _, dir := range []string{"", "archive"} {
		found, err := os.ReadDir(filepath.Join(p.logDir(i), dir))
		if dir != "" && os.IsNotExist(err) {
			continue // nothing was moved
		}
		require.NoError(p.t, err)
		for _, entry := range found {
			name := filepath.Join(dir, entry.Name())
			switch filepath.Ext(name) {
			case ".idx":
				continue
			case ".seg", ".cmp":
			default:
				require.True(p.t, entry.IsDir(), name)
				continue
			}
			content, err := os.ReadFile(filepath.Join(p.logDir(i), name))
			require.NoError(p.t, err)
			files[name] = content
		}
	}
	return files
}

// blocksIn reads the whole log from its full files, in order, and verifies it.
func (p *processes) blocksIn(files map[string][]byte) map[uint64][]byte {
	p.t.Helper()
	verifier, blocks := logging.NewVerifier(logging.Genesis("default").Point), make(map[uint64][]byte)
	for read := 0; ; read++ {
		begins := verifier.Point().Position
		name := fmt.Sprintf("%020d.seg", begins)
		content := files[filepath.Join("archive", name)]
		if content == nil {
			content = files[name]
		}
		if content == nil {
			require.Greater(p.t, read, 2)
			return blocks
		}
		scanner := segment.NewScanner(bytes.NewReader(content[96:])) // docs/log.md
		for raw, err := scanner.Next(); err == nil; raw, err = scanner.Next() {
			require.NoError(p.t, verifier.Feed(raw), name)
			block, err := logging.Decode(raw)
			require.NoError(p.t, err)
			blocks[block.Index] = bytes.Clone(raw)
		}
		if verifier.Point().Position == begins { // it was begun, and the node ended before it held anything
			return blocks
		}
	}
}

// requireCompacted asks nodes without an archive.
func (p *processes) requireCompacted(old *early) {
	p.t.Helper()
	for i := range p.dirs {
		code, body := p.read(i, "/log?from=1&limit=1000&consistency=stale")
		var e api.Error
		require.NoError(p.t, json.Unmarshal([]byte(body), &e))
		assert.Equal(p.t, http.StatusGone, code)
		assert.Equal(p.t, api.CodeCompacted, e.Code)
		assert.Greater(p.t, e.First, old.seq)
		code, body = p.read(i, fmt.Sprintf("/log?from=%d&limit=10&consistency=stale", e.First))
		assert.Equal(p.t, http.StatusOK, code, body)
		code, body = p.read(i, "/agents/"+old.id+"/history?consistency=stale")
		assert.Equal(p.t, http.StatusGone, code, body)
	}
	require.Contains(p.t, p.run("log", "check", old.proof), "the proof holds")
	args := []string{"agent", "fork", old.id, "--at", fmt.Sprint(old.seq), "--timeout", "5s"}
	for i := range p.api {
		args = append(args, "--server", p.url(i))
	}
	output, err := exec.CommandContext(p.t.Context(), p.omni, args...).CombinedOutput()
	require.Error(p.t, err)
	require.Contains(p.t, string(output), api.CodeCompacted)
}

// requireRestores makes a backup of a node without an archive, and another cluster of
// it, in which whoever lives goes on.
func (p *processes) requireRestores(old *early, store raftstore.Kind) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "partial.omniback")
	require.Contains(p.t, p.run("backup", "create", file), "the node does not have its archive: the log is whole from busSeq ")
	require.Contains(p.t, p.omniWith("backup", "verify", file), "the backup is sound")
	require.Contains(p.t, p.omniWith("backup", "inspect", file), "; whole from busSeq ")
	require.Contains(p.t, p.run("replay", old.lives), "the log holds: ")
	for _, args := range [][]string{{"backup", "verify", "--deep", file}, {"replay", "--all", file}, {"log", "audit", file}, {"replay", old.id, file}} {
		output, err := exec.CommandContext(p.t.Context(), p.omni, args...).CombinedOutput()
		require.Error(p.t, err, "%v", args)
		require.Contains(p.t, string(output), "it has only the digests of what was archived", "%v", args)
	}
	p.stopAll()

	second := newProcesses(p.t, []string{p.t.TempDir(), p.t.TempDir(), p.t.TempDir()}, append(smallFlags(store), "--cluster", "second")...)
	for i, dir := range second.dirs {
		args := []string{"backup", "restore", file, "--cluster", "second", "--node", second.id(i), "--data-dir", dir, "--store", string(store)}
		for peer := range second.dirs {
			args = append(args, "--peer", second.id(peer)+"="+second.raft[peer]+"="+second.url(peer))
		}
		require.Contains(p.t, second.omniWith(args...), "could not be checked, since blocks before it are in an archive")
	}
	second.unaudited = true
	second.startAll()
	second.alike()
	second.whole()
	require.Contains(p.t, second.run("replay", old.lives), "the log holds: ")
	second.run("agent", "send", old.lives, `"hello"`)
	require.Eventually(p.t, func() bool {
		return strings.Contains(second.run("agent", "get", old.lives), "TERMINATED")
	}, 30*time.Second, 50*time.Millisecond)
	second.run("log", "archive")
	second.alike()
	require.Greater(p.t, second.awaitArchived(), 2)
	second.stopAll()
	second.requireSameArchives(nil)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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

// smallFlags make everything happen in seconds that takes hours otherwise:
// segments are sealed, snapshots taken, and whoever was away for a moment needs one.
func smallFlags(store raftstore.Kind) []string {
	return append(serverFlagsOf(store), "--segment-bytes", "65536", "--snapshot-bytes", "65536", "--trailing-logs", "64")
}

// traffic is a random load of commands, each of which leaves a mark in the log
// that no other does.
type traffic struct {
	client *client.Client
	name   string

	mu    sync.Mutex // guards acked
	acked []acknowledged
}

// acknowledged is a command that was said to have taken effect at an index.
type acknowledged struct {
	index uint64
	mark  string
}

const trafficWorkers = 6

// run sends commands until the context ends. What each worker asks for follows
// from the seed.
func (f *traffic) run(ctx context.Context, seed uint64) {
	var workers sync.WaitGroup
	for w := range trafficWorkers {
		workers.Go(func() {
			random, c := rand.New(rand.NewPCG(seed, uint64(w))), f.client.Fork()
			for n := 0; ctx.Err() == nil; n++ {
				mark := fmt.Sprintf("%s-%d-%d-%d.", f.name, seed, w, n)
				// The end of the traffic is not the end of what was begun.
				done, err := f.one(context.WithoutCancel(ctx), c, random, mark)
				if err == nil {
					f.mu.Lock()
					f.acked = append(f.acked, acknowledged{done.Index, mark})
					f.mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
}

// one sends a command. The state stays small, so that snapshots come often.
func (f *traffic) one(ctx context.Context, c *client.Client, random *rand.Rand, mark string) (api.Done, error) {
	key, limit := fmt.Sprint("key-", random.IntN(40)), client.Timeout(10*time.Second)
	switch random.IntN(10) {
	case 0:
		program, problem := value.FromJSON([]byte(`{"kind":"MAP","payload":{"over":[1,2],"as":"n","do":{"kind":"CALL","payload":{"tool":"echo","args":"${n}"}}}}`), 1<<10)
		if problem != nil {
			return api.Done{}, fmt.Errorf("program: %s", problem.Rule)
		}
		return c.Start(ctx, event.Start{Define: event.Define{
			Name: mark, Program: program,
			Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}},
		}}, limit)
	case 1:
		return c.DeleteShared(ctx, event.DeleteShared{Namespace: mark, Key: key}, limit)
	default:
		padding := strings.Repeat("v", random.IntN(2000))
		return c.PutShared(ctx, event.PutShared{Namespace: "traffic", Key: key, Value: value.Raw(value.AppendString(nil, mark+padding))}, limit)
	}
}

// blocksOf reads a stopped node's log from its files, and checks that there is
// nothing else, and that it verifies from the very beginning.
func blocksOf(t *testing.T, dir string) (blocks map[uint64][]byte, files []byte) {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	blocks = make(map[uint64][]byte)
	for _, entry := range found {
		if filepath.Ext(entry.Name()) == ".idx" {
			continue // derived when it is wanted
		}
		require.Equal(t, ".seg", filepath.Ext(entry.Name()))
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		files = append(append(files, entry.Name()...), content...)
		const header = 96 // docs/log.md
		scanner := segment.NewScanner(bytes.NewReader(content[header:]))
		for {
			raw, err := scanner.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, entry.Name())
			require.NoError(t, verifier.Feed(raw), entry.Name())
			block, err := logging.Decode(raw)
			require.NoError(t, err)
			blocks[block.Index] = bytes.Clone(raw)
		}
	}
	return blocks, files
}

// requireSameLogs compares the files of stopped nodes byte for byte, and finds
// every acknowledged command in each. A node that ended first may lack what the
// others committed at the end: that they led, and what follows from it.
func (p *processes) requireSameLogs(f *traffic) {
	p.t.Helper()
	var first []byte
	for i := range p.dirs {
		blocks, files := blocksOf(p.t, p.logDir(i))
		for _, command := range f.acked {
			require.True(p.t, bytes.Contains(blocks[command.index], []byte(command.mark)),
				"%s: the log has no %s at index %d, which was acknowledged", p.id(i), command.mark, command.index)
		}
		if i == 0 {
			first = files
		}
		same := min(len(first), len(files))
		require.Less(p.t, max(len(first), len(files))-same, 8192, "only the end may be missing")
		require.True(p.t, bytes.Equal(first[:same], files[:same]), "%s and %s differ", p.id(0), p.id(i))
	}
	p.t.Logf("%d bytes of log, %d commands acknowledged", len(first), len(f.acked))
}

// chaos hurts the nodes at random until its time is over. All of them run then.
func (p *processes) chaos(random *rand.Rand, during time.Duration) {
	p.t.Helper()
	for end := time.Now().Add(during); time.Now().Before(end); {
		p.rest(random, 300)
		i := random.IntN(len(p.nodes))
		switch random.IntN(6) {
		case 0:
			p.kill(i)
			p.rest(random, 300)
		case 1: // long enough for the others to leave it behind
			p.kill(i)
			p.rest(random, 2500)
		case 2:
			p.signal(i, syscall.SIGSTOP)
			p.rest(random, 2500)
			p.signal(i, syscall.SIGCONT)
		case 3:
			if p.up(i) {
				p.stop(i) // one that has just begun would end by the signal
			}
		case 4:
			p.kill(i)
			p.kill((i + 1) % len(p.nodes))
		case 5:
			for i := range p.nodes {
				p.kill(i)
			}
		}
		p.startAll()
	}
}

// rest lets up to so many milliseconds go by.
func (p *processes) rest(random *rand.Rand, most int) {
	time.Sleep(time.Duration(random.IntN(most)) * time.Millisecond)
}

// testSeed is what OMNI_TEST_SEED says, or new each time.
func testSeed(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("OMNI_TEST_SEED"); text != "" {
		_, err := fmt.Sscan(text, &seed)
		require.NoError(t, err)
	}
	t.Logf("OMNI_TEST_SEED=%d", seed)
	return seed
}

// segmentsAlike lets three nodes come through a random course of kills, pauses,
// stops, snapshots and installs, and holds their logs against each other.
func segmentsAlike(t *testing.T, store raftstore.Kind, seed uint64, during time.Duration) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(store)...)
	p.startAll()
	p.alike()
	f := &traffic{client: p.client, name: "alike"}
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.run(ctx, seed) })
	p.chaos(rand.New(rand.NewPCG(seed, 99)), during)
	p.leaveBehind()
	end()
	running.Wait()
	p.alike()
	p.whole()
	status := p.alike()
	var summaries []any
	for i := range p.nodes {
		summary, err := p.client.Export(t.Context(), 0, io.Discard, client.Node(p.url(i)))
		require.NoError(t, err, p.id(i))
		if summary.LastIndex == status.Nodes[0].AppliedIndex {
			summaries = append(summaries, summary)
		}
	}
	require.NotEmpty(t, summaries)
	require.Len(t, slices.CompactFunc(summaries, func(a, b any) bool { return a == b }), 1, "the exports are alike")
	p.stopAll()
	p.requireSameLogs(f)
	installs, snapshots := 0, 0
	for i := range p.nodes {
		installs += p.said(i, "Installed remote snapshot")
		snapshots += p.said(i, "snapshot complete up to")
	}
	t.Logf("%d snapshots, %d installs", snapshots, installs)
	require.Positive(t, installs, "nothing was installed: that tests too little")
	require.Greater(t, snapshots, installs)
	require.Greater(t, len(f.acked), 100, "too little was done to say anything")
}

// leaveBehind keeps a node down until the others' logs do not reach back to
// where it was, so that it needs a snapshot.
func (p *processes) leaveBehind() {
	p.t.Helper()
	i := 0
	p.kill(i)
	taken := func() int { return p.said(1, "snapshot complete up to") + p.said(2, "snapshot complete up to") }
	for before, deadline := taken(), time.Now().Add(30*time.Second); taken() < before+2; time.Sleep(20 * time.Millisecond) {
		require.True(p.t, time.Now().Before(deadline), "the others take no snapshot")
	}
	p.start(i)
}

// The segments of three nodes are the same bytes after any course (LO-1), and
// hold every command that was acknowledged (LO-2).
func TestSegmentsAreAlike(t *testing.T) {
	segmentsAlike(t, testStore(), testSeed(t), 8*time.Second)
}

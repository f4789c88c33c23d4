package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeUntilKilled(dir)
		return
	}
	if dir := os.Getenv(archiveEnv); dir != "" {
		archiveUntilKilled(dir)
		return
	}
	if dir := os.Getenv(fetchEnv); dir != "" {
		fetchUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// deadline for what a test waits for.
const deadline = 30 * time.Second

var testOwner = Owner("test-cluster", "default")

// source stands for the kernel: it derives the same blocks from the same seed,
// every time.
type source struct {
	builder logging.Builder
	tables  logging.Tables
	last    map[uint32]uint64 // each agent's pointer, as rows hold it
	heads   map[uint32][32]byte
	random  *rand.Rand
	segment uint64
	index   uint64
	body    int    // largest body
	agents  uint32 // that records are about
}

func newSource(seed, segmentBytes uint64) *source {
	return &source{
		tables: logging.Genesis("default"), last: map[uint32]uint64{}, heads: map[uint32][32]byte{},
		random: rand.New(rand.NewPCG(seed, 1)), segment: segmentBytes, body: 120, agents: agents,
	}
}

// agents that a source's records are about.
const agents = 9

// step derives the next block; it is valid until the next call.
func (s *source) step() (block []byte, after *logging.Tables) {
	s.index += 1 + s.random.Uint64N(3) // configuration entries take indices too
	s.builder.Begin(s.index, 1+s.index/50, s.tables.NextSeq, int64(1_700_000_000_000+s.index*10))
	for i := range 1 + s.random.Uint32N(5) {
		h := logging.Header{Kind: uint16(1 + i), Cause: max(i, 1) - 1}
		if i > 0 {
			h.Agent, h.Tick, h.Step = 1+s.random.Uint32N(s.agents), s.index, i
		}
		s.builder.Open(h)
		for range s.random.IntN(s.body) {
			s.builder.Buf = append(s.builder.Buf, byte(s.random.Uint32()))
		}
		s.builder.Close()
		if h.Agent != 0 {
			s.builder.Touch(h.Agent, s.last[h.Agent], s.heads[h.Agent])
			s.last[h.Agent] = logging.PointerTo(s.tables.Position)
		}
	}
	block, digest := s.builder.Seal(s.tables.Chain)
	for i := range s.builder.Touched() {
		agent, head := s.builder.TouchedAt(i)
		s.heads[agent] = logging.ChainAfter(head, digest)
	}
	s.tables.Advance(block, digest, s.segment)
	return block, &s.tables
}

// written is one block as it was derived, with the tables before and after.
type written struct {
	raw           []byte
	before, after logging.Tables
}

// history derives n blocks.
func history(seed, segmentBytes uint64, n int) []written {
	s := newSource(seed, segmentBytes)
	out := make([]written, n)
	for i := range out {
		before := s.tables
		block, after := s.step()
		out[i] = written{raw: append([]byte(nil), block...), before: before, after: *after}
	}
	return out
}

func testOptions() Options {
	// Only what a test asks for is flushed, unless chunks fill.
	return Options{Owner: testOwner, FlushEvery: time.Hour}
}

// openAt opens the log in dir and resumes at t. It is closed at the test's end.
func openAt(t testing.TB, dir string, at logging.Tables) *Store {
	t.Helper()
	s, err := Open(dir, testOptions())
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	require.NoError(t, s.Resume(at))
	return s
}

// appendAll appends and publishes.
func appendAll(t testing.TB, s *Store, blocks []written) {
	t.Helper()
	for i := range blocks {
		require.NoError(t, s.Append(blocks[i].raw, &blocks[i].after), "block %d", i)
	}
	s.Publish()
}

func syncAll(t testing.TB, s *Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	s.mu.Lock()
	end := s.end.Position
	s.mu.Unlock()
	require.NoError(t, s.Sync(ctx, end))
}

// logOf writes blocks to a new directory and closes it.
func logOf(t testing.TB, blocks []written) string {
	t.Helper()
	dir := t.TempDir()
	s := openAt(t, dir, logging.Genesis("default"))
	appendAll(t, s, blocks)
	require.NoError(t, s.Close())
	return dir
}

// filesIn reads the segment files, by name.
func filesIn(t testing.TB, dir, suffix string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		out[filepath.Base(name)] = b
	}
	return out
}

// requireSameFiles compares without printing megabytes.
func requireSameFiles(t testing.TB, want, got map[string][]byte, msg string) {
	t.Helper()
	require.Equal(t, len(want), len(got), msg)
	for name, content := range want {
		require.Contains(t, got, name, msg)
		if string(content) != string(got[name]) {
			at := 0
			for at < min(len(content), len(got[name])) && content[at] == got[name][at] {
				at++
			}
			t.Fatalf("%s: %s differs at byte %d (lengths %d and %d)", msg, name, at, len(content), len(got[name]))
		}
	}
}

// scratch is a directory for tests that repeat themselves over every byte: in
// memory where there is such a place, since they would wait for the disk only.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "segment")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// copyDir copies a log, as a crash leaves it: the files as they are now.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := scratch(t)
	names, err := filepath.Glob(filepath.Join(from, "*"))
	require.NoError(t, err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if notExist(err) || errors.Is(err, syscall.EISDIR) {
			continue // a temporary file that was renamed meanwhile, or the archive
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(name)), b, 0o640))
	}
	return to
}

// readBlocks collects copies of what ReadFrom gives.
func readBlocks(t testing.TB, s *Store, seq uint64) (blocks [][]byte, next uint64) {
	t.Helper()
	next, err := s.ReadFrom(seq, func(_ uint64, b *logging.Block) bool {
		blocks = append(blocks, append([]byte(nil), b.Raw...))
		return true
	})
	require.NoError(t, err)
	return blocks, next
}

// requireLog checks that reading from a busSeq gives exactly these blocks.
func requireLog(t testing.TB, s *Store, seq uint64, want []written) {
	t.Helper()
	got, next := readBlocks(t, s, seq)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].raw, got[i], "block %d", i)
	}
	if len(want) > 0 {
		require.Equal(t, want[len(want)-1].after.NextSeq, next)
	} else {
		require.Equal(t, seq, next)
	}
}

// eventually polls a condition up to the deadline.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(deadline); !ok(); {
		if time.Now().After(until) {
			t.Fatal("waited in vain for: " + what)
		}
		time.Sleep(time.Millisecond)
	}
}

func name(start uint64, suffix string) string { return fmt.Sprintf("%020d%s", start, suffix) }

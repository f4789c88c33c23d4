package fsm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/stretchr/testify/require"
)

// replica is an FSM on a directory of its own, and whatever ended it.
type replica struct {
	*FSM
	t     testing.TB
	dir   string
	store *segment.Store
	guard *Guard
	fatal error
}

func newReplica(t testing.TB, dir string) *replica {
	t.Helper()
	r := &replica{t: t, dir: dir}
	var err error
	r.guard, err = OpenGuard(dir)
	require.NoError(t, err)
	r.store, err = segment.Open(filepath.Join(dir, "log"), segment.Options{Owner: segment.Owner("test", "default")})
	require.NoError(t, err)
	r.FSM = New(Options{
		ClusterID: "test", KernelID: "default", Log: r.store, Evaluators: registry.Lookup, Guard: r.guard,
		Fatal: func(err error) { r.fatal = err }, Logger: hclog.NewNullLogger(),
	})
	t.Cleanup(r.close)
	return r
}

func (r *replica) close() {
	if r.store != nil {
		_ = r.store.Close()
		require.NoError(r.t, r.guard.Close())
		r.store = nil
	}
}

func entries(events ...event.Event) []*raft.Log {
	logs := make([]*raft.Log, len(events))
	for i, e := range events {
		e.Wall = kerneltest.Start + int64(i)
		logs[i] = &raft.Log{Index: uint64(i + 1), Term: 1, Type: raft.LogCommand, Data: e.Append(nil)}
	}
	return logs
}

// history is a log of a booted kernel with n agents.
func history(n int) []*raft.Log {
	events := []event.Event{{Kind: event.KernelBooted, Body: event.Encode(kerneltest.Config())}}
	for i := range n {
		events = append(events, event.Event{Kind: event.AgentDefine, Principal: "client", Body: event.Encode(event.Define{
			ID: fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", i+1), Name: fmt.Sprint("agent ", i),
		})})
	}
	return entries(events...)
}

// sink is a raft.SnapshotSink in memory.
type sink struct {
	bytes.Buffer
	closed, cancelled bool
}

func (s *sink) Close() error  { s.closed = true; return nil }
func (s *sink) ID() string    { return "test" }
func (s *sink) Cancel() error { s.cancelled = true; return nil }

func (r *replica) snapshot() []byte {
	r.t.Helper()
	captured, err := r.Snapshot()
	require.NoError(r.t, err)
	var to sink
	require.NoError(r.t, captured.Persist(&to))
	require.True(r.t, to.closed)
	return to.Bytes()
}

func (r *replica) restore(snapshot []byte) error {
	return r.Restore(io.NopCloser(bytes.NewReader(snapshot)))
}

// Where ApplyBatch is cut never reaches bytes; configuration entries are
// answered and change nothing (EV-1; mechanics: "Blocks and bytes").
func TestBatchCutsAndConfigurationEntries(t *testing.T) {
	logs := history(20)
	a, b := newReplica(t, t.TempDir()), newReplica(t, t.TempDir())
	answers := a.ApplyBatch(append([]*raft.Log{{Index: 99, Type: raft.LogConfiguration}}, logs...))
	require.Len(t, answers, len(logs)+1)
	require.Nil(t, answers[0])
	for _, entry := range logs {
		result, ok := b.Apply(entry).(*Result)
		require.True(t, ok)
		require.Equal(t, entry.Index, result.Index)
	}
	require.Equal(t, kernel.Digest(a.State()), kernel.Digest(b.State()))
	require.Equal(t, a.State().Log, b.State().Log)
	require.NoError(t, a.fatal)
}

// A snapshot restored on another node gives the same state; what follows gives
// the same blocks, and reads below answer HISTORY_BEHIND (LO-2).
func TestSnapshotCarriesStateNotHistory(t *testing.T) {
	logs := history(20)
	a := newReplica(t, t.TempDir())
	a.ApplyBatch(logs[:11])
	snapshot := a.snapshot()
	b := newReplica(t, t.TempDir())
	require.NoError(t, b.restore(snapshot))
	require.Equal(t, kernel.Digest(a.State()), kernel.Digest(b.State()))
	require.EqualValues(t, 11, b.Applied())
	a.ApplyBatch(logs[11:])
	b.ApplyBatch(logs[11:])
	require.Equal(t, a.State().Log.Chain, b.State().Log.Chain)
	_, err := b.store.BlockAt(0)
	var behind *segment.HistoryBehindError
	require.ErrorAs(t, err, &behind)
	_, err = a.store.BlockAt(0)
	require.NoError(t, err)
}

// A restart restores, goes to the tail's position and applies the rest again:
// equal blocks are kept (mechanics: "The execution log", 6).
func TestRestartReappliesTheTail(t *testing.T) {
	logs, dir := history(20), t.TempDir()
	a := newReplica(t, dir)
	a.ApplyBatch(logs[:8])
	snapshot := a.snapshot()
	a.ApplyBatch(logs[8:])
	chain := a.State().Log.Chain
	a.close()
	again := newReplica(t, dir)
	require.NoError(t, again.restore(snapshot))
	again.ApplyBatch(logs[8:])
	require.NoError(t, again.fatal)
	require.Equal(t, chain, again.State().Log.Chain)
	_, err := again.store.BlockAt(0)
	require.NoError(t, err, "history is still there after a restart")
}

// A replica that once wrote something else notices it when it applies again (LO-3).
func TestRestartThatDerivesAnotherBlockStops(t *testing.T) {
	dir := t.TempDir()
	a := newReplica(t, dir)
	a.ApplyBatch(history(5))
	a.close()
	other := entries(event.Event{Kind: event.KernelBooted, Body: event.Encode(kerneltest.Config())},
		event.Event{Kind: event.AgentDefine, Principal: "somebody else", Body: event.Encode(event.Define{})})
	again := newReplica(t, dir)
	again.ApplyBatch(other)
	var diverged *segment.DivergenceError
	require.ErrorAs(t, again.fatal, &diverged)
}

// Every damaged byte of a snapshot is noticed before anything is swapped in,
// a newer version and another cluster's are named.
func TestSnapshotThatIsNotOurs(t *testing.T) {
	a := newReplica(t, t.TempDir())
	a.ApplyBatch(history(3))
	snapshot := a.snapshot()
	b := newReplica(t, t.TempDir())
	before := kernel.Digest(b.State())
	for at := range snapshot {
		damaged := bytes.Clone(snapshot)
		damaged[at] ^= 0x40
		require.Error(t, b.restore(damaged), "byte %d", at)
	}
	for cut := range snapshot {
		require.Error(t, b.restore(snapshot[:cut]), "cut at %d", cut)
	}
	newer := bytes.Clone(snapshot)
	newer[8] = 9
	require.ErrorIs(t, b.restore(newer), kernel.ErrSnapshotVersion)
	foreign := New(Options{ClusterID: "other", KernelID: "default", Log: b.store, Evaluators: registry.Lookup, Logger: hclog.NewNullLogger()})
	require.ErrorIs(t, foreign.Restore(io.NopCloser(bytes.NewReader(snapshot))), ErrForeignSnapshot)
	require.Equal(t, before, kernel.Digest(b.State()))
}

// An entry that cannot be decoded stops the node and names index, kind and
// version; nothing after it is applied (EV-2).
func TestDamagedEntryStopsTheNode(t *testing.T) {
	logs := history(3)
	logs[2].Data = bytes.Clone(logs[2].Data)
	logs[2].Data[5] ^= 1
	a := newReplica(t, t.TempDir())
	a.ApplyBatch(logs)
	require.ErrorIs(t, a.fatal, event.ErrChecksum)
	require.ErrorContains(t, a.fatal, "index 3")
	a.ApplyBatch(logs[3:])
	require.Zero(t, a.Applied(), "a dead FSM publishes nothing")
}

// compareEvent is a Checkpoint of three voters at index.
func compareEvent(index uint64, chains ...[32]byte) event.Event {
	c := event.Compare{Index: index}
	for i, chain := range chains {
		c.Values = append(c.Values, event.Voter{Node: fmt.Sprintf("n%d", i+1), Chain: chain})
	}
	return event.Event{Kind: event.Checkpoint, Body: event.Encode(c)}
}

// Whoever differs from the majority stops; without a majority everybody does
// (LO-3, INV-17).
func TestCheckpointComparesReplicas(t *testing.T) {
	wrong := [32]byte{1}
	for name, c := range map[string]struct {
		voters func(ours [32]byte) [][32]byte
		stops  bool
	}{
		"all equal":             {func(o [32]byte) [][32]byte { return [][32]byte{o, o, o} }, false},
		"another one differs":   {func(o [32]byte) [][32]byte { return [][32]byte{o, o, wrong} }, false},
		"this one differs":      {func([32]byte) [][32]byte { return [][32]byte{wrong, wrong, {2}} }, true},
		"nobody has a majority": {func(o [32]byte) [][32]byte { return [][32]byte{o, wrong, {2}} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newReplica(t, t.TempDir())
			a.ApplyBatch(history(3))
			chain, ok := a.Chain(4)
			require.True(t, ok)
			e := compareEvent(4, c.voters(chain)...)
			a.ApplyBatch([]*raft.Log{{Index: 5, Term: 1, Type: raft.LogCommand, Data: e.Append(nil)}})
			var diverged *DivergenceError
			require.Equal(t, c.stops, errors.As(a.fatal, &diverged), "%v", a.fatal)
		})
	}
}

// crash leaves the guard as a process does that died while it applied.
func crash(t *testing.T, dir string, index uint64, entry []byte) {
	g, err := OpenGuard(dir)
	require.NoError(t, err)
	g.enter(index, entry)
	require.NoError(t, g.Close())
}

// The third process that ends in the same event leaves the node in safe mode;
// a quarantined event becomes a recorded refusal (EV-14).
func TestCrashLoopAndQuarantine(t *testing.T) {
	dir, logs := t.TempDir(), history(3)
	for range MaxCrashes {
		crash(t, dir, 3, logs[2].Data)
	}
	_, err := OpenGuard(dir)
	var safe *SafeModeError
	require.ErrorAs(t, err, &safe)
	require.EqualValues(t, 3, safe.Index)
	sum := sha256.Sum256(logs[2].Data)
	require.Equal(t, hex.EncodeToString(sum[:]), safe.Digest)
	_, err = OpenGuard(dir)
	require.ErrorAs(t, err, &safe, "it stays in safe mode until somebody acts")

	quarantine(t, dir, 3, hex.EncodeToString(make([]byte, 32)))
	_, err = OpenGuard(dir)
	require.ErrorAs(t, err, &safe, "another entry is quarantined at this index")
	require.Contains(t, safe.Hint(), "names the digest 0000")
	require.Contains(t, safe.Hint(), fmt.Sprintf(`[{"index":3,"digest":%q}] into %s`, safe.Digest, filepath.Join(dir, quarantineFile)))

	quarantine(t, dir, 3, strings.ToUpper(safe.Digest))
	a := newReplica(t, dir)
	answers := a.ApplyBatch(logs)
	require.Equal(t, failure.Quarantined, answers[2].(*Result).Outcome.Refusal.Code)
	require.True(t, answers[3].(*Result).Outcome.Done())
	require.EqualValues(t, 2, a.State().Agents.Len())
}

func quarantine(t *testing.T, dir string, index uint64, digest string) {
	content := fmt.Sprintf(`[{"index":%d,"digest":%q}]`, index, digest)
	require.NoError(t, os.WriteFile(filepath.Join(dir, quarantineFile), []byte(content), 0o600))
}

// A quarantine that names nothing is told at the start, not ignored.
func TestQuarantineFileIsChecked(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{
		`{`, `{"index":3}`, `[{"index":3}]`, `[{"digest":"` + strings.Repeat("ab", 32) + `"}]`, `[{"index":3,"digest":"abc"}]`,
		`[{"index":3,"digest":"` + strings.Repeat("zz", 32) + `"}]`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, quarantineFile), []byte(content), 0o600))
		_, err := OpenGuard(dir)
		require.ErrorContains(t, err, quarantineFile, content)
	}
}

// An entry that was applied after all is forgiven: crashes are counted in a row.
func TestCrashesThatWereSurvivedAreForgotten(t *testing.T) {
	dir, logs := t.TempDir(), history(3)
	for range MaxCrashes {
		crash(t, dir, 3, logs[2].Data)
		crash(t, dir, 3, logs[2].Data)
		a := newReplica(t, dir)
		a.ApplyBatch(logs)
		require.NoError(t, a.fatal)
		a.close()
	}
}

// Crashes at different indexes are no loop.
func TestCrashesThatMakeProgress(t *testing.T) {
	dir := t.TempDir()
	for index := range uint64(10) {
		crash(t, dir, index+1, []byte("entry"))
	}
	g, err := OpenGuard(dir)
	require.NoError(t, err)
	require.NoError(t, g.Close())
}

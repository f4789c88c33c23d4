package nodejournal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

func open(t *testing.T, dir string) (*Journal, Past) {
	t.Helper()
	j, past, err := Open(dir)
	require.NoError(t, err)
	return j, past
}

// begin makes the registry of a process that starts over these files.
func begin(t *testing.T, dir string) (*Journal, *nodestate.Registry, Past) {
	t.Helper()
	j, past := open(t, dir)
	return j, nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy, Before: past.Before, Sink: j}), past
}

func take(t *testing.T, r *nodestate.Registry, triggers ...nodestate.Trigger) {
	t.Helper()
	for _, trigger := range triggers {
		require.Nil(t, r.Transition(trigger, nodestate.Cause{By: "test", Text: "because of " + string(trigger)}))
	}
}

func content(t *testing.T, dir, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return raw
}

// NO-3: a start knows what happened before it, and a node that was suspended
// comes back suspended.
func TestEveryStartKnowsTheLast(t *testing.T) {
	dir := t.TempDir()
	j, r, past := begin(t, dir)
	require.Nil(t, past.Before)
	take(t, r, nodestate.Start, nodestate.InitOK, nodestate.Pause, nodestate.Shutdown, nodestate.Done)
	require.NoError(t, j.Close())

	j, r, past = begin(t, dir)
	require.True(t, past.Before.Clean())
	require.Equal(t, []any{nodestate.Terminated, nodestate.Done, uint64(1), "because of done"},
		[]any{past.Before.State, past.Before.Trigger, past.Before.Boot, past.Before.Cause})
	require.Equal(t, "because of pause", past.Before.Suspension.Reason)
	take(t, r, nodestate.Start, nodestate.InitOK)
	require.Equal(t, nodestate.Suspended, r.State())
	take(t, r, nodestate.Resume, nodestate.Fatal)
	require.NoError(t, j.Close())

	j, r, past = begin(t, dir)
	require.False(t, past.Before.Clean())
	require.Equal(t, nodestate.Crashed, past.Before.State)
	require.Nil(t, past.Before.Suspension)
	require.Equal(t, uint64(3), r.Snapshot().Boot)
	require.NoError(t, j.Close())

	found, err := Read(dir)
	require.NoError(t, err)
	require.Empty(t, found.Damage)
	for i, e := range found.Entries {
		require.Equal(t, uint64(i+1), e.Seq)
	}
	require.Len(t, found.Entries, 6+5+1)
}

// Who was told that something is on disk finds it there: what is written later,
// or not at all, is as if the process had ended.
func TestSynced(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	j, r, _ := begin(t, dir)
	take(t, r, nodestate.Start, nodestate.InitOK, nodestate.Estop)
	require.NoError(t, j.Sync(t.Context()))
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	require.NoError(t, j.Close())

	j, past := open(t, copied)
	require.Equal(t, nodestate.Suspended, past.Before.State)
	require.True(t, past.Before.Suspension.Estop)
	require.NoError(t, j.Close())
}

func TestOneProcessHasTheDirectory(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, dir)
	_, err := lockDir(dir, 0)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, j.Close())
	j, _ = open(t, dir)
	require.NoError(t, j.Close())
}

// The files are bounded, and what a start needs is never in what went, however
// fast they filled.
func TestRotation(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	j, r, _ := begin(t, dir)
	take(t, r, nodestate.Start, nodestate.InitOK)
	require.NoError(t, j.Sync(t.Context()))
	for range nodestate.DefaultPolicy.DegradedAfter {
		r.Failed("backups", "disk full")
	}
	require.Equal(t, nodestate.Degraded, r.State())
	cause := nodestate.Cause{Text: strings.Repeat("x", 500)}
	for range 5 * maxBytes / 700 {
		require.NotNil(t, r.Transition(nodestate.Retry, cause))
		if r.Snapshot().Seq%100 == 0 {
			require.NoError(t, j.Sync(t.Context()))
		}
	}
	require.NoError(t, j.Sync(t.Context()))
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	last := r.Snapshot().Seq
	require.NoError(t, j.Close())

	total := len(content(t, copied, journalFile)) + len(content(t, copied, olderFile))
	require.LessOrEqual(t, total, 2*maxBytes)
	require.Greater(t, total, maxBytes)
	found, err := Read(copied)
	require.NoError(t, err)
	require.Empty(t, found.Damage)
	first := found.Entries[0].Seq
	require.Greater(t, first, uint64(1000))
	for i, e := range found.Entries {
		require.Equal(t, first+uint64(i), e.Seq)
	}
	require.Equal(t, last, found.Entries[len(found.Entries)-1].Seq)

	j, past := open(t, copied)
	require.Equal(t, []any{last, nodestate.Degraded}, []any{past.Before.Seq, past.Before.State})
	require.Nil(t, past.Before.Suspension)
	tail, err := j.Tail(last-5, 3)
	require.NoError(t, err)
	require.Len(t, tail.Entries, 3)
	require.Equal(t, last, tail.Entries[2].Seq)
	require.NoError(t, j.Close())
}

// A last line that is torn anywhere is cut off, on record; everything before it
// counts.
func TestTornAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	j, r, _ := begin(t, dir)
	take(t, r, nodestate.Start, nodestate.InitOK, nodestate.Pause, nodestate.Resume)
	require.NoError(t, j.Close())
	whole := content(t, dir, journalFile)
	lastLine := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for end := lastLine; end <= len(whole); end++ {
		torn := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(torn, journalFile), whole[:end], 0o600))
		j, past := open(t, torn)
		require.NoError(t, j.Close())
		found, err := Read(torn)
		require.NoError(t, err)
		require.Empty(t, found.Damage)
		last := found.Entries[len(found.Entries)-1]
		switch end {
		case lastLine:
			require.Equal(t, nodestate.Suspended, past.Before.State)
			require.Empty(t, past.Damage)
		case len(whole):
			require.Equal(t, nodestate.Running, past.Before.State)
			require.Empty(t, past.Damage)
		default:
			require.Equal(t, nodestate.Suspended, past.Before.State)
			require.NotNil(t, past.Before.Suspension)
			require.Equal(t, []Damage{{journalFile, int64(lastLine), fmt.Sprintf("the last line was torn, and its %d bytes were cut off", end-lastLine)}}, past.Damage)
			require.Equal(t, []any{nodestate.KindLost, uint64(5), past.Before.Seq}, []any{last.Kind, last.Seq, last.Seq})
		}
	}
}

// One damaged bit in the middle is named, and costs its line only.
func TestDamagedLines(t *testing.T) {
	dir := t.TempDir()
	j, r, _ := begin(t, dir)
	take(t, r, nodestate.Start, nodestate.InitOK, nodestate.Pause)
	require.NoError(t, j.Close())
	whole := content(t, dir, journalFile)
	second := bytes.IndexByte(whole, '\n') + 1
	third := second + bytes.IndexByte(whole[second:], '\n') + 1
	for at := second; at < third-1; at++ {
		spoilt := bytes.Clone(whole)
		spoilt[at] ^= 1
		if spoilt[at] == '\n' {
			continue // two lines that do not read
		}
		found, end := parse("f", spoilt)
		require.Equal(t, int64(len(whole)), end)
		require.Len(t, found.Entries, 3, "%d", at)
		require.Len(t, found.Damage, 1)
		require.Equal(t, int64(second), found.Damage[0].Offset)
	}
}

// A snapshot that does not read is named; where the journal does not tell all,
// the node rests until somebody says that it may go on.
func TestDamagedSnapshot(t *testing.T) {
	dir := t.TempDir()
	j, r, _ := begin(t, dir)
	take(t, r, nodestate.Start, nodestate.InitOK)
	require.NoError(t, j.Close())
	raw := content(t, dir, stateFile)
	raw[len(raw)/2] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(dir, stateFile), raw, 0o600))
	j, past := open(t, dir)
	require.NoError(t, j.Close())
	require.Len(t, past.Damage, 1)
	require.Equal(t, stateFile, past.Damage[0].File)
	require.Equal(t, nodestate.Running, past.Before.State)
	require.Nil(t, past.Before.Suspension, "the journal has it from the beginning")

	lines := bytes.SplitAfter(content(t, dir, journalFile), []byte{'\n'})
	require.NoError(t, os.WriteFile(filepath.Join(dir, journalFile), bytes.Join(lines[1:], nil), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, stateFile), raw, 0o600))
	j, past = open(t, dir)
	require.NoError(t, j.Close())
	require.Equal(t, nodestate.Running, past.Before.State)
	require.Contains(t, past.Before.Suspension.Reason, "does not read")

	require.NoError(t, os.WriteFile(filepath.Join(dir, stateFile), seal(nil, []byte(`{"format":7}`)), 0o600))
	_, _, err := Open(dir)
	require.ErrorIs(t, err, ErrNewer)
}

// A disk that takes nothing stops nobody: what waits is bounded, what is lost is
// counted, and all is well once it takes something again.
func TestDiskThatTakesNothing(t *testing.T) {
	dir := t.TempDir()
	j, r, _ := begin(t, dir)
	require.NoError(t, j.Sync(t.Context()))
	j.files.Lock()
	good := j.file
	closed, err := os.Open(filepath.Join(dir, journalFile)) // for reading only
	require.NoError(t, err)
	j.file = closed
	j.files.Unlock()
	take(t, r, nodestate.Start)
	require.ErrorContains(t, j.Sync(t.Context()), "node journal")
	require.Error(t, j.Err())
	for range maxPending + 10 {
		require.NotNil(t, r.Transition(nodestate.Retry, nodestate.Cause{}))
	}
	j.mu.Lock()
	require.Len(t, j.pending, maxPending)
	j.mu.Unlock()
	j.files.Lock()
	j.file = good
	j.files.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for j.Sync(ctx) != nil {
		require.NoError(t, ctx.Err())
	}
	require.NoError(t, j.Err())
	require.NoError(t, closed.Close())
	require.NoError(t, j.Close())
	found, err := Read(dir)
	require.NoError(t, err)
	last := found.Entries[len(found.Entries)-1]
	require.Equal(t, nodestate.KindLost, last.Kind)
	require.Equal(t, r.Snapshot().Seq, last.Seq)
	lost := 0
	for _, e := range found.Entries { // two, when the disk came back in the middle of an attempt
		if e.Kind == nodestate.KindLost {
			var count int
			_, err := fmt.Sscanf(e.Cause, "%d entries", &count)
			require.NoError(t, err)
			lost += count
		}
	}
	require.Equal(t, 11, lost)
}

func FuzzJournal(f *testing.F) {
	e := nodestate.Entry{Seq: 1, Boot: 1, Kind: nodestate.KindTransition, To: nodestate.Suspended, Hold: nodestate.HoldSet, Cause: "a\nb"}
	line, err := appendLine(nil, &e)
	require.NoError(f, err)
	f.Add(line)
	f.Add(append(bytes.Clone(line), line[:20]...))
	f.Add([]byte("{}\n\n\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		found, whole := parse("f", raw)
		require.LessOrEqual(t, whole, int64(len(raw)))
		require.True(t, whole == 0 || raw[whole-1] == '\n')
		require.Equal(t, bytes.Count(raw, []byte{'\n'}), len(found.Entries)+len(found.Damage))
		for _, d := range found.Damage {
			require.Less(t, d.Offset, whole)
		}
		// What is cut at the whole lines reads the same, and what reads is written as it reads.
		again, end := parse("f", raw[:whole])
		require.Equal(t, found, again)
		require.Equal(t, whole, end)
		for i := range found.Entries {
			written, err := appendLine(nil, &found.Entries[i])
			if err != nil {
				continue // a time that JSON cannot write
			}
			read, err := parseLine(bytes.TrimSuffix(written, []byte{'\n'}))
			require.NoError(t, err)
			require.Equal(t, found.Entries[i], read)
		}
		_ = remember(nil, found.Entries, nil)
	})
}

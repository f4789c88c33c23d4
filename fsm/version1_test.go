package fsm

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// testdata/version1 was written by a binary that knew kernel version 1 only, and is
// never written again: the Raft log of a random history of 830 events, the chain value
// and the digest of the state at every twentieth of them, and the snapshot that it
// took half way (EV-9).

// logged is one entry of that log.
type logged struct {
	raw         []byte
	term        uint64
	quarantined bool
}

func version1Log(t *testing.T) (all []logged) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "version1", "events.gz"))
	require.NoError(t, err)
	defer packed.Close()
	content, err := gzip.NewReader(packed)
	require.NoError(t, err)
	raw, err := io.ReadAll(content)
	require.NoError(t, err)
	for len(raw) > 0 {
		term, n := binary.Uvarint(raw)
		length, m := binary.Uvarint(raw[n:])
		raw = raw[n+m:]
		all = append(all, logged{raw: raw[:length], term: term >> 1, quarantined: term&1 == 1})
		raw = raw[length:]
	}
	require.Len(t, all, 830)
	return all
}

// version1Chain is the fixture's lines, by index.
func version1Chain(t *testing.T) map[uint64]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "version1", "chain"))
	require.NoError(t, err)
	lines := make(map[uint64]string)
	for line := range strings.Lines(string(content)) {
		var index uint64
		_, err := fmt.Sscanf(line, "%d ", &index)
		require.NoError(t, err)
		lines[index] = strings.TrimSuffix(line, "\n")
	}
	require.Len(t, lines, 42)
	return lines
}

func apply(t *testing.T, k *kernel.Kernel, index uint64, one logged) kernel.Applied {
	t.Helper()
	e, err := event.Decode(one.raw)
	require.NoError(t, err)
	if one.quarantined {
		return k.ApplyQuarantined(index, one.term, &e)
	}
	return k.Apply(index, one.term, &e)
}

func goesOn(t *testing.T, k *kernel.Kernel, all []logged) {
	t.Helper()
	lines := version1Chain(t)
	for i := k.Publish().Index; i < uint64(len(all)); i++ {
		chain := apply(t, k, i+1, all[i]).Log.Chain
		if want, ok := lines[i+1]; ok {
			digest := kernel.Digest(k.Publish())
			require.Equal(t, want, fmt.Sprintf("%d %s %s", i+1, hex.EncodeToString(chain[:]), hex.EncodeToString(digest[:])))
		}
	}
}

// EV-9: what kernel version 1 made of a log, this binary makes of it, byte for byte,
// and from its snapshot on as well.
func TestVersion1IsKept(t *testing.T) {
	all := version1Log(t)
	whole := kernel.New("default", kerneltest.Lookup)
	goesOn(t, whole, all)

	content, err := os.ReadFile(filepath.Join("testdata", "version1", "snapshot"))
	require.NoError(t, err)
	r := newReplica(t, t.TempDir())
	r.options.Evaluators = kerneltest.Lookup
	r.options.Needs = func(version uint32) error {
		require.EqualValues(t, 1, version, "nothing else is needed")
		return nil
	}
	require.NoError(t, r.Restore(io.NopCloser(bytes.NewReader(content))))
	require.EqualValues(t, 1, r.State().Version())
	goesOn(t, r.kernel, all)
	require.Equal(t, kernel.Digest(whole.Publish()), kernel.Digest(r.kernel.Publish()))
}

// EV-9: such a cluster goes on at version 2 when every node knows it, with its limits;
// who keeps the data hears of it first, and the snapshot says it.
func TestVersion1GoesOn(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "version1", "snapshot"))
	require.NoError(t, err)
	r := newReplica(t, t.TempDir())
	r.options.Evaluators = kerneltest.Lookup
	var needed []uint32
	r.options.Needs = func(version uint32) error {
		require.Less(t, r.State().Version(), max(version, 2), "before it is applied")
		needed = append(needed, version)
		return nil
	}
	require.NoError(t, r.Restore(io.NopCloser(bytes.NewReader(content))))
	limits := config.Default()
	raise := event.Event{Kind: event.KernelUpgraded, Wall: r.State().Clock, Principal: "node:n1", Body: event.Encode(event.Upgraded{
		Version: 2, LogWarnBytes: limits.LogWarnBytes, LogErrorBytes: limits.LogErrorBytes,
	})}
	answers := r.ApplyBatch([]*raft.Log{{Index: r.Applied() + 1, Term: 9, Type: raft.LogCommand, Data: raise.Append(nil)}})
	require.Empty(t, answers[0].(*Result).Outcome.Refusal)
	s := r.State()
	require.EqualValues(t, 2, s.Version())
	require.Equal(t, limits.LogErrorBytes, s.Config.LogErrorBytes)
	require.NotZero(t, s.Config.VersionSeq)
	require.Equal(t, []uint32{1, 2}, needed)

	again := newReplica(t, t.TempDir())
	again.options.Evaluators = kerneltest.Lookup
	require.NoError(t, again.restore(r.snapshot()))
	require.Equal(t, kernel.Digest(s), kernel.Digest(again.State()))
}

// EV-9: a log entry of a kernel version that this binary does not know stops the node
// before it is applied, and the message says what to do.
func TestLaterVersionsStopTheNode(t *testing.T) {
	const asNew = "this binary knows kernel versions 1 to 2 only: start this node with a binary that is as new as those of the other nodes"
	later := config.Default()
	later.ClusterID, later.Version = "test", config.Version+1
	for name, test := range map[string]struct {
		event event.Event
		says  string
	}{
		"a kind":           {event.Event{Kind: 199, Principal: "n"}, "kind 199: event: unknown kind: written by a newer version: " + asNew},
		"a version":        {event.Event{Kind: event.KernelUpgraded, Body: event.Encode(event.Upgraded{Version: config.Version + 1})}, "it is of kernel version 3, and " + asNew},
		"more in its body": {event.Event{Kind: event.KernelUpgraded, Body: []byte{0xa2, 0x01, 0x03, 0x18, 0x63, 0x01}}, "it is of kernel version 3, and " + asNew},
		"a configuration":  {event.Event{Kind: event.KernelBooted, Body: event.Encode(later)}, "it is of kernel version 3, and " + asNew},
	} {
		r := newReplica(t, t.TempDir())
		test.event.Wall = 1
		r.ApplyBatch([]*raft.Log{{Index: 2, Term: 1, Type: raft.LogCommand, Data: test.event.Append(nil)}})
		require.ErrorContains(t, r.fatal, "entry at index 2: "+test.says, name)
		require.Zero(t, r.Applied(), name)
	}
	r := newReplica(t, t.TempDir())
	r.options.Needs = func(uint32) error { return os.ErrPermission }
	boot := event.Event{Kind: event.KernelBooted, Wall: 1, Body: event.Encode(kerneltest.Config())}
	r.ApplyBatch([]*raft.Log{{Index: 2, Term: 1, Type: raft.LogCommand, Data: boot.Append(nil)}})
	require.ErrorIs(t, r.fatal, os.ErrPermission)
	require.Zero(t, r.Applied(), "what cannot be noted is not applied")
}

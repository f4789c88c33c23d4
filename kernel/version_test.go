package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// EV-9: the kernel version rises by one, with the limits that the next one brings;
// anything else is refused and changes nothing. The log folds and replays to it.
func TestKernelUpgraded(t *testing.T) {
	s := kerneltest.New(t, 2, kerneltest.Version1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, callEcho)}, nil)
	before := *s.State().Config
	require.EqualValues(t, 1, s.State().Version())
	for name, bad := range map[string]struct {
		event event.Upgraded
		field string
	}{
		"where it is":       {event.Upgraded{Version: 1, LogWarnBytes: 1, LogErrorBytes: 1}, "version"},
		"none":              {event.Upgraded{LogWarnBytes: 1, LogErrorBytes: 1}, "version"},
		"no warning":        {event.Upgraded{Version: 2, LogErrorBytes: 1}, "config.log_warn_bytes"},
		"error before warn": {event.Upgraded{Version: 2, LogWarnBytes: 2, LogErrorBytes: 1}, "config.log_error_bytes"},
	} {
		outcome := s.Node(event.KernelUpgraded, bad.event)
		require.Equal(t, failure.InvalidArgument, outcome.Refusal.Code, name)
		require.Equal(t, bad.field, outcome.Refusal.Field, name)
		require.Equal(t, before, *s.State().Config, name)
	}
	published := s.State()
	require.Empty(t, s.Node(event.KernelUpgraded, event.Upgraded{Version: 2, LogWarnBytes: 300, LogErrorBytes: 70_000}).Refusal)
	require.Equal(t, []string{"EVENT", "KERNEL_UPGRADED"}, s.Names())
	want := before
	want.Version, want.LogWarnBytes, want.LogErrorBytes = 2, 300, 70_000
	want.VersionSeq = s.Last()[1].Seq
	require.Equal(t, want, *s.State().Config)
	require.EqualValues(t, 1, published.Version(), "EV-1")
	again := s.Node(event.KernelUpgraded, event.Upgraded{Version: 2, LogWarnBytes: 300, LogErrorBytes: 70_000})
	require.Equal(t, failure.InvalidArgument, again.Refusal.Code, "it does not rise twice to the same")
	s.Answer(true, 1)
	s.Kill(id)
	s.CheckFold()
	for at := 1; at <= len(s.Log); at++ {
		s.CheckReplay(at)
	}

	later := &event.Event{Kind: event.KernelUpgraded, Wall: s.Wall, Body: event.Encode(event.Upgraded{Version: kernel.Version + 1})}
	assert.Panics(t, func() { s.Replicas[1].Apply(uint64(len(s.Log)+1), 1, later) }, "others may apply it: it is not refused")

	unbooted := kerneltest.Unbooted(t, 1, registry.Lookup)
	require.Equal(t, failure.NotBooted, unbooted.Upgrade().Refusal.Code)
}

// EV-9: a cluster begins at any version that the binary knows, the newest by default.
func TestFirstVersion(t *testing.T) {
	require.EqualValues(t, kernel.Version, kerneltest.New(t, 1).State().Version())
	old := kerneltest.New(t, 1, func(c *config.Config) { c.Version, c.LogWarnBytes, c.LogErrorBytes = 1, 0, 0 })
	require.EqualValues(t, 1, old.State().Version())
	require.Empty(t, old.Upgrade().Refusal)
	require.EqualValues(t, 2, old.State().Version())
}

// EV-9: a snapshot whose configuration has more in it than this binary knows is a newer
// one, and not a damaged one.
func TestSnapshotWithMoreInIt(t *testing.T) {
	s := kerneltest.New(t, 1)
	all := sections(s)
	more := struct {
		_                                                                            struct{} `cbor:",toarray"`
		Format                                                                       uint32
		Config                                                                       map[int]any
		Clock, Index, Term, InternedNext, PlaceNext, Reserved, TimerNext, AuditCount int
		Stop                                                                         *int
	}{Config: map[int]any{1: kernel.Version + 1, 999: "x"}}
	all[0].Body = event.Encode(more)
	require.ErrorIs(t, restore(all), kernel.ErrSnapshotVersion)
	more.Config[1] = kernel.Version
	all[0].Body = event.Encode(more)
	require.ErrorIs(t, restore(all), kernel.ErrSnapshotBroken)
}

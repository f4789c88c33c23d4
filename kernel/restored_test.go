package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// EV-17: what a backup held goes on as another cluster's: by one event, on record,
// and only for what was restored. Everything else stays as it was.
func TestClusterRestored(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	at := s.State().Log
	sound := event.Restored{From: "test", To: "second", Index: at.LastIndex, Chain: at.Chain}
	for field, change := range map[string]func(*event.Restored){
		"from":              func(r *event.Restored) { r.From = "second" },
		"to":                func(r *event.Restored) { r.To = "test" },
		"config.cluster_id": func(r *event.Restored) { r.To = strings.Repeat("x", 65) },
		"index":             func(r *event.Restored) { r.Index++ },
	} {
		at := s.State().Log // every refusal is an event, too
		r := sound
		r.Index, r.Chain = at.LastIndex, at.Chain
		change(&r)
		outcome := s.Node(event.ClusterRestored, r)
		require.Equal(t, failure.InvalidArgument, outcome.Refusal.Code, field)
		require.Equal(t, field, outcome.Refusal.Field)
		require.Equal(t, "test", s.State().Config.ClusterID)
	}
	outcome := s.Node(event.ClusterRestored, sound)
	require.Equal(t, "index", outcome.Refusal.Field, "something happened in between")

	before := s.State()
	sound.Index, sound.Chain = before.Log.LastIndex, before.Log.Chain
	require.Empty(t, s.Node(event.ClusterRestored, sound).Refusal)
	require.Equal(t, []string{"EVENT", "CLUSTER_RESTORED"}, s.Names())
	require.Equal(t, &sound, s.Last()[1].Content)
	require.Equal(t, "test", before.Config.ClusterID, "a published state stays what it is (EV-1)")
	after := s.State()
	require.Equal(t, "second", after.Config.ClusterID)
	back := *after
	back.Config = before.Config
	require.Equal(t, kerneltest.Substance(before), kerneltest.Substance(&back), "nothing else has changed")

	outcome = s.Node(event.ClusterRestored, sound)
	require.Equal(t, "from", outcome.Refusal.Field, "once")
	s.Answer(true, map[string]any{"n": 1})
	require.Equal(t, "TERMINATED", s.StateOf(id).String(), "the agent goes on")
	s.Restart()
	s.Check()

	unbooted := kerneltest.Unbooted(t, 1, kerneltest.Lookup)
	require.Equal(t, failure.NotBooted, unbooted.Node(event.ClusterRestored, sound).Refusal.Code)
}

// EV-10, EV-17: ids that the kernel makes are not made again by the cluster that a
// backup was restored to, nor by a second one.
func TestRestoredClustersMakeOtherIDs(t *testing.T) {
	ids := make(map[[16]byte]bool)
	for _, to := range []string{"", "second", "third"} {
		s := kerneltest.New(t, 1)
		if to != "" {
			at := s.State().Log
			require.Empty(t, s.Node(event.ClusterRestored, event.Restored{From: "test", To: to, Index: at.LastIndex, Chain: at.Chain}).Refusal)
		}
		ids[s.Must(event.AgentDefine, event.Define{}).Agent] = true
	}
	require.Len(t, ids, 3)
	require.Equal(t, "CLUSTER_RESTORED", kernel.KindName(bus.ClusterRestored))
}

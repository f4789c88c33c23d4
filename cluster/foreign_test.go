package cluster

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// A leader whose state is still the old cluster's takes no command, alone or in a
// batch: the log must end where its first event says that it ends (EV-17).
func TestNoCommandBeforeTheClusterIsItself(t *testing.T) {
	var file bytes.Buffer
	s := kerneltest.New(t, 1).State()
	require.NoError(t, snapshot.Write(&file, "second", "default", s))
	log, err := segment.Open(t.TempDir(), segment.Options{Owner: segment.Owner("second", "default")})
	require.NoError(t, err)
	defer log.Close()
	n := &Node{config: Config{ClusterID: "second", NodeID: "n1"}, fsm: fsm.New(fsm.Options{
		ClusterID: "second", KernelID: "default", Log: log, Evaluators: registry.Lookup, Logger: hclog.NewNullLogger(),
	})}
	n.state = nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy})
	n.stamps.wall = time.Now
	require.NoError(t, n.fsm.Restore(io.NopCloser(&file)))
	n.stamps.begin(s.Clock)

	e := n.first(t.Context(), n.fsm.State(), 7)
	require.Equal(t, event.ClusterRestored, e.Kind)
	says, ok := event.DecodeBody[event.Restored](e.Body)
	require.True(t, ok)
	require.Equal(t, &event.Restored{From: "test", To: "second", Index: s.Index, Chain: s.Log.Chain}, says)

	command := event.Event{Kind: event.AgentDefine, Body: event.Encode(event.Define{})}
	for _, answer := range append(n.ProposeAll(t.Context(), []event.Event{command}), n.Propose(t.Context(), command)) {
		require.Equal(t, Refused, answer.Verdict)
		require.Equal(t, CodeNoLeader, answer.Code)
		require.Contains(t, answer.Detail, "restored from a backup")
	}
}

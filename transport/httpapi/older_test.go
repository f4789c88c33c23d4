package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// older is a node whose log is published and whose state is not yet: for a moment
// that is so after every batch.
type older struct {
	*solo.Node
	state atomic.Pointer[state.State]
}

func (o *older) Read(ctx context.Context, c cluster.Consistency) (cluster.View, error) {
	view, err := o.Node.Read(ctx, c)
	view.State = o.state.Load()
	return view, err
}

// passes reads on to a sign of life and gives the records on the way.
func (w *watched) passes() (seqs []uint64) {
	w.t.Helper()
	for {
		e, ok := w.next()
		require.True(w.t, ok, "the stream ended: %v", w.lines.Err())
		if e.comment != "" {
			return seqs
		}
		if e.event == api.EventRecord {
			seq, err := strconv.ParseUint(e.id, 10, 64)
			require.NoError(w.t, err)
			seqs = append(seqs, seq)
		}
	}
}

// CL-5: no record is rendered from a state that is older than it: what the log has
// already waits for the state. Neither a watch nor a page is ahead of the state.
func TestRecordsWaitForTheState(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	node := &older{Node: g.Nodes[0]}
	newest := func() *state.State {
		view, err := g.Nodes[0].Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
		require.NoError(t, err)
		return view.State
	}
	node.state.Store(newest())
	urls := g.Serve(t, httpapi.Options{})
	front := &door{t, g, urls[0]}
	server := httpapi.New(node, httpapi.Options{Heartbeat: 20 * time.Millisecond})
	served := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		assert.NoError(t, server.Shutdown(context.Background()))
		served.Close()
	})
	behind := &door{t, g, served.URL}

	states := []*state.State{newest()}
	var agents []string
	for range 3 {
		agents = append(agents, front.start(echo).AgentID)
		states = append(states, newest())
	}
	all := decode[api.LogPage](t, front.get("/log?limit=1000"), http.StatusOK).Records
	from := states[0].Log.NextSeq
	w, _ := behind.watch(t, fmt.Sprintf("?from=%d", from))
	w.opened()
	early, _ := behind.watch(t, fmt.Sprintf("?from=%d&agent=%s", from, agents[2])) // whom this state does not know
	early.opened()
	require.Empty(t, w.passes(), "the log has more, and the state does not")
	for i, s := range states[1:] {
		node.state.Store(s)
		got := w.records(int(s.Log.NextSeq - from))
		assert.Equal(t, all[from-1:s.Log.NextSeq-1], got)
		from = s.Log.NextSeq
		require.Empty(t, w.passes())
		page := decode[api.LogPage](t, behind.get("/log?limit=1000"), http.StatusOK)
		assert.Equal(t, all[:from-1], page.Records)
		assert.Equal(t, from, page.Next)
		page = decode[api.LogPage](t, behind.get("/log?limit=1000&agent="+agents[i]), http.StatusOK)
		require.NotEmpty(t, page.Records)
		assert.Less(t, page.Records[len(page.Records)-1].BusSeq, from)
	}
	var its []api.Record
	for _, r := range all {
		if r.AgentID == agents[2] {
			its = append(its, r)
		}
	}
	assert.Equal(t, its, early.records(len(its)))
}

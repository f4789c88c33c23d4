package traffic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/transport/api"
)

// recordNo is a record of a log that was never there.
func recordNo(seq uint64) api.Record {
	return api.Record{BusSeq: seq, Index: seq, Term: 1, Kind: "EVENT", Body: json.RawMessage(`{}`)}
}

// liar is a node whose first stream is what it is told; who comes again ends the
// traffic.
func liar(t *testing.T, end context.CancelFunc, gives ...uint64) *httptest.Server {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			end()
			<-r.Context().Done()
			return
		}
		for _, seq := range gives {
			b, err := json.Marshal(recordNo(seq))
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(w, "id: %d\nevent: record\ndata: %s\n\n", seq, b)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// CL-5: what a stream does wrong stands in the history as it was, though what is in
// order is written down in runs.
func TestStreamsAreRecordedAsTheyWere(t *testing.T) {
	var file bytes.Buffer
	seen := func(gives ...uint64) []history.Seen {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		node := liar(t, cancel, gives...)
		nodes := []traffic.Node{{ID: "n1", URL: node.URL}}
		c, err := traffic.NewClient(nodes)
		require.NoError(t, err)
		file.Reset()
		e := &traffic.Env{Record: history.NewRecorder(&file), Client: c, Nodes: nodes, Seed: 3}
		streams := new(traffic.Streams)
		require.NoError(t, streams.Setup(t.Context(), e))
		traffic.Run(ctx, e, traffic.Pace{}, traffic.Load{Workload: streams, Workers: 1})
		require.NoError(t, e.Record.Close())
		h, err := history.Load(&file)
		require.NoError(t, err)
		evidence := &check.Evidence{History: h}
		for seq := range uint64(6) {
			evidence.Log = append(evidence.Log, recordNo(seq+1))
		}
		v := check.Stream{}.Check(t.Context(), evidence)
		if len(h.Seen) == 1 {
			require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
		} else {
			require.Equal(t, check.Invalid, v.Word)
		}
		return h.Seen
	}
	whole := seen(1, 2, 3, 4, 5)
	require.Len(t, whole, 1)
	require.Equal(t, 5, whole[0].Records())
	require.EqualValues(t, 5, whole[0].Through())
	for _, wrong := range [][]uint64{{1, 2, 2, 3}, {1, 2, 4, 5}, {1, 3, 2, 4}, {1, 2, 3, 1, 2, 3}} {
		require.Greater(t, len(seen(wrong...)), 1, "%v", wrong)
	}
}

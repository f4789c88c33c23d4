package traffictest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/proxy"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Run does traffic: a calm part, then one with trouble, which is over when trouble
// returns, with all nodes up. It is called once. The evidence holds everything.
func (c *Cluster) Run(calm time.Duration, pace traffic.Pace, trouble func(), loads ...traffic.Load) *check.Evidence {
	c.t.Helper()
	r := c.Env.Record
	r.Phase(history.Setup)
	for _, load := range loads {
		require.NoError(c.t, load.Workload.Setup(c.t.Context(), c.Env))
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	done := make(chan struct{})
	r.Phase(history.Calm)
	go func() {
		defer close(done)
		traffic.Run(ctx, c.Env, pace, loads...)
	}()
	<-time.After(calm)
	r.Phase(history.Faults)
	if trouble != nil {
		trouble()
	}
	r.Phase(history.Heal)
	c.Lose(proxy.Faults{})
	probing, enough := context.WithTimeout(c.t.Context(), check.ServeAgain)
	defer enough()
	require.NoError(c.t, traffic.Probe(probing, c.Env))
	before := r.Done()
	require.Eventually(c.t, func() bool { return r.Done() > before+50 }, 30*time.Second, 10*time.Millisecond)
	cancel()
	<-done
	r.Phase(history.Final)
	c.Well()
	for _, load := range loads {
		require.NoError(c.t, load.Workload.Finish(c.t.Context(), c.Env))
	}
	return c.evidence()
}

func (c *Cluster) evidence() *check.Evidence {
	c.t.Helper()
	e := &check.Evidence{Dir: c.t.TempDir()}
	status := c.Well()
	for _, n := range status.Nodes {
		sum := sha256.New()
		e.Log = e.Log[:0]
		lines := json.NewEncoder(sum)
		for record, err := range c.Env.Client.Records(c.t.Context(), api.LogQuery{}, client.Node(n.ID), client.Consistency(api.Stale)) {
			require.NoError(c.t, err)
			require.NoError(c.t, lines.Encode(record))
			e.Log = append(e.Log, record)
		}
		c.Env.Record.Sight(history.Sight{
			Node: n.ID, Role: n.Role, Term: n.Term, Applied: n.AppliedIndex, Commit: n.CommitIndex, BusSeq: n.BusSeq, Digest: n.Digest, Healthy: n.Healthy,
		})
		e.Nodes = append(e.Nodes, n.ID)
		e.Ends = append(e.Ends, check.End{
			Node: n.ID, Applied: n.AppliedIndex, BusSeq: n.BusSeq, Digest: n.Digest, Log: hex.EncodeToString(sum.Sum(nil)),
		})
	}
	require.NoError(c.t, c.Env.Record.Close())
	loaded, err := history.Load(&c.history)
	require.NoError(c.t, err)
	e.History = loaded
	return e
}

package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// slowToRecord is a node whose orders come on record late, or not.
type slowToRecord struct {
	*solo.Node
	behind  atomic.Bool                                                                           // it has not replayed its log
	record  func(ctx context.Context, record func(context.Context) cluster.Answer) cluster.Answer // nil: as it is
	ordered func(ctx context.Context)
	changed atomic.Int64
}

func (n *slowToRecord) Record(ctx context.Context, by string, o event.Order) cluster.Answer {
	record := func(ctx context.Context) cluster.Answer { return n.Node.Record(ctx, by, o) }
	if n.record != nil {
		return n.record(ctx, record)
	}
	return record(ctx)
}

func (n *slowToRecord) Known() (*state.State, bool) {
	known, current := n.Node.Known()
	return known, current && !n.behind.Load()
}

func (n *slowToRecord) Order(ctx context.Context, o cluster.Order) (cluster.Ordered, error) {
	if n.ordered != nil {
		n.ordered(ctx)
	}
	return n.Node.Order(ctx, o)
}

func (n *slowToRecord) ChangeMember(ctx context.Context, c cluster.MemberChange) (cluster.MemberChanged, error) {
	if !c.DryRun {
		n.changed.Add(1)
	}
	return n.Node.ChangeMember(ctx, c)
}

func newSlowDoor(t *testing.T, version uint32, options httpapi.Options) (*door, *slowToRecord) {
	g := solo.New(t, 1, solo.Setup{Config: func(c *config.Config) { *c = c.At(version) }})
	n := &slowToRecord{Node: g.Nodes[0]}
	return &door{t, g, serveNode(t, n, options)}, n
}

// AU-10: a leader that has just started may know neither the kernel version nor that
// callers are judged: what it carries out itself waits for that, however near the caller.
func TestNothingIsDoneByAnOldVersion(t *testing.T) {
	tooLow := func(context.Context, func(context.Context) cluster.Answer) cluster.Answer {
		return cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeVersionTooLow, Detail: "the kernel version is 1"}
	}
	for name, c := range map[string]struct {
		version uint32
		behind  bool
	}{"behind at version 1": {1, true}, "behind": {config.Version, true}, "the leader is behind": {config.Version, false}} {
		t.Run(name, func(t *testing.T) {
			d, n := newSlowDoor(t, c.version, httpapi.Options{})
			n.record = tooLow
			n.behind.Store(c.behind)
			e := refuses(t, d.send(http.MethodPost, "/v1/cluster/members/n1/promote", ""), http.StatusServiceUnavailable, "NO_LEADER", "")
			assert.True(t, e.Definite)
			assert.Contains(t, e.Message, "could not be put on record")
			assert.Zero(t, n.changed.Load())
			paused := decode[api.NodeOrdered](t, d.send(http.MethodPost, "/v1/node/estop", ""), http.StatusOK)
			assert.Contains(t, paused.NotOnRecord, "has just started", "whoever is on its machine is told")
		})
	}
	d, n := newSlowDoor(t, 1, httpapi.Options{})
	n.record = tooLow
	decode[api.MemberChanged](t, d.send(http.MethodPost, "/v1/cluster/members/n1/promote", ""), http.StatusOK)
	assert.Empty(t, decode[api.NodeOrdered](t, d.send(http.MethodPost, "/v1/node/estop", ""), http.StatusOK).NotOnRecord)
}

// AU-10: an election is waited for, also by what could go without record.
func TestOrdersWaitForALeader(t *testing.T) {
	d, n := newSlowDoor(t, config.Version, httpapi.Options{})
	var asked atomic.Int64
	n.record = func(ctx context.Context, record func(context.Context) cluster.Answer) cluster.Answer {
		if asked.Add(1) == 1 {
			return cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNoLeader, Detail: "an election is going on"}
		}
		return record(ctx)
	}
	require.Eventually(t, func() bool { // a busy machine may not come to the second try in time
		asked.Store(0)
		r := d.get("/backup")
		return r.status == http.StatusOK && r.header.Get(api.HeaderNotOnRecord) == ""
	}, time.Minute, time.Millisecond)
}

// AU-10: what it took to find that an order cannot be put on record, is not taken from
// what it is carried out in; and a client still waits then.
func TestOrdersAreCarriedOutInTheirOwnTime(t *testing.T) {
	d, n := newSlowDoor(t, config.Version, httpapi.Options{CommandTimeout: 50 * time.Millisecond})
	n.record = func(ctx context.Context, _ func(context.Context) cluster.Answer) cluster.Answer {
		ends, bounded := ctx.Deadline()
		assert.True(t, bounded)
		assert.LessOrEqual(t, time.Until(ends), 2*time.Second)
		<-ctx.Done()
		return cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeTimeout, Detail: "the time was over"}
	}
	ordered := false
	n.ordered = func(ctx context.Context) {
		ordered = true
		_, bounded := ctx.Deadline()
		assert.True(t, bounded)
		assert.NoError(t, context.Cause(ctx))
	}
	done := decode[api.NodeOrdered](t, d.send(http.MethodPost, "/v1/node/estop", ""), http.StatusOK)
	assert.Equal(t, "the time was over", done.NotOnRecord)
	assert.True(t, ordered)
}

// A node that has not started yet has no log to ask, and says that.
func TestNothingIsReadFromANodeThatWaits(t *testing.T) {
	state := nodestate.New(nodestate.Options{})
	url := serveNode(t, cluster.Wait(cluster.Config{NodeID: "n1", ClusterID: "test", KernelID: "default", State: state}), httpapi.Options{})
	d := &door{t: t, url: url}
	for _, path := range []string{"/backup", "/backup?consistency=stale", "/log/export"} {
		refuses(t, d.get(path), http.StatusServiceUnavailable, "NOT_CAUGHT_UP", "")
	}
}

// serveNode serves a node's API to callers on its machine.
func serveNode(t *testing.T, n httpapi.Node, options httpapi.Options) (url string) {
	server := httpapi.New(n, options)
	served := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		assert.NoError(t, server.Shutdown(context.Background()))
		served.Close()
	})
	return served.URL
}

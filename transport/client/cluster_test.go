package client_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/tools"
	echotool "github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/kernel/config"
	evaluators "github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/raftstream"
)

// trio is three real nodes, each behind its own API.
type trio struct {
	peers []cluster.Peer
	stops []func()
}

func newTrio(t *testing.T) *trio {
	c := &trio{stops: make([]func(), 3)}
	listeners := make([]net.Listener, 3)
	endpoints := make([]*raftstream.Endpoint, 3)
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		id := fmt.Sprintf("n%d", i+1)
		endpoints[i], err = raftstream.Listen(raftstream.Options{
			Listen: "127.0.0.1:0", ClusterID: "test", NodeID: id, Logger: hclog.NewNullLogger(),
		})
		require.NoError(t, err)
		listeners[i] = l
		c.peers = append(c.peers, cluster.Peer{ID: id, Raft: endpoints[i].Address(), API: "http://" + l.Addr().String()})
	}
	for i := range 3 {
		c.stops[i] = c.start(t, i, listeners[i], endpoints[i])
		t.Cleanup(c.stops[i])
	}
	return c
}

func (c *trio) start(t *testing.T, i int, l net.Listener, endpoint *raftstream.Endpoint) (stop func()) {
	streams, err := endpoint.Kernel("default")
	require.NoError(t, err)
	registry, err := tools.New(tools.Options{}, echotool.Adapter{})
	require.NoError(t, err)
	node, err := cluster.Open(cluster.Config{
		NodeID: c.peers[i].ID, ClusterID: "test", KernelID: "default", DataDir: t.TempDir(), Peers: c.peers,
		Stream: streams.Layer(), Calls: streams.Peers(), Tools: registry, Evaluators: evaluators.Lookup, Limits: config.Default(),
		Store:  raftstore.Kind(os.Getenv("OMNI_TEST_STORE")),
		Fatal:  func(err error) { t.Errorf("node %s: %v", c.peers[i].ID, err) },
		Logger: hclog.NewNullLogger(),
	})
	require.NoError(t, err)
	streams.Peers().Handle(node.HandlePeer)
	server := httpapi.New(node, httpapi.Options{})
	go func() { _ = server.Serve(l) }()
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		assert.NoError(t, server.Shutdown(ctx))
		assert.NoError(t, node.Stop(ctx))
		assert.NoError(t, endpoint.Close())
	})
}

func (c *trio) urls() (urls []string) {
	for _, p := range c.peers {
		urls = append(urls, p.API)
	}
	return urls
}

// A real cluster under load loses its leader twice: every command is applied
// once, every reader sees all of it in order, and the tool that an agent waited
// for has answered (CL-1 … CL-5).
func TestRealCluster(t *testing.T) {
	nodes := newTrio(t)
	c := connect(t, client.Options{Attempt: time.Second}, nodes.urls()...)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	_, err := c.Define(ctx, event.Define{})
	require.NoError(t, err, "the first leader")

	stop := make(chan struct{})
	var work sync.WaitGroup
	var mu sync.Mutex
	got := map[string]bool{}
	for range 8 {
		fork := c.Fork()
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				done, err := fork.Define(ctx, event.Define{})
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				got[done.AgentID] = true
				mu.Unlock()
			}
		})
	}
	slow, err := c.Start(ctx, event.Start{Define: echo(t)})
	require.NoError(t, err)
	status, err := c.Status(ctx)
	require.NoError(t, err)
	_, err = c.Transfer(ctx, "")
	require.NoError(t, err)
	_, err = c.Define(ctx, event.Define{})
	require.NoError(t, err)
	moved, err := c.Status(ctx)
	require.NoError(t, err)
	assert.NotEqual(t, status.Leader, moved.Leader)
	for i, p := range nodes.peers {
		if p.ID == moved.Leader {
			nodes.stops[i]()
		}
	}
	_, err = c.Define(ctx, event.Define{})
	require.NoError(t, err)
	close(stop)
	work.Wait()

	agent, err := c.Await(ctx, slow.AgentID, client.Finished)
	require.NoError(t, err)
	said, _ := agent.Result.Text()
	assert.Equal(t, "hello", said)
	assert.Equal(t, len(got)+4, len(agents(t, c)))

	next, last := uint64(1), uint64(0)
	for r, err := range c.Records(ctx, api.LogQuery{}) {
		require.NoError(t, err)
		require.Equal(t, next, r.BusSeq)
		next, last = next+1, r.BusSeq
	}
	watched := uint64(0)
	for r, err := range c.Watch(ctx, api.WatchQuery{From: 1}) {
		require.NoError(t, err)
		require.Equal(t, watched+1, r.BusSeq)
		if watched = r.BusSeq; watched == last {
			break
		}
	}
	for _, p := range nodes.peers {
		if p.ID == moved.Leader {
			continue
		}
		agent, err := c.Agent(ctx, slow.AgentID, client.Node(p.ID))
		require.NoError(t, err, "linearizable on every node")
		assert.Equal(t, p.ID, agent.Node)
	}
}

//go:build long

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// storyDeaths is at how many events of the story, spread over it, the leader is
// killed.
const storyDeaths = 10

// The story of cluster/story_test.go, told by real processes: a tree of agents of
// depth 3, with retries, waits, orders and decisions, comes to the same results
// when the leader's process is killed at one of its events, on every node alike
// (INV-17), and orders nothing twice (TO-4).
func TestStoryWithProcesses(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		service := newStoryService(t)
		nodes := startCluster(t, store)
		quiet := tellStory(t, nodes, service, "quiet", 0)
		require.Equal(t, map[string]string{"left-b": `"ordered"`, "right-b": `"ordered"`}, quiet.orders)
		t.Logf("%d events: %s", quiet.events, quiet.facts["root"])
		for n := range uint64(storyDeaths) {
			at := 1 + n*(quiet.events-1)/(storyDeaths-1)
			t.Run(fmt.Sprint(at), func(t *testing.T) {
				began := time.Now()
				told := tellStory(t, nodes, service, fmt.Sprintf("death-%d-%d", n, at), at)
				t.Logf("%d events in %.1f s, orders: %v", told.events, time.Since(began).Seconds(), told.orders)
				require.Equal(t, quiet.facts, told.facts)
				told.judgeOrders(t)
			})
		}
	})
}

// storyTold is one run of the story on a cluster.
type storyTold struct {
	client  *client.Client
	service *storyService
	name    string            // of the run: part of the service's URLs, and of keys
	ids     map[string]string // agents' ids by name
	events  uint64

	facts  map[string]string // what is the same however often nodes die
	orders map[string]string // what became of the orders, which is not
}

// tellStory runs the story once; at other than 0 the leader's process is killed
// when it has published so many of its events.
func tellStory(t *testing.T, nodes *dev.Cluster, service *storyService, name string, at uint64) *storyTold {
	c, err := client.New(nodes.File().APIs(), client.Options{Timeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	s := &storyTold{client: c, service: service, name: name}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	status, _, err := drill.AwaitAlike(ctx, c, time.Minute)
	require.NoError(t, err)
	killed := make(chan error, 1)
	if at > 0 {
		go func() { killed <- killAt(ctx, nodes, status, at) }()
	}
	base := leaderOf(status).AppliedIndex
	root := s.script(ctx, t)
	s.events = root.Index - base
	if at > 0 {
		require.NoError(t, <-killed)
	}
	_, alike, err := drill.AwaitAlike(ctx, c, time.Minute)
	require.NoError(t, err)
	require.True(t, alike, "the digests differ")
	s.read(ctx, t)
	return s
}

func leaderOf(s api.Status) api.NodeStatus {
	for _, n := range s.Nodes {
		if n.ID == s.Leader {
			return n
		}
	}
	return api.NodeStatus{}
}

// killAt follows the leader's log and kills its process.
func killAt(ctx context.Context, nodes *dev.Cluster, status api.Status, at uint64) error {
	leader := leaderOf(status)
	c, err := client.New([]string{leader.API}, client.Options{Timeout: 3 * time.Minute})
	if err != nil {
		return err
	}
	defer c.Close()
	for record, err := range c.Watch(ctx, api.WatchQuery{From: leader.BusSeq + 1}, client.Node(leader.API)) {
		if err != nil {
			return err
		}
		if record.Index >= leader.AppliedIndex+at {
			return nodes.Signal(leader.ID, syscall.SIGKILL)
		}
	}
	return ctx.Err()
}

// script is what the client does. It returns the root when it has ended.
func (s *storyTold) script(ctx context.Context, t *testing.T) api.Agent {
	t.Helper()
	say := func(v any) value.Raw {
		raw, problem := value.FromGo(v)
		require.Nil(t, problem)
		return raw
	}
	_, define, err := readAgent("../../cluster/testdata/story.yaml", nil)
	require.NoError(t, err)
	// With the version a second execution could not but be refused (CL-3).
	_, err = s.client.PutShared(ctx, event.PutShared{Namespace: "told", Key: s.name, Value: say(true), Version: new(uint64)})
	require.NoError(t, err)
	started, err := s.client.Start(ctx, event.Start{Define: define, Input: say(map[string]any{"service": s.service.URL + "/" + s.name})})
	require.NoError(t, err)
	_, err = s.client.Send(ctx, event.Send{Agent: started.AgentID, Message: say(map[string]any{"text": "fill the shelf"})})
	require.NoError(t, err)
	right := ""
	require.Eventually(t, func() bool {
		s.ids = s.tree(ctx, started.AgentID)
		right = s.ids["right"]
		return right != ""
	}, time.Minute, 20*time.Millisecond)
	_, err = s.client.Send(ctx, event.Send{Agent: right, Message: say(map[string]any{"factor": 7})})
	require.NoError(t, err)
	root, err := s.client.Await(ctx, started.AgentID, client.Finished)
	require.NoError(t, err)
	require.Nil(t, root.Failure)
	s.ids = s.tree(ctx, started.AgentID)
	return root
}

// tree names the agents of a tree.
func (s *storyTold) tree(ctx context.Context, root string) map[string]string {
	page, err := s.client.Tree(ctx, root, api.TreeQuery{})
	if err != nil {
		return nil
	}
	ids := make(map[string]string)
	for _, agent := range page.Agents {
		ids[agent.Name] = agent.AgentID
	}
	return ids
}

// read collects what the story came to.
func (s *storyTold) read(ctx context.Context, t *testing.T) {
	t.Helper()
	require.Len(t, s.ids, 7)
	s.facts, s.orders = make(map[string]string), make(map[string]string)
	for name, id := range s.ids {
		agent, err := s.client.Agent(ctx, id)
		require.NoError(t, err)
		s.facts[name] = fmt.Sprintf("%s %s, %d messages, %d values", agent.State, s.named(agent.Result), agent.Mailbox, agent.Emitted)
		keys, err := s.client.MemoryKeys(ctx, id, api.MemoryQuery{})
		require.NoError(t, err)
		for _, key := range keys.Keys {
			stored, err := s.client.MemoryValue(ctx, id, key.Key)
			require.NoError(t, err)
			s.facts[name+": "+key.Key] = s.named(stored.Value)
		}
	}
	goal, err := s.client.SharedValue(ctx, "team", "goal")
	require.NoError(t, err)
	s.facts["team/goal"] = s.named(goal.Value)
	for _, name := range []string{"left-b", "right-b"} {
		fate, err := s.client.SharedValue(ctx, "team", "orders/"+name)
		require.NoError(t, err)
		require.Equal(t, s.ids[name], fate.WriterID)
		s.orders[name] = s.named(fate.Value)
	}
}

// named writes a value with names instead of ids, which every run has its own.
func (s *storyTold) named(v value.Raw) string {
	text := string(v.AppendJSON(nil))
	for name, id := range s.ids {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// judgeOrders compares what is said of the orders with what the service saw.
func (s *storyTold) judgeOrders(t *testing.T) {
	t.Helper()
	require.Zero(t, s.service.ordered(s.name+"/orders/left-b-more"), "the parent has said no")
	for name, fate := range s.orders {
		made := s.service.ordered(s.name + "/orders/" + name)
		switch fate {
		case `"ordered"`:
			require.Equal(t, 1, made, name)
		case `"OUTCOME_UNKNOWN"`:
			require.LessOrEqual(t, made, 1, name)
		case `"TOOL_UNREACHABLE"`:
			require.Zero(t, made, "%s: it was said that nothing had happened", name)
		default:
			require.FailNow(t, "no fate of an order", "%s: %s", name, fate)
		}
	}
}

// storyService is the world outside of the story.
type storyService struct {
	*httptest.Server

	mu     sync.Mutex // guards what follows
	asked  map[string][]string
	orders map[string]int
}

var (
	storyAway  = map[string]int{"left-a": 2, "left-a-more": 1, "right-a": 3}
	storyItems = map[string]int{"left-a": 3, "left-a-more": 4, "right-a": 5, "right-b": 11}
)

func newStoryService(t *testing.T) *storyService {
	s := &storyService{asked: make(map[string][]string), orders: make(map[string]int)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers GET /RUN/items/NAME and POST /RUN/orders/NAME.
func (s *storyService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	name := path[strings.LastIndex(path, "/")+1:]
	time.Sleep(5 * time.Millisecond) // under way, in which a node can die
	if r.Method == http.MethodPost {
		s.mu.Lock()
		s.orders[path]++
		s.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		reply(w, map[string]any{"ordered": name})
		return
	}
	if s.isAway(path, name, r.Header.Get("Idempotency-Key")) {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	reply(w, map[string]any{"n": storyItems[name]})
}

func reply(w http.ResponseWriter, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// isAway is the same for a key whenever it is asked: the first few meet nobody.
func (s *storyService) isAway(path, name, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.asked[path] {
		if known == key {
			return i < storyAway[name]
		}
	}
	s.asked[path] = append(s.asked[path], key)
	return len(s.asked[path]) <= storyAway[name]
}

func (s *storyService) ordered(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orders[path]
}

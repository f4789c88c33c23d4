package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// A tree of agents of depth 3, with retries, waits, orders and decisions,
// survives the death of the leader at every event of its story in turn: with the
// results that it has when nobody dies, on every node alike (INV-17), with every
// client's command done once (CL-3), and with nothing done twice outside (TO-4).
func TestStorySurvivesItsLeadersDeath(t *testing.T) {
	quiet := undisturbed(t)
	var exact, unknown, again, repeated atomic.Int32
	t.Run("at", func(t *testing.T) {
		for index := range quiet.events + 1 {
			t.Run(fmt.Sprint(index), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					told := tell(t, index%2 == 0, func(s *telling, over context.Context) { s.oneDies(over, index) })
					told.compare(t, quiet, &unknown)
					require.Len(t, told.deaths, 1)
					repeated.Add(told.repeated)
					if told.deaths[0] == told.base+index {
						exact.Add(1)
					}
					if index%4 == 0 {
						told.comeBack()
						told.compare(t, quiet, &again)
					}
				})
			})
		}
	})
	require.Greater(t, uint64(exact.Load())*2, quiet.events)
	require.Positive(t, repeated.Load())
	require.Positive(t, unknown.Load())
	t.Logf("the leader died at %d indexes, having applied exactly that much at %d of them; %d orders under way were left unknown, %d commands were answered when they were sent again",
		quiet.events+1, exact.Load(), unknown.Load(), repeated.Load())
}

// The same story, in which no leader lives for more than a few events of its
// term: each in turn dies, and comes back as a follower of the next.
func TestStorySurvivesAllItsLeadersDeaths(t *testing.T) {
	quiet := undisturbed(t)
	var unknown atomic.Int32
	for _, fast := range []bool{true, false} {
		for _, events := range []uint64{2, 3} {
			t.Run(fmt.Sprintf("fast %v, after %d", fast, events), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					told := tell(t, fast, func(s *telling, over context.Context) { s.allDie(over, events) })
					told.compare(t, quiet, &unknown)
					require.Greater(t, len(told.deaths), 3)
					t.Logf("%d leaders died; %d events; %d orders under way were left unknown", len(told.deaths), told.events, unknown.Swap(0))
				})
			})
		}
	}
}

// undisturbed is the story in which nobody dies.
func undisturbed(t *testing.T) *telling {
	var quiet *telling
	t.Run("nobody dies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			quiet = tell(t, true, func(*telling, context.Context) {})
			quiet.check(t)
			require.Equal(t, map[string]string{"left-b": `"ordered"`, "right-b": `"ordered"`}, quiet.facts.withoutOrders())
			t.Logf("%d events: %s", quiet.events, quiet.facts.Result)
		})
	})
	require.NotNil(t, quiet)
	return quiet
}

// telling is one run of the story.
type telling struct {
	*crew
	session [16]byte
	seq     uint64

	base   uint64   // index before the story's first event
	events uint64   // of the story
	deaths []uint64 // what each leader had applied when it died

	repeated int32 // commands whose first answer was lost
	facts    facts
}

const rootID = "018f4e5c-0000-7000-8000-0000000000aa"

// tell runs the story, and somebody who ends leaders meanwhile.
func tell(t *testing.T, fast bool, killer func(s *telling, over context.Context)) *telling {
	s := &telling{crew: newCrew(t, testStore(), fast)}
	s.perform(s.script, killer)
	s.facts = factsOf(s.state())
	return s
}

// perform runs what a client does, and a killer meanwhile, until every node is up
// again and has all of it.
func (s *telling) perform(script func(), killer func(s *telling, over context.Context)) {
	leader := s.leader()
	s.session, s.base = s.node(leader).MintSession(), s.node(leader).Applied()
	over, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	s.t.Cleanup(func() { // before the nodes are closed, if the story breaks off
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		killer(s, over)
	}()
	script()
	s.events = s.state().Index - s.base
	cancel()
	<-done
	s.alike()
}

// oneDies ends the leader once it has applied so many events of the story, at
// the latest when all has been told, and starts it again when all has been told.
func (s *telling) oneDies(over context.Context, events uint64) {
	leader := s.leader()
	if events > 0 {
		s.await(over, leader, s.base+events)
	}
	s.deaths = append(s.deaths, s.crash(leader))
	<-over.Done()
	s.start(leader)
}

// maxDeaths bounds them, or two nodes that cannot do without each other might
// get nowhere for ever.
const maxDeaths = 40

// allDie ends every leader once it has applied so many events behind the first
// one of its term, and starts it again at once.
func (s *telling) allDie(over context.Context, events uint64) {
	for over.Err() == nil && len(s.deaths) < maxDeaths {
		leader := s.leader()
		s.await(over, leader, s.node(leader).Applied()+events)
		s.deaths = append(s.deaths, s.crash(leader))
		s.start(leader)
	}
}

// await returns when a node has applied the index, or the context ends.
func (s *telling) await(ctx context.Context, node int, index uint64) {
	follow(ctx, s.node(node), 1, func(b *logging.Block) bool { return b.Index >= index })
}

// compare holds a telling against the one in which nobody died.
func (s *telling) compare(t *testing.T, quiet *telling, unknown *atomic.Int32) {
	t.Helper()
	s.check(t)
	if s.judgeOrders(t) {
		unknown.Add(1)
	}
	require.Equal(t, quiet.facts, s.facts)
}

// script is what the client does.
func (s *telling) script() {
	mark := func(key string) {
		// With the version a second execution could not but be refused.
		s.command(event.SharedPut, event.PutShared{Namespace: "told", Key: key, Value: kerneltest.Value(s.t, true), Version: new(uint64)})
	}
	mark("begin")
	s.command(event.AgentStart, event.Start{Define: story(s.t), Input: kerneltest.Value(s.t, map[string]any{"service": "http://service.test"})})
	s.command(event.AgentSend, event.Send{Agent: rootID, Message: kerneltest.Value(s.t, map[string]any{"text": "fill the shelf"})})
	right := ""
	s.until("right is there", func() bool {
		right = s.idOf("right")
		return right != ""
	})
	s.command(event.AgentSend, event.Send{Agent: right, Message: kerneltest.Value(s.t, map[string]any{"factor": 7})})
	s.until("the root ends", func() bool {
		id, _ := flows.ParseID(rootID)
		_, row := s.state().Find(id)
		return row != nil && row.Lifecycle.State == lifecycle.Terminated
	})
	mark("end")
}

// command sends a command until it is answered, always as the same one (CL-3).
func (s *telling) command(kind event.Kind, body any) {
	s.t.Helper()
	s.seq++
	e := event.Event{
		Kind: kind, Principal: "client", Body: event.Encode(body),
		Session: event.Session{ID: s.session, Seq: s.seq, Floor: s.seq},
	}
	s.until("the command's answer", func() bool {
		for i := range 3 {
			node := s.node(i)
			if node == nil {
				continue
			}
			ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
			answer := node.Propose(ctx, e)
			cancel()
			time.Sleep(time.Millisecond) // the answer's way: one of a node that has died is lost
			if answer.Verdict == cluster.Applied && s.node(i) == node {
				require.Empty(s.t, answer.Outcome.Refusal)
				if answer.Outcome.Repeated {
					s.repeated++
				}
				return true
			}
		}
		return false
	})
}

// state is the newest one among the nodes.
func (s *telling) state() (newest *state.State) {
	newest = state.New("default")
	for i := range 3 {
		if node := s.node(i); node != nil {
			view, err := node.Read(s.t.Context(), cluster.Consistency{Level: cluster.Stale})
			if err == nil && view.Index > newest.Index {
				newest = view.State
			}
		}
	}
	return newest
}

func (s *telling) idOf(name string) string {
	now := s.state()
	for no := uint32(1); no <= now.Agents.Len(); no++ {
		if id := &now.Agents.Get(no).Identity; id.Name == name {
			return flows.FormatID(id.ID)
		}
	}
	return ""
}

// alike waits until every node has applied the same and all is still.
func (s *telling) alike() {
	s.t.Helper()
	s.until("all have applied the same", func() bool {
		synctest.Wait() // nothing is on its way at this moment
		for i := range 3 {
			if s.node(i).Applied() != s.state().Index || s.node(i).Healthy() != nil {
				return false
			}
		}
		return true
	})
}

// comeBack takes a snapshot on every node, stops it, and starts it from there.
func (s *telling) comeBack() {
	s.t.Helper()
	for i := range 3 {
		require.NoError(s.t, s.node(i).Snapshot(s.t.Context()))
	}
	for i := range 3 {
		s.stop(i)
		s.start(i)
		s.leader()
	}
	s.alike()
	s.facts = factsOf(s.state())
}

// check compares the nodes, and looks at what became of everybody.
func (s *telling) check(t *testing.T) {
	t.Helper()
	s.sameLogs(t)
	require.Empty(t, s.service.ordered("left-b-more"), "the parent has said no")
	for name, it := range s.facts.Agents {
		require.Equal(t, lifecycle.Terminated, it.State, name)
		require.True(t, it.OK, name)
		require.Zero(t, it.Messages, "a message to %s came twice", name)
	}
	require.EqualValues(t, away["left-a"]+away["left-a-more"], s.facts.Agents["left-a"].Retries)
}

// sameLogs compares the nodes: their logs to the byte, the log's chain, the state
// that it folds to, and the states' digests.
func (s *telling) sameLogs(t *testing.T) {
	t.Helper()
	first := s.blocks(0)
	verifier, folded := logging.NewVerifier(logging.Genesis("default").Point), state.New("default")
	for _, raw := range first {
		require.NoError(t, verifier.Feed(raw))
		require.NoError(t, kernel.Fold(folded, raw))
	}
	for i := range 3 {
		view, err := s.node(i).Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
		require.NoError(t, err)
		require.Equal(t, folded.Index, view.Index, "node %d", i)
		require.Equal(t, verifier.Point(), view.Log.Point, "the chain on node %d", i)
		require.Equal(t, kernel.Digest(folded), kernel.Digest(view.State), "the state on node %d", i)
		require.Equal(t, first, s.blocks(i), "the log on node %d", i)
	}
}

// judgeOrders takes the orders' fates out of the facts, after comparing them with
// what the service has seen. An order is unknown only when its node died between
// its dispatch and its result (TO-4). It tells whether one is.
func (s *telling) judgeOrders(t *testing.T) (unknown bool) {
	t.Helper()
	for name, fate := range s.facts.withoutOrders() {
		made := 0
		for key, n := range s.service.ordered(name) {
			require.Equal(t, 1, n, "%s: the call %s was made more than once", name, key)
			made++
		}
		switch fate {
		case `"ordered"`:
			require.Equal(t, 1, made, name)
		case `"` + string(failure.OutcomeUnknown) + `"`:
			require.LessOrEqual(t, made, 1, name)
			require.True(t, s.orphaned(t, name), "%s is unknown although nobody died with it", name)
			unknown = true
		case `"` + string(failure.ToolUnreachable) + `"`:
			require.Zero(t, made, "%s: it was said that nothing had happened", name)
		default:
			require.FailNow(t, "no fate of an order", "%s: %s", name, fate)
		}
	}
	return unknown
}

// orphaned reports whether a call of the agent was dispatched in a term that
// ended before its answer.
func (s *telling) orphaned(t *testing.T, name string) bool {
	t.Helper()
	id, _ := flows.ParseID(s.idOf(name))
	no, _ := s.state().Find(id)
	terms := make(map[uint32]uint64) // of dispatched calls
	for _, raw := range s.blocks(0) {
		block, err := logging.Decode(raw)
		require.NoError(t, err)
		for _, r := range kerneltest.Decode(t, raw) {
			if r.Agent != no {
				continue
			}
			switch body := r.Content.(type) {
			case *tools.DispatchedBody:
				terms[body.Call] = block.Term
			case *tools.ActionBody:
				if body.Code == failure.OutcomeUnknown {
					return terms[body.Call] != 0 && terms[body.Call] < block.Term
				}
			}
		}
	}
	return false
}

// story reads the root agent's file.
func story(t *testing.T) event.Define {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "story.yaml"))
	require.NoError(t, err)
	var file struct {
		Name, Mode string
		Grants     []struct{ Effect, Action, Resource string }
		Program    map[string]any
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	define := event.Define{ID: rootID, Name: file.Name, Mode: file.Mode, Program: kerneltest.Value(t, file.Program)}
	for _, g := range file.Grants {
		grant := permissions.Grant{Action: g.Action, Resource: g.Resource}
		require.NoError(t, grant.Effect.UnmarshalText([]byte(g.Effect)))
		define.Grants = append(define.Grants, grant)
	}
	return define
}

package sessions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/sessions"
)

// client commits the commands of one session.
type client struct {
	*kerneltest.Sim
	id [16]byte
}

func open(s *kerneltest.Sim, number byte) client {
	return client{s, kerneltest.SessionAt(s.Wall, number)}
}

func (c client) define(seq, floor uint64, id string) event.Outcome {
	c.T.Helper()
	return c.Apply(kerneltest.InSession(c.id, seq, floor, event.AgentDefine, event.Define{ID: id}))
}

func agents(s *kerneltest.Sim) uint32 { return s.State().Agents.Len() }

// CL-3: a retry of an applied command has one effect and the first answer,
// after a snapshot too, and it runs none of the event but time.
func TestRetryReturnsTheFirstOutcome(t *testing.T) {
	s := kerneltest.New(t, 2)
	c := open(s, 1)
	first := c.define(1, 1, s.NewID())
	require.Empty(t, first.Refusal)
	for range 3 {
		s.Wall += 1_000
		again := c.define(1, 1, kerneltest.AgentID(1))
		require.True(t, again.Repeated)
		again.Repeated = false
		require.Equal(t, first, again)
		require.Equal(t, []string{"EVENT", "DUPLICATE"}, s.Names())
		require.Equal(t, &event.Again{Index: 2}, kerneltest.Find[*event.Again](s, bus.Duplicate))
		require.EqualValues(t, 1, agents(s))
		s.Replicas[0] = kerneltest.Restore(t, s.State(), s.Lookup)
	}
	s.Check()
}

// CL-3: a refusal is an outcome: a retry gets it again, even if the command
// would succeed by now.
func TestRetryOfARefusedCommand(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	kill := kerneltest.InSession(c.id, 1, 1, event.AgentKill, event.Kill{Agent: kerneltest.AgentID(1)})
	first := s.Apply(kill)
	require.Equal(t, failure.NotFound, first.Refusal.Code)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	again := s.Apply(kill)
	require.Equal(t, first.Refusal, again.Refusal)
	require.Equal(t, lifecycle.Active, s.StateOf(id))
}

// CL-3: the same sequence with another body, or another kind, is refused, and
// the first answer stays.
func TestSequenceReused(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	first := c.define(1, 1, kerneltest.AgentID(1))
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.SequenceReused, c.define(1, 1, kerneltest.AgentID(2)).Refusal.Code)
	require.Equal(t, before, kerneltest.Substance(s.State()))
	e := kerneltest.InSession(c.id, 1, 1, event.AgentStart, nil)
	e.Body = event.Encode(event.Define{ID: kerneltest.AgentID(1)})
	require.Equal(t, failure.SequenceReused, s.Apply(e).Refusal.Code)
	require.Equal(t, first.Index, c.define(1, 1, kerneltest.AgentID(1)).Index)
	require.EqualValues(t, 1, agents(s))
}

// CL-3: below the floor the answer is forgotten, and the command never runs
// again; the floor never goes back.
func TestFloor(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	for seq := uint64(1); seq <= 4; seq++ {
		require.Empty(t, c.define(seq, 1, s.NewID()).Refusal)
	}
	require.Empty(t, c.define(5, 4, s.NewID()).Refusal)
	for seq := uint64(1); seq <= 3; seq++ {
		require.Equal(t, failure.AlreadyAcknowledged, c.define(seq, 1, kerneltest.AgentID(int(seq))).Refusal.Code)
	}
	require.True(t, c.define(4, 1, kerneltest.AgentID(4)).Repeated, "the floor itself is still wanted")
	require.Empty(t, c.define(6, 1, s.NewID()).Refusal)
	require.Equal(t, failure.AlreadyAcknowledged, c.define(3, 1, kerneltest.AgentID(3)).Refusal.Code)
	require.EqualValues(t, 6, agents(s))
	var answers int
	st := s.State()
	st.Sessions.All(func(one *sessions.Session) bool {
		answers += len(one.Answers)
		return true
	})
	require.Equal(t, 3, answers, "4, 5 and 6: what is below the floor is gone")
	s.Check()
}

// CL-3: any order within [floor, floor+256), gaps allowed, nothing beyond.
func TestWindow(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	for _, seq := range []uint64{256, 3, 200, 1, 255} {
		require.Empty(t, c.define(seq, 1, s.NewID()).Refusal, "%d", seq)
	}
	require.Equal(t, failure.SequenceOutOfWindow, c.define(257, 1, s.NewID()).Refusal.Code)
	require.Empty(t, c.define(257, 2, s.NewID()).Refusal, "the command's own floor counts")
	require.Equal(t, failure.AlreadyAcknowledged, c.define(1, 1, kerneltest.AgentID(4)).Refusal.Code)
	require.Equal(t, failure.SequenceOutOfWindow, c.define(258, 2, s.NewID()).Refusal.Code)
	require.True(t, c.define(3, 1, kerneltest.AgentID(2)).Repeated)
	fresh := open(s, 2)
	require.Equal(t, failure.SequenceOutOfWindow, fresh.define(300, 1, s.NewID()).Refusal.Code)
	require.Empty(t, fresh.define(300, 45, s.NewID()).Refusal, "a session may begin anywhere")
	s.Check()
}

// CL-3, CL-6: a session opens with its first command, while its id is young; later,
// or from a clock far ahead, never.
func TestSessionOpens(t *testing.T) {
	s := kerneltest.New(t, 1)
	limit := s.State().Config.SessionOpenMillis
	for name, test := range map[string]struct {
		minted int64
		code   failure.Code
	}{
		"now":         {0, ""},
		"just young":  {-limit, ""},
		"just ahead":  {limit, ""},
		"too old":     {-limit - 1, failure.SessionExpired},
		"too early":   {limit + 1, failure.SessionExpired},
		"before 1970": {-s.Wall, failure.SessionExpired},
	} {
		c := client{s, kerneltest.SessionAt(s.Wall+test.minted, 7)}
		c.id[14]++ // present even at time 0
		outcome := c.define(1, 1, s.NewID())
		assert.Equal(t, test.code, outcome.Refusal.Code, name)
	}
	require.Equal(t, 3, stateSessions(s))
}

// CL-3: after an hour without a command a session is dropped, and what it sent
// never runs twice: the answer to a late retry is SESSION_EXPIRED.
func TestDroppedSessionNeverOpensAgain(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	require.Empty(t, c.define(1, 1, s.NewID()).Refusal)
	s.Wall += s.State().Config.SessionIdleMillis
	require.True(t, c.define(1, 1, kerneltest.AgentID(1)).Repeated, "idle to the last moment")
	s.Pass(1)
	require.Zero(t, stateSessions(s))
	require.Equal(t, failure.SessionExpired, c.define(1, 1, kerneltest.AgentID(1)).Refusal.Code)
	require.Zero(t, stateSessions(s))
	require.EqualValues(t, 1, agents(s))
	s.Check()
}

// CL-6, CL-7: a command keeps its session alive; one event drops a bounded number of
// idle ones (EV-12).
func TestIdleSessionsAreDroppedByAndBy(t *testing.T) {
	s := kerneltest.New(t, 1)
	for i := range byte(10) {
		require.Empty(t, open(s, i+1).define(1, 1, s.NewID()).Refusal)
	}
	kept := client{s, kerneltest.SessionAt(kerneltest.Start, 3)}
	s.Wall += 1_000_000
	require.Empty(t, kept.define(2, 1, s.NewID()).Refusal)
	s.Wall += s.State().Config.SessionIdleMillis - 1_000_000 + 1
	var left []int
	for range 5 {
		s.Pulse()
		left = append(left, stateSessions(s))
	}
	require.Equal(t, []int{7, 3, 1, 1, 1}, left, "four a Pulse, one of which is looked at again")
	require.True(t, kept.define(2, 1, kerneltest.AgentID(11)).Repeated)
	s.Check()
}

// CL-3: the table is bounded: full is SESSIONS_FULL for new ones only.
func TestSessionsFull(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxSessions = 2 })
	one, two, three := open(s, 1), open(s, 2), open(s, 3)
	require.Empty(t, one.define(1, 1, s.NewID()).Refusal)
	require.Empty(t, two.define(1, 1, s.NewID()).Refusal)
	require.Equal(t, failure.SessionsFull, three.define(1, 1, s.NewID()).Refusal.Code)
	require.Empty(t, one.define(2, 1, s.NewID()).Refusal)
	require.Equal(t, 2, stateSessions(s))
	require.EqualValues(t, 3, agents(s))
}

// CL-8: a command whose place makes no sense is refused and opens nothing:
// otherwise it would go around the bounds on age and number.
func TestMalformedPlacesAreNotRemembered(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxSessions = 1 })
	old := client{s, kerneltest.SessionAt(s.Wall-7_200_000, 1)}
	for _, place := range [][2]uint64{{0, 1}, {1, 0}, {0, 0}, {3, 4}} {
		require.Equal(t, failure.InvalidArgument, old.define(place[0], place[1], s.NewID()).Refusal.Code)
	}
	both := kerneltest.InSession(old.id, 1, 1, event.AgentDefine, event.Define{})
	both.IdempotencyKey = "k"
	require.Equal(t, failure.InvalidArgument, s.Apply(both).Refusal.Code)
	require.Zero(t, stateSessions(s))
	require.Equal(t, failure.SessionExpired, old.define(3, 1, s.NewID()).Refusal.Code)
	alone := event.Event{Kind: event.AgentDefine, IdempotencyKey: "k", Body: both.Body}
	require.Empty(t, s.Apply(alone).Refusal, "the refused command did not use the key up")
	s.Check()
}

// CL-9: an answer too long for the table is kept as the place of its block.
func TestLongOutcomesAreKeptAsPositions(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	deep := `{"kind":"NOPE"}`
	for range 12 {
		deep = `{"kind":"SEQ","payload":{"steps":[` + deep + `]}}`
	}
	define := kerneltest.InSession(c.id, 1, 1, event.AgentDefine, event.Define{Program: kerneltest.JSON(t, deep)})
	first := s.Apply(define)
	require.Equal(t, failure.InvalidProgram, first.Refusal.Code)
	require.Greater(t, len(first.AppendTo(nil)), sessions.InlineBytes)

	again := s.Apply(define)
	require.True(t, again.Repeated)
	require.Equal(t, first.Index, again.Index)
	require.NotZero(t, again.Stored)
	require.Equal(t, logging.PointerTo(uint64(len(s.Blocks[0]))), again.Stored, "the second block")
	var told *event.Outcome
	for _, r := range s.Records(int(again.Index)) {
		if o, ok := r.Content.(*event.Outcome); ok {
			told = o
		}
	}
	require.Equal(t, first.Refusal, told.Refusal)
	require.True(t, strings.HasPrefix(told.Refusal.Field, "program.payload.steps[0]"))
	s.Check()
}

// CL-3, CL-10: an idempotency key gives the same promise for its window, to each
// principal by itself.
func TestIdempotencyKeys(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxIdempotencyKeys = 3 })
	keyed := func(principal, key, name string) event.Outcome {
		return s.Apply(event.Event{
			Kind: event.AgentDefine, Principal: principal, IdempotencyKey: key, Body: event.Encode(event.Define{Name: name}),
		})
	}
	first := keyed("ann", "k1", "a")
	require.Empty(t, first.Refusal)
	s.Wall += 1_000
	again := keyed("ann", "k1", "a")
	require.True(t, again.Repeated)
	require.Equal(t, first.Agent, again.Agent)
	require.Equal(t, failure.SequenceReused, keyed("ann", "k1", "b").Refusal.Code)
	require.Empty(t, keyed("bob", "k1", "b").Refusal, "another principal's key")
	require.Empty(t, keyed("ann", "k2", "a").Refusal)
	require.Equal(t, failure.SessionsFull, keyed("ann", "k3", "a").Refusal.Code)
	require.EqualValues(t, 3, agents(s))

	s.Wall = kerneltest.Start + s.State().Config.IdempotencyWindowMillis
	require.True(t, keyed("ann", "k1", "a").Repeated, "to the last moment of the window")
	s.Wall++
	require.False(t, keyed("ann", "k1", "a").Repeated, "after its window a key is free again")
	require.EqualValues(t, 4, agents(s))
	s.Check()
}

// CL-7: one event drops a bounded number of keys whose window is over (EV-12).
func TestKeysAreDroppedByAndBy(t *testing.T) {
	s := kerneltest.New(t, 1)
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		s.Apply(event.Event{Kind: event.AgentDefine, IdempotencyKey: key, Body: event.Encode(event.Define{})})
	}
	keys := func() (n int) {
		st := s.State()
		st.Sessions.AllKeys(func(*sessions.Keyed) bool {
			n++
			return true
		})
		return n
	}
	s.Wall += s.State().Config.IdempotencyWindowMillis
	var left []int
	for range 3 {
		s.Pulse()
		left = append(left, keys())
		s.Wall++
	}
	require.Equal(t, []int{6, 2, 0}, left)
	s.Check()
}

// CL-11: only commands are remembered; what nodes propose has its own identity.
func TestEventsOfNodesOpenNoSession(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	for range 2 {
		s.Apply(kerneltest.InSession(c.id, 1, 1, event.ToolResult, event.Result{Agent: 9}))
		require.Equal(t, []string{"EVENT", "STALE_RESULT", "OUTCOME"}, s.Names())
	}
	require.Zero(t, stateSessions(s))
}

// EV-14: the refusal of a quarantined command is its answer, and stays it; one
// whose session could not be opened leaves no trace.
func TestQuarantinedCommandsAreRemembered(t *testing.T) {
	s := kerneltest.New(t, 1)
	c := open(s, 1)
	e := kerneltest.InSession(c.id, 1, 1, event.AgentDefine, event.Define{})
	require.Equal(t, failure.Quarantined, s.Quarantine(e).Refusal.Code)
	again := s.Apply(e)
	require.True(t, again.Repeated)
	require.Equal(t, failure.Quarantined, again.Refusal.Code)

	old := kerneltest.InSession(kerneltest.SessionAt(s.Wall-7_200_000, 2), 1, 1, event.AgentDefine, event.Define{})
	s.Quarantine(old)
	require.Equal(t, 1, stateSessions(s))
	s.Quarantine(e) // a retry of it
	s.Check()
}

func stateSessions(s *kerneltest.Sim) int {
	st := s.State()
	return st.Sessions.Len()
}

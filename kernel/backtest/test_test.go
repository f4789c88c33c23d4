package backtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/backtest"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

func compile(t kerneltest.TB, grants []permissions.Grant) *permissions.Set {
	t.Helper()
	set, refusal := permissions.Compile(grants)
	require.Nil(t, refusal)
	return set
}

// under judges a simulation's log.
func under(t kerneltest.TB, s *kerneltest.Sim, of backtest.Case) backtest.Report {
	t.Helper()
	if of.Limit == 0 {
		of.Limit = 100
	}
	test := backtest.New(of)
	for _, raw := range s.Blocks {
		if test.Done() {
			break
		}
		block, err := logging.Decode(raw)
		require.NoError(t, err)
		test.Block(&block)
	}
	return test.Report()
}

func idOf(s *kerneltest.Sim, no uint32) identity.ID { return s.State().Agents.Get(no).Identity.ID }

// PE-7: under the very grants that it had, nothing of an agent's would have been
// answered otherwise, nor of those that rest on it.
func TestTheSameGrantsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 30, drawn{t})
		h.Run(rapid.IntRange(1, 80).Draw(t, "steps"))
		sameGrants(t, h)
	})
}

// … and in long histories, which have everything.
func TestTheSameGrantsChangeNothingInLongHistories(t *testing.T) {
	var judged uint64
	for seed := range uint64(6) {
		h := kerneltest.NewHistory(t, 1, 60, kerneltest.NewSeeded(seed))
		h.Run(250)
		judged += sameGrants(t, h)
	}
	require.Greater(t, judged, uint64(300))
}

func sameGrants(t kerneltest.TB, h *kerneltest.History) (judged uint64) {
	lists := make(map[uint32][]permissions.Grant) // by agent
	bodies, ids := make(map[uint32][]byte), make(map[uint32]identity.ID)
	for _, r := range h.All() {
		switch b := r.Content.(type) {
		case *identity.Defined:
			ids[r.Agent] = b.ID
		case *permissions.Assigned:
			lists[r.Agent] = nil
			if body := bodies[b.Grants]; body != nil {
				list, ok := event.DecodeBody[[]permissions.Grant](body)
				require.True(t, ok)
				lists[r.Agent] = *list
			}
		case *permissions.Revoked:
			delete(lists, r.Agent)
			ids[r.Agent] = identity.ID{}
		default:
			collect(r, bodies)
		}
	}
	for no := uint32(1); no <= h.State().Agents.Len(); no++ {
		list, has := lists[no]
		if !has || ids[no] == (identity.ID{}) {
			continue
		}
		report := under(t, h.Sim, backtest.Case{Agent: ids[no], Grants: compile(t, list)})
		require.Empty(t, report.Changes, "agent %d", no)
		require.Zero(t, report.Changed+report.After, "agent %d", no)
		require.Equal(t, report.Judged, report.Same)
		require.True(t, report.Known)
		judged += report.Judged
	}
	return judged
}

// collect keeps the interned lists of grants that a record brings.
func collect(r kerneltest.Record, bodies map[uint32][]byte) {
	g, ok := r.Content.(*interning.Gained)
	if !ok {
		return
	}
	for _, e := range g.Entries {
		if e.New && e.Class == interning.Grants {
			bodies[e.No] = e.Body
		}
	}
}

var (
	words   = []string{"echo", "http.request", "clock.now", "*", "**", "http.request/**", "http.request/POST/**", "self/**", "team/**", "agent/*"}
	actions = []string{"tool.call", "tool.*", "memory.*", "memory.write", "shared.*", "agent.*", "agent.delegate"}
	asks    = []string{
		`{"kind":"CALL","payload":{"tool":"echo"}}`,
		`{"kind":"CALL","payload":{"tool":"clock.now"}}`,
		`{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://h/x"}}}`,
		`{"kind":"CALL","payload":{"tool":"http.request","args":{"url":"http://h/x"}}}`,
		`{"kind":"WRITE","payload":{"key":"k","value":1}}`,
		`{"kind":"SHARE","payload":{"namespace":"team","key":"k","value":1}}`,
	}
)

func drawGrants(t *rapid.T, name string) (grants []permissions.Grant) {
	for range rapid.IntRange(0, 3).Draw(t, name) {
		grants = append(grants, permissions.Grant{
			Effect:   permissions.Effect(rapid.IntRange(1, 3).Draw(t, "effect")),
			Action:   rapid.SampledFrom(actions).Draw(t, "action"),
			Resource: rapid.SampledFrom(words).Draw(t, "resource"),
		})
	}
	return grants
}

// first is what the first request of an agent in a log comes to.
func first(s *kerneltest.Sim, agent uint32) (outcome backtest.Outcome, grant int32, found bool) {
	for _, r := range s.All() {
		if r.Agent != agent {
			continue
		}
		switch b := r.Content.(type) {
		case *permissions.Evaluation:
			if bus.Kind(r.Kind) == bus.Deny {
				return backtest.Deny, b.Grant, true
			}
			return backtest.Allow, b.Grant, true
		case *permissions.Escalated:
			return backtest.Escalate, b.Grant, true
		}
	}
	return 0, 0, false
}

// PE-7: what a request would have come to is what it comes to: an agent with
// the other grants, run in the same way, gets that answer to its first request.
func TestFirstRequestIsAsIfRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program := kerneltest.JSON(t, rapid.SampledFrom(asks).Draw(t, "program"))
		run := func(grants []permissions.Grant) *kerneltest.Sim {
			s := kerneltest.New(t, 1)
			s.Must(event.AgentStart, event.Start{Define: event.Define{ID: s.NewID(), Grants: grants, Program: program}})
			return s
		}
		were, would := drawGrants(t, "were"), drawGrants(t, "would")
		recorded := run(were)
		was, _, found := first(recorded, 1)
		require.True(t, found)
		really, grant, found := first(run(would), 1)
		require.True(t, found)

		report := under(t, recorded, backtest.Case{Agent: idOf(recorded, 1), Grants: compile(t, would)})
		require.EqualValues(t, 1, report.Judged)
		if was == really {
			require.Empty(t, report.Changes)
			return
		}
		require.Len(t, report.Changes, 1)
		change := report.Changes[0]
		require.Equal(t, [2]backtest.Outcome{was, really}, [2]backtest.Outcome{change.Was.Outcome, change.Would.Outcome})
		require.Equal(t, grant, change.Would.Grant)
		require.Equal(t, grant >= 0, change.Would.Text != nil)
		if grant >= 0 {
			require.Equal(t, would[grant], *change.Would.Text)
		}
		require.True(t, change.Would.Given)
		require.EqualValues(t, 1, report.By[was][really])
		require.Equal(t, [3]uint64{1, 1, 1}, [3]uint64{report.Differ, report.Ticks, report.Replaced})
	})
}

// The same of a child, under other grants of its parent: it would not have been
// delegated to, or its first request gets the strictest answer.
func TestChildsFirstRequestIsAsIfRun(t *testing.T) {
	const kid = `[{"effect":"ALLOW","action":"tool.call","resource":"echo"},{"effect":"ESCALATE","action":"memory.write","resource":"self/**"}]`
	rapid.Check(t, func(t *rapid.T) {
		ask := rapid.SampledFrom(asks).Draw(t, "program")
		program := kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[{"name":"kid","program":`+ask+`,"grants":`+kid+`}]}}`)
		run := func(grants []permissions.Grant) *kerneltest.Sim {
			s := kerneltest.New(t, 1)
			s.Must(event.AgentStart, event.Start{Define: event.Define{ID: s.NewID(), Grants: grants, Program: program}})
			return s
		}
		may := permissions.Grant{Effect: permissions.Allow, Action: "agent.delegate", Resource: "agent/kid"}
		would := append(drawGrants(t, "would"), may)
		recorded, really := run(kerneltest.Everything()), run(would)
		report := under(t, recorded, backtest.Case{Agent: idOf(recorded, 1), Grants: compile(t, would)})

		was, _, found := first(recorded, 2)
		require.True(t, found)
		delegated, _, _ := first(really, 1)
		comes, _, born := first(really, 2)
		var got []backtest.Outcome
		for _, c := range report.Changes {
			got = append(got, c.Would.Outcome)
		}
		switch {
		case delegated != backtest.Allow:
			require.Equal(t, []backtest.Outcome{delegated}, got[:1], "the delegation itself")
			require.Equal(t, "agent/kid", report.Changes[0].Resource)
		case !born:
			require.NotEmpty(t, rejections(really))
			require.Equal(t, backtest.Rejected, got[0])
			require.Equal(t, backtest.Accepted, report.Changes[0].Was.Outcome)
			require.Equal(t, backtest.AtDelegation, report.Changes[0].Place)
		case was != comes:
			require.Equal(t, []backtest.Outcome{comes}, got)
			require.EqualValues(t, 2, report.Changes[0].Agent)
		default:
			require.Empty(t, got)
		}
	})
}

func rejections(s *kerneltest.Sim) (rules []string) {
	for _, r := range s.All() {
		if b, ok := r.Content.(*delegation.DelegationRejected); ok {
			rules = append(rules, b.Rule)
		}
	}
	return rules
}

const twice = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"CALL","payload":{"tool":"echo","args":1,"handle":true}},
	{"kind":"CALL","payload":{"tool":"clock.now","handle":true}}]}}`

// PE-7: behind the first change of a tick nothing is judged, and the rest is
// counted; the next tick is judged as it was recorded. What a tick asks for at
// once is judged together.
func TestAfterTheFirstChange(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, twice)}, nil)
	s.Answer(true, 1)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	s.Answer(true, 1)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, `{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","args":1},{"tool":"echo","args":2}]}}`)})
	none := compile(t, nil)
	report := under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: none})
	require.Equal(t, [4]uint64{4, 0, 4, 2}, [4]uint64{report.Judged, report.Same, report.Changed, report.After})
	require.EqualValues(t, 3, report.Ticks)
	require.EqualValues(t, 1, report.Differ)
	require.EqualValues(t, 4, report.By[backtest.Allow][backtest.Deny])
	for i, tick := range []uint64{1, 2, 3, 3} {
		c := report.Changes[i]
		require.Equal(t, tick, c.Tick)
		require.Equal(t, permissions.DefaultDeny, c.Would.Grant)
		require.Nil(t, c.Would.Text)
		require.Equal(t, "tool.*", c.Was.Text.Action)
		require.False(t, c.Was.Given)
		require.Equal(t, idOf(s, 1), c.Was.Holder)
		require.Equal(t, backtest.AtRequest, c.Place)
	}

	first, last := report.Changes[0], report.Changes[3]
	report = under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: none, From: first.Seq + 1, To: last.Seq - 1, Limit: 1})
	require.Equal(t, [3]uint64{3, 3, 1}, [3]uint64{report.Judged, report.Changed, report.After}, "a part, in which clock.now is the first")
	require.Len(t, report.Changes, 1)
	report = under(t, s, backtest.Case{Grants: none})
	require.EqualValues(t, 4, report.Changed, "of every agent")
	report = under(t, s, backtest.Case{Agent: identity.ID{9}, Grants: none})
	require.False(t, report.Known)
	require.Zero(t, report.Judged+report.Agents+report.Replaced)
}

// PE-7, TO-5: a call is judged where the kernel judged it: again when it is
// approved, and again when it is handed to a runner.
func TestEveryPlaceIsJudged(t *testing.T) {
	escalate := permissions.Grant{Effect: permissions.Escalate, Action: "tool.call", Resource: "http.request/**"}
	s := kerneltest.New(t, 1)
	s.Start(event.Define{
		Grants:  append([]permissions.Grant{escalate}, kerneltest.Everything()...),
		Program: kerneltest.JSON(t, asks[2]),
	}, nil)
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
	s.Wall += 100
	s.Dispatch(s.Pending[0])
	until := func(millis int64) *permissions.Set {
		return compile(t, []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/**", NotAfterMillis: kerneltest.Start + millis}, escalate})
	}
	report := under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: until(50)})
	require.Equal(t, [3]uint64{3, 3, 0}, [3]uint64{report.Judged, report.Same, report.Changed}, "it wants a decision, has it, and that is enough to go on")

	dies := compile(t, []permissions.Grant{
		{Effect: permissions.Escalate, Action: "tool.call", Resource: "http.request/**", NotAfterMillis: kerneltest.Start + 50},
	})
	report = under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: dies})
	require.Equal(t, [3]uint64{3, 2, 1}, [3]uint64{report.Judged, report.Same, report.Changed})
	change := report.Changes[0]
	require.Equal(t, backtest.AtDispatch, change.Place)
	require.Equal(t, [2]backtest.Outcome{backtest.Allow, backtest.Deny}, [2]backtest.Outcome{change.Was.Outcome, change.Would.Outcome})
	require.Equal(t, kerneltest.Start+100, change.AtMillis)

	allow := compile(t, kerneltest.Everything())
	report = under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: allow})
	require.Equal(t, [4]uint64{1, 0, 1, 2}, [4]uint64{report.Judged, report.Same, report.Changed, report.After}, "nobody would have been asked")
	require.EqualValues(t, 1, report.By[backtest.Escalate][backtest.Allow])
}

// TO-5: where the token was lost by then, no grants help.
func TestVoidIsVoid(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	s.Start(event.Define{Grants: kerneltest.Everything(), TTLMillis: 50, Program: kerneltest.JSON(t, asks[2])}, nil)
	key := s.Pending[0]
	s.Wall += 60
	s.Apply(event.Event{Kind: event.ToolDispatched, Principal: "node:" + strings.Repeat("x", 80_000), Body: event.Encode(event.Dispatched{
		Agent: key.Agent, Tick: key.Tick, Call: key.Call, Node: "n", Term: 1,
	})})
	denied := false
	for _, r := range s.Last() {
		denied = denied || bus.Kind(r.Kind) == bus.Deny
	}
	require.True(t, denied, "its timer had no work left to fire, and the dispatch found its token expired")
	report := under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: compile(t, kerneltest.Everything()[:1])})
	require.Equal(t, [2]uint64{2, 2}, [2]uint64{report.Judged, report.Same})
}

// The words that people and programs read.
func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"ALLOW": backtest.Allow.String(), "DENY": backtest.Deny.String(), "ESCALATE": backtest.Escalate.String(),
		"ACCEPTED": backtest.Accepted.String(), "REJECTED": backtest.Rejected.String(),
		"request": backtest.AtRequest.String(), "approval": backtest.AtApproval.String(),
		"dispatch": backtest.AtDispatch.String(), "delegation": backtest.AtDelegation.String(),
	} {
		assert.Equal(t, want, got)
	}
}

// PE-3: where nobody could wait, or would be asked, what wants a decision is
// denied: under the same grants too.
func TestWhatCannotWaitIsDenied(t *testing.T) {
	escalate := []permissions.Grant{{Effect: permissions.Escalate, Action: "tool.call", Resource: "**"}}
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxEscalations = 1 })
	for range 2 {
		s.Start(event.Define{Mode: "service", Grants: escalate, Program: kerneltest.JSON(t, asks[0])}, nil)
	}
	outcome, _, _ := first(s, 2)
	require.Equal(t, backtest.Deny, outcome, "one waits already")
	report := under(t, s, backtest.Case{Grants: compile(t, escalate)})
	require.Equal(t, [2]uint64{2, 2}, [2]uint64{report.Judged, report.Same})

	grants := []permissions.Grant{
		{Effect: permissions.Deny, Action: "agent.delegate", Resource: "agent/never"},
		{Effect: permissions.Escalate, Action: "agent.delegate", Resource: "**"},
	}
	s = kerneltest.New(t, 1)
	s.Start(event.Define{Mode: "service", Grants: grants, Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"handle":true,"children":[
		{"name":"one","program":`+asks[0]+`,"grants":[]},{"name":"never","program":`+asks[0]+`,"grants":[]}]}}`)}, nil)
	report = under(t, s, backtest.Case{Grants: compile(t, grants)})
	require.Equal(t, [2]uint64{2, 2}, [2]uint64{report.Judged, report.Same})
}

// What follows in the same event is another run of the tick, and another one
// again.
func TestAnswersOfTheKernelAreAnswersToo(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Grants: kerneltest.Everything(), Program: kerneltest.JSON(t,
		`{"kind":"MAP","payload":{"over":[1,2,3],"as":"i","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}}`)}, nil)
	report := under(t, s, backtest.Case{Grants: compile(t, nil)})
	require.Equal(t, [2]uint64{1, 2}, [2]uint64{report.Changed, report.After})
}

// Of every agent: what a program gives to its children is not known to widen
// what would be given to it, for it would be given to them as well.
func TestEveryAgent(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[
		{"program":`+asks[0]+`,"grants":[{"effect":"ALLOW","action":"memory.*","resource":"**"}]}]}}`)}, nil)
	given := []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}, {Effect: permissions.Allow, Action: "agent.*", Resource: "**"}}
	report := under(t, s, backtest.Case{Grants: compile(t, given)})
	require.Len(t, report.Changes, 1)
	require.Equal(t, [2]backtest.Outcome{backtest.Deny, backtest.Allow}, [2]backtest.Outcome{report.Changes[0].Was.Outcome, report.Changes[0].Would.Outcome})
	require.Equal(t, idOf(s, 2), report.Changes[0].Would.Holder)
	require.EqualValues(t, 2, report.Replaced)
	report = under(t, s, backtest.Case{Agent: idOf(s, 1), Grants: compile(t, given)})
	require.Equal(t, backtest.Rejected, report.Changes[0].Would.Outcome)
	require.Equal(t, "memory.*", report.Changes[0].Would.Text.Action)
}

package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// paid is a call that may come to so many tokens, and is answered whatever
// becomes of it. A POST must not be made twice: it is dispatched first (TO-4).
func paid(method string, tokens int) string {
	return fmt.Sprintf(`{"kind":"CALL","payload":{"tool":"http.request","timeout_ms":1000,"handle":true,
		"args":{"method":%q,"url":"http://h/x","cost":{"tokens":%d,"usd_micros":%d}}}}`, method, tokens, tokens*10)
}

// spender starts an agent with a budget of tokens that makes these calls at once.
func spender(s *kerneltest.Sim, tokens uint64, calls ...string) string {
	program := `{"kind":"PARALLEL","payload":{"calls":[`
	calls = append(calls, `{"kind":"CALL","payload":{"tool":"clock.now","handle":true}}`) // there are always two
	for i, call := range calls {
		if i > 0 {
			program += ","
		}
		program += call[len(`{"kind":"CALL","payload":`) : len(call)-1]
	}
	return s.Start(event.Define{Mode: "service", Budget: &event.Budget{Tokens: tokens}, Program: kerneltest.JSON(s.T, program+`]}}`)}, nil)
}

func account(s *kerneltest.Sim, id string) *budgets.Account {
	s.T.Helper()
	st := s.State()
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		if kerneltest.IDOf(st.Agents.Get(no).Identity.ID) == id {
			a, ok := st.Budgets.Get(no)
			require.True(s.T, ok)
			return a
		}
	}
	s.T.Errorf("there is no agent %s", id)
	s.T.FailNow()
	return nil
}

// used hands in a result that says what the call cost.
func used(s *kerneltest.Sim, key tools.Key, tokens uint64) event.Outcome {
	return s.Node(event.ToolResult, event.Result{
		Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: true, Value: kerneltest.Value(s.T, tokens),
		Metered: true, Tokens: tokens, USDMicros: tokens * 10,
	})
}

// codes is what the agent's program was answered, call by call: a code, or a
// value.
func codes(s *kerneltest.Sim, id string) []string {
	s.T.Helper()
	result := s.Row(id).Execution.Result
	require.NotNil(s.T, result, "%s", s.StateOf(id))
	var all []string
	answers := result.Value.ToGo().([]any)
	for _, one := range answers[:len(answers)-1] {
		answer := one.(map[string]any)
		if answer["ok"].(bool) {
			all = append(all, fmt.Sprint(answer["value"]))
			continue
		}
		all = append(all, fmt.Sprint(answer["code"]))
	}
	return all
}

// RU-5: a call's maximum is reserved before it leaves the kernel; what it came to
// is settled, and what it did not is room again.
func TestReserveAndSettle(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := spender(s, 100, paid("POST", 60), paid("GET", 40))
	require.Len(t, s.Pending, 2)
	assert.Equal(t, budgets.Amounts{Tokens: 100, USDMicros: 1000}, account(s, id).Reserved)
	used(s, s.Pending[0], 7)
	assert.Equal(t, 1, s.Count(bus.BudgetSettled))
	assert.Equal(t, budgets.Amounts{Tokens: 40, USDMicros: 400}, account(s, id).Reserved)
	s.Pending = s.Pending[1:]
	s.Answer(true, "done") // without a word of the cost: the maximum
	assert.Equal(t, budgets.Amounts{Tokens: 47, USDMicros: 470}, account(s, id).Settled)
	assert.True(t, account(s, id).Reserved.Zero())
	assert.Equal(t, []string{"7", "done"}, codes(s, id))
	s.Check()
}

// RU-6: what there is room for only once others have come to less waits, and
// goes when it does, in the order of asking; what there will never be room for is
// refused, with the account.
func TestCallsWaitForRoom(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := spender(s, 100, paid("GET", 60), paid("GET", 50), paid("GET", 101), paid("GET", 5))
	require.Len(t, s.Pending, 1)
	require.EqualValues(t, 2, account(s, id).Waiting, "the last one would fit, and does not go first")
	exceeded := kerneltest.Find[*budgets.Mark](s, bus.BudgetExceeded)
	assert.Equal(t, &budgets.Mark{Kind: budgets.Tokens, Limit: 100, Reserved: 60, Wanted: 101}, exceeded)
	first := s.Pending[0]
	s.Pending = nil
	used(s, first, 49)
	require.Len(t, s.Pending, 1, "50 fit beside 49; 5 do not beside both")
	assert.EqualValues(t, 1, account(s, id).Waiting)
	second := s.Pending[0]
	s.Pending = nil
	used(s, second, 50)
	assert.Empty(t, s.Pending)
	assert.Equal(t, []string{"49", "50", "BUDGET_EXCEEDED", "BUDGET_EXCEEDED"}, codes(s, id), "99 of 100 are spent")
	failed := kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed)
	assert.Equal(t, "the budget of 100 tokens is exceeded: 99 are used, and the call may come to 5", failed.Message)
	s.Check()
}

// RU-3: siblings draw on their parent's account, and on one of their own if they
// were given one: the tightest binds.
func TestSiblingsDrawOnOneAccount(t *testing.T) {
	s := kerneltest.New(t, 2)
	child := func(own string) string {
		return `{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}]` + own + `,"program":` + paid("GET", 40) + `}`
	}
	id := s.Start(event.Define{
		Grants: freely, Budget: &event.Budget{Tokens: 100}, Mode: "service",
		Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[`+child("")+","+child(`,"budget":{"tokens":50}`)+","+
			child("")+","+child(`,"budget":{"tokens":39}`)+`]}}`),
	}, nil)
	require.Len(t, s.Pending, 2, "two of 40 fit into 100")
	parent := account(s, id)
	assert.EqualValues(t, 80, parent.Reserved.Tokens)
	assert.EqualValues(t, 1, parent.Waiting)
	st := s.State()
	own, ok := st.Budgets.Get(3)
	require.True(t, ok)
	assert.Equal(t, parent.Agent, own.Above)
	assert.EqualValues(t, 40, own.Reserved.Tokens)
	small, ok := st.Budgets.Get(5)
	require.True(t, ok)
	assert.True(t, small.Reserved.Zero(), "its own account has no room for 40")
	pending := s.Pending
	s.Pending = nil
	used(s, pending[0], 20)
	require.Len(t, s.Pending, 1)
	for _, key := range append(pending[1:], s.Pending...) {
		used(s, key, 40)
	}
	assert.EqualValues(t, 100, account(s, id).Settled.Tokens)
	assert.Equal(t, lifecycle.Active, s.StateOf(id))
	s.Check()
}

// RU-7: a call that may have been made keeps its reservation when its agent is
// killed, and is settled by what its tool says later, or at its maximum once its
// deadline has passed; one that was not dispatched is given back.
func TestReservationsOutliveTheirAgents(t *testing.T) {
	for name, late := range map[string]bool{"told late": true, "never told": false} {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.New(t, 2)
			id := spender(s, 100, paid("POST", 30), paid("POST", 20), paid("GET", 10))
			pending := s.Pending
			s.Dispatch(pending[0])
			s.Kill(id)
			a := account(s, id)
			assert.EqualValues(t, 40, a.Reserved.Tokens, "30 were dispatched, 10 needed no dispatch, 20 were not made")
			assert.True(t, a.Settled.Zero())
			assert.Equal(t, 2, s.Count(bus.BudgetOutlived))
			if late {
				outcome := used(s, pending[0], 3)
				assert.Empty(t, outcome.Refusal)
				assert.Equal(t, 1, s.Count(bus.StaleResult), "nobody waits for it")
				assert.EqualValues(t, 3, account(s, id).Settled.Tokens)
				assert.Equal(t, failure.StaleResult, used(s, pending[0], 3).Refusal.Code, "once")
				s.Result(pending[2], false, "TOOL_FAILED") // without a word of the cost
				assert.EqualValues(t, 13, account(s, id).Settled.Tokens)
			} else {
				s.Pass(1000 + s.State().Config.CallGraceMillis)
				assert.EqualValues(t, 40, account(s, id).Settled.Tokens)
			}
			assert.True(t, account(s, id).Reserved.Zero())
			s.Check()
		})
	}
}

// RU-7: what outlives its agent takes up room, too: there are at most max_outbox
// reservations, whatever became of the calls, and a charged call that finds them all
// taken is answered. Calls that nothing is charged for go on.
func TestOpenReservationsAreBounded(t *testing.T) {
	s := kerneltest.New(t, 2, func(c *config.Config) { c.MaxOutbox = 3 })
	var orphans []tools.Key
	for range 2 {
		id := spender(s, 100, paid("GET", 30))
		orphans = append(orphans, s.Pending...)
		s.Pending = nil
		s.Kill(id)
	}
	st := s.State()
	require.Equal(t, 2, st.Budgets.Open())
	require.Zero(t, st.Tools.Len(), "the outbox is empty")
	id := spender(s, 100, paid("GET", 30), paid("GET", 30))
	require.Len(t, s.Pending, 1)
	used(s, s.Pending[0], 5)
	assert.Equal(t, []string{"5", "TOOL_UNREACHABLE"}, codes(s, id))
	s.Pending = nil

	narrow := spender(s, 40, paid("GET", 30), paid("GET", 30))
	require.Len(t, s.Pending, 1)
	assert.Zero(t, account(s, narrow).Waiting, "who waits for room takes a place, too")
	used(s, s.Pending[0], 5)
	s.Pending = nil
	service(s, callEcho, nil)
	require.Len(t, s.Pending, 1, "which is charged to nobody")
	s.Pending = nil

	used(s, orphans[0], 7)
	id = spender(s, 100, paid("GET", 30), paid("GET", 30))
	require.Len(t, s.Pending, 2, "what is settled makes room")
	for _, key := range s.Pending {
		used(s, key, 1)
	}
	assert.Equal(t, []string{"1", "1"}, codes(s, id))
	s.Check()
}

// RU-5: how a call ends says what it is settled at, when its tool said nothing.
func TestWhatACallIsSettledAt(t *testing.T) {
	for _, row := range []struct {
		method, code string
		dispatched   bool
		settled      uint64
	}{
		{"GET", "TOOL_FAILED", false, 30},
		{"GET", "TOOL_TIMEOUT", false, 30},
		{"GET", "TOOL_UNREACHABLE", false, 0},
		{"GET", "TOOL_ARGS_INVALID", false, 0},
		{"POST", "TOOL_TIMEOUT", false, 0}, // its time was over before it was made
		{"POST", "TOOL_FAILED", true, 30},
		{"POST", "OUTCOME_UNKNOWN", true, 30},
	} {
		t.Run(row.method+" "+row.code, func(t *testing.T) {
			s := kerneltest.New(t, 1)
			id := spender(s, 100, paid(row.method, 30))
			if row.dispatched {
				s.Dispatch(s.Pending[0])
			}
			s.Answer(false, row.code)
			s.Pass(1000 + s.State().Config.CallGraceMillis)
			assert.EqualValues(t, row.settled, account(s, id).Settled.Tokens)
			assert.True(t, account(s, id).Reserved.Zero())
			s.Check()
		})
	}
}

// RU-5: a call that may be made again may have been made by a leader before: that
// the next one did not reach the service does not say that it cost nothing.
func TestUnreachedByTheNextLeader(t *testing.T) {
	for method, settled := range map[string]uint64{"GET": 30, "POST": 0} {
		s := kerneltest.New(t, 2)
		id := spender(s, 100, paid(method, 30))
		s.Term++
		s.Node(event.LeaderStarted, event.Leader{Node: "n2", Term: s.Term})
		if method == "POST" {
			s.Dispatch(s.Pending[0])
		}
		s.Answer(false, "TOOL_UNREACHABLE")
		assert.Equal(t, settled, account(s, id).Settled.Tokens, method)
		s.Check()
	}
}

// RU-6, LC-12: a call that waits for room has its deadline, and is withdrawn with
// its agent; neither charges anything.
func TestWaitingForRoomEnds(t *testing.T) {
	waits := func(t *testing.T) (s *kerneltest.Sim, id string) {
		s = kerneltest.New(t, 2)
		id = spender(s, 100, paid("POST", 60), paid("POST", 60))
		require.EqualValues(t, 1, account(s, id).Waiting)
		return s, id
	}
	t.Run("deadline", func(t *testing.T) {
		s, id := waits(t)
		s.Pass(1000 + s.State().Config.CallGraceMillis)
		assert.Equal(t, lifecycle.Faulted, s.StateOf(id))
		assert.Zero(t, account(s, id).Waiting)
		assert.True(t, account(s, id).Settled.Plus(account(s, id).Reserved).Zero())
		s.Check()
	})
	for name, command := range map[string]func(*kerneltest.Sim, string) event.Outcome{
		"killed":  (*kerneltest.Sim).Kill,
		"revoked": (*kerneltest.Sim).Revoke,
		"suspended": func(s *kerneltest.Sim, id string) event.Outcome {
			return s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "suspend", Force: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, id := waits(t)
			require.Empty(t, command(s, id).Refusal)
			assert.Zero(t, account(s, id).Waiting)
			assert.True(t, account(s, id).Settled.Plus(account(s, id).Reserved).Zero())
			s.Check()
		})
	}
	t.Run("right lost meanwhile", func(t *testing.T) { // TO-5: judged again when it is made
		s, id := waits(t)
		s.RevokeGrant(id, 0)
		first := s.Pending[0]
		s.Pending = nil
		used(s, first, 1)
		assert.Equal(t, []string{"1", "PERMISSION_DENIED"}, codes(s, id))
		s.Check()
	})
}

// RU-5, RU-8: usage beyond what was declared is recorded as an overrun, and counts: a
// limit may be found exceeded, once for each of its values.
func TestOverrun(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := spender(s, 100, paid("GET", 10), paid("GET", 10))
	pending := s.Pending
	used(s, pending[0], 150)
	assert.Equal(t, budgets.Amounts{Tokens: 140, USDMicros: 1400}, kerneltest.Find[*budgets.Overrun](s, bus.BudgetOverrun).Beyond)
	assert.Equal(t, &budgets.Mark{Kind: budgets.Tokens, Limit: 100, Used: 150, Reserved: 10}, kerneltest.Find[*budgets.Mark](s, bus.BudgetExceeded))
	assert.Equal(t, 1, s.Count(bus.BudgetWarning))
	used(s, pending[1], 10)
	assert.Zero(t, s.Count(bus.BudgetExceeded), "said before")
	assert.EqualValues(t, 160, account(s, id).Settled.Tokens)
	s.Check()
}

// RU-8: a warning comes once for each value of a limit; an operator can give
// another, on record, but none below what is taken already.
func TestWarningsAndOtherLimits(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := spender(s, 100, paid("GET", 79), paid("GET", 1), paid("GET", 20), paid("GET", 20))
	pending := s.Pending
	require.Len(t, pending, 3)
	s.Pending = nil
	used(s, pending[0], 79)
	assert.Zero(t, s.Count(bus.BudgetWarning))
	used(s, pending[1], 1)
	assert.Equal(t, &budgets.Mark{Kind: budgets.Tokens, Limit: 100, Used: 80, Reserved: 20}, kerneltest.Find[*budgets.Mark](s, bus.BudgetWarning))
	set := func(tokens uint64, reason string) event.Outcome {
		return s.Command(event.BudgetSet, event.SetBudget{Agent: id, Tokens: &tokens, Reason: reason})
	}
	refused := set(99, "too little").Refusal
	assert.Equal(t, failure.InvalidArgument, refused.Code)
	assert.Equal(t, "budget.tokens", refused.Field)
	assert.Equal(t, "must be at least what is spent and reserved, which is 100", refused.Rule)
	assert.Equal(t, failure.InvalidArgument, set(100, "the same").Refusal.Code)
	require.Empty(t, set(130, "more is needed").Refusal)
	assert.Equal(t, "more is needed", kerneltest.Find[*budgets.Changed](s, bus.BudgetChanged).Reason)
	require.Len(t, s.Pending, 1, "and there is room for the last")
	used(s, pending[2], 20)
	assert.Zero(t, s.Count(bus.BudgetWarning), "100 of 130")
	used(s, s.Pending[0], 4)
	assert.Equal(t, 1, s.Count(bus.BudgetWarning))
	s.Check()
}

// RU-3: what cannot be a budget is refused, with the field and the rule.
func TestBudgetsRefused(t *testing.T) {
	s := kerneltest.New(t, 1)
	for field, budget := range map[string]*event.Budget{
		"agent.budget":              {WarnPercent: 50},
		"agent.budget.tokens":       {Tokens: 1<<53 + 1},
		"agent.budget.usd_micros":   {USDMicros: 1<<53 + 1},
		"agent.budget.wall_ms":      {WallMillis: -1},
		"agent.budget.warn_percent": {Tokens: 1, WarnPercent: 101},
	} {
		refused := s.Command(event.AgentStart, event.Start{Define: event.Define{Budget: budget, Program: kerneltest.JSON(t, literal)}}).Refusal
		assert.Equal(t, failure.InvalidArgument, refused.Code, field)
		assert.Equal(t, field, refused.Field)
	}
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, nil)
	refused := s.Command(event.BudgetSet, event.SetBudget{Agent: id, Tokens: new(uint64)}).Refusal
	assert.Equal(t, failure.InvalidState, refused.Code)
	assert.Equal(t, "give it a budget when it is defined", refused.Hint)
	spends := spender(s, 10, paid("GET", 1))
	s.Kill(spends)
	refused = s.Command(event.BudgetSet, event.SetBudget{Agent: spends, Tokens: new(uint64)}).Refusal
	assert.Equal(t, failure.InvalidState, refused.Code)
	s.Check()
}

// RU-9: an agent's time runs while it is at work, with a warning, and ends it;
// suspended it stands still, and more of it can be given.
func TestTimeAtWork(t *testing.T) {
	start := func(t *testing.T) (*kerneltest.Sim, string) {
		s := kerneltest.New(t, 2)
		return s, s.Start(event.Define{Mode: "service", Budget: &event.Budget{WallMillis: hour}, Program: kerneltest.JSON(t, literal)}, nil)
	}
	t.Run("ends", func(t *testing.T) {
		s, id := start(t)
		s.Pass(hour*8/10 - 1)
		assert.Zero(t, s.Count(bus.BudgetWarning))
		s.Pass(1)
		assert.Equal(t, &budgets.Mark{Kind: budgets.WallMillis, Limit: uint64(hour), Used: uint64(hour * 8 / 10)}, kerneltest.Find[*budgets.Mark](s, bus.BudgetWarning))
		s.Pass(hour*2/10 - 1)
		assert.Equal(t, lifecycle.Active, s.StateOf(id))
		s.Pass(1)
		assert.Equal(t, lifecycle.Terminated, s.StateOf(id))
		failed := kerneltest.Find[*execution.FailedBody](s, bus.TickFailed)
		assert.Equal(t, failure.BudgetExceeded, failed.Failure.Code)
		s.Check()
	})
	t.Run("stands still", func(t *testing.T) {
		s, id := start(t)
		s.Pass(hour / 2)
		s.Trigger(id, "suspend")
		s.Pass(100 * hour)
		assert.EqualValues(t, hour/2, account(s, id).Worked(s.Wall))
		s.Trigger(id, "resume")
		s.Pass(hour/2 - 1)
		assert.Equal(t, lifecycle.Active, s.StateOf(id))
		wall := 2 * hour
		s.Must(event.BudgetSet, event.SetBudget{Agent: id, WallMillis: &wall})
		s.Pass(hour*6/10 + 1)
		assert.Equal(t, 1, s.Count(bus.BudgetWarning), "of the new limit")
		s.Pass(hour)
		assert.Equal(t, lifecycle.Terminated, s.StateOf(id))
		assert.Zero(t, account(s, id).Since)
		s.Check()
	})
	t.Run("not before it is spawned", func(t *testing.T) {
		s := kerneltest.New(t, 1)
		id := s.NewID()
		s.Must(event.AgentDefine, event.Define{ID: id, Mode: "service", Budget: &event.Budget{WallMillis: hour}})
		s.Pass(10 * hour)
		s.Trigger(id, "spawn")
		assert.EqualValues(t, 0, account(s, id).Worked(s.Wall))
		s.Check()
	})
}

// EV-12, RU-6: a limit that is raised lets whoever waits in by as many as an event has
// work for, and the rest in later ones.
func TestRoomIsGivenInPieces(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 2000 })
	const children = 900
	id := s.Start(event.Define{Mode: "service", Grants: freely, Budget: &event.Budget{Tokens: 10}, Program: kerneltest.JSON(t, `
		{"kind":"DELEGATE","payload":{"children":{"over":"${range(900)}","as":"i",
		"child":{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],"program":`+paid("GET", 10)+`}}}}`)}, nil)
	s.Settle()
	require.Len(t, s.Pending, 1)
	require.EqualValues(t, children-1, account(s, id).Waiting)
	more := uint64(children * 10)
	s.Must(event.BudgetSet, event.SetBudget{Agent: id, Tokens: &more})
	require.True(t, s.State().Behind())
	require.Less(t, len(s.Pending), children)
	require.Positive(t, s.Settle())
	require.Len(t, s.Pending, children)
	require.Zero(t, account(s, id).Waiting)
	s.CheckBudgets()
	s.CheckFold()
}

// RU-3, LO-13: a fork is a root agent, and no way around the budget of the agent
// that it starts from: it may spend as much as that one, from nothing spent.
func TestForkHasTheSameLimits(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := spender(s, 100, paid("GET", 60))
	used(s, s.Pending[0], 50)
	st := s.State()
	fork := func(change func(*event.Fork)) *budgets.Account {
		f := event.Fork{Define: event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, Source: id, At: st.Log.NextSeq - 1, Head: s.Row(id).Head}
		change(&f)
		return account(s, kerneltest.IDOf(s.Must(event.AgentFork, f).Agent))
	}
	own := fork(func(*event.Fork) {})
	assert.Equal(t, budgets.Limits{Tokens: 100, WarnPercent: 80}, own.Limits)
	assert.True(t, own.Settled.Zero())
	assert.Zero(t, own.Above)
	other := fork(func(f *event.Fork) { f.Define.Budget = &event.Budget{Tokens: 7} })
	assert.EqualValues(t, 7, other.Limits.Tokens)
	s.CheckFold()
	s.CheckBudgets()
}

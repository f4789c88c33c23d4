package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// revokedPaths is what the loss of its token leads to, by the agent's state.
var revokedPaths = map[lifecycle.State][]string{
	lifecycle.Spawned:    {"activate", "error", "abandon"},
	lifecycle.Active:     {"error", "abandon"},
	lifecycle.Waiting:    {"error", "abandon"},
	lifecycle.Resumable:  {"expire"},
	lifecycle.Completing: nil,
	lifecycle.Faulted:    {"abandon"},
	lifecycle.Recovering: {"recovery_exhausted"},
}

// LC-10: an agent that loses its token ends by its state, in the same event,
// with TOKEN_REVOKED, PERMANENT; a COMPLETING one finishes. DEFINED and
// TERMINATED have no token to lose.
func TestRevokedInEveryState(t *testing.T) {
	for at := lifecycle.Defined; at < lifecycle.States; at++ {
		s := kerneltest.New(t, 1)
		id := bring(s, at)
		outcome := s.Command(event.TokenRevoke, event.RevokeToken{Agent: id, Reason: "stolen"})
		if at == lifecycle.Defined || at == lifecycle.Terminated {
			require.Equal(t, failure.InvalidState, outcome.Refusal.Code, at.String())
			require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
			continue
		}
		require.Empty(t, outcome.Refusal, at.String())
		uuid, _ := flows.ParseID(id)
		require.Equal(t, &delegation.TokenRevoked{
			Code: failure.TokenRevoked, Reason: "stolen", Token: flows.TokenID(uuid), Grants: s.Row(id).Permissions.Grants, Depth: 8,
		}, kerneltest.Find[*delegation.TokenRevoked](s, bus.TokenRevoked), "the token, whole")
		require.Equal(t, revokedPaths[at], s.Path(), at.String())
		require.Zero(t, s.Count(bus.Step), at.String())
		again := s.Revoke(id)
		require.False(t, again.Done(), at.String())
		if at == lifecycle.Completing {
			require.Equal(t, at, s.StateOf(id))
			require.Equal(t, failure.TokenRevoked, again.Refusal.Code)
			continue
		}
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), at.String())
		require.Equal(t, failure.TokenRevoked, codeOf(s, id))
		row := s.Row(id)
		require.Equal(t, failure.TokenRevoked, row.Lifecycle.Code, at.String())
		s.CheckFold()
		s.CheckCounts()
		s.Pass(60_000)
		require.Empty(t, s.Path(), "never retried")
	}
}

// LC-10: the tick of an ACTIVE agent that has work begins, and fails with
// TOKEN_REVOKED before its first step; what it would have run is given up.
func TestTheNextTickBeginsWithTheFailure(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	id := startFreely(s, "service", giving(`1`))
	queued := event.Event{Kind: event.AgentSubmit, Principal: string(make([]byte, 80_000)), Body: event.Encode(event.Submit{Agent: id})}
	require.Empty(t, s.Apply(queued).Refusal)
	require.NotZero(t, s.Row(id).Execution.Place)
	require.Empty(t, s.Revoke(id).Refusal)
	require.Equal(t, []string{"EVENT", "TOKEN_REVOKED", "OUTCOME", "TICK_STARTED", "TICK_FAILED"}, s.Names()[:5])
	require.Zero(t, s.Count(bus.Step))
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}

// LC-10: everything below a revoked agent ends in the same event, depth first,
// each by its own state, each with a record of its own token; nobody inside the
// subtree is told.
func TestTheSubtreeGoesAlong(t *testing.T) {
	s := kerneltest.New(t, 2)
	mid := func(mode string) string {
		return kid(delegateTo("", kid(callEcho, allowTools, ""), kid(callEcho, allowTools, "")), allowTools+`,`+allowAgents, `,"max_depth":2,"mode":"`+mode+`"`)
	}
	outside := startFreely(s, "task", delegateTo("", mid("task"), kid(callEcho, allowTools, "")))
	kids := kidsOf(s, outside)
	grand := kidsOf(s, kids[0])
	require.Len(t, s.Pending, 3)
	require.Empty(t, s.Revoke(kids[0]).Refusal)
	require.Equal(t, []uint32{numberOf(s, kids[0]), numberOf(s, grand[0]), numberOf(s, grand[1])}, agentsOf(s, "TOKEN_REVOKED"))
	for _, id := range []string{kids[0], grand[0], grand[1]} {
		require.Equal(t, lifecycle.Terminated, s.StateOf(id))
		require.Equal(t, failure.TokenRevoked, codeOf(s, id))
	}
	require.Equal(t, []uint32{numberOf(s, kids[0])}, agentsOf(s, "CHILD_FAILURE"), "only the one outside is told")
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Waiting}, statesOf(s, outside, kids[1]))
	st := s.State()
	require.Equal(t, 1, st.Tools.Len())
	for _, key := range s.Pending {
		outcome := s.Result(key, true, "fine")
		require.Equal(t, key.Agent == numberOf(s, kids[1]), outcome.Done(), "the others are stale")
	}
	require.Contains(t, jsonOf(s, outside), `"code":"TOKEN_REVOKED"`)
	require.Contains(t, jsonOf(s, outside), `"fine"`)
	s.Check()
}

// LC-10: a child ends by its own state when its parent's token is revoked.
func TestDescendantsInEveryState(t *testing.T) {
	for at, path := range revokedPaths {
		if at == lifecycle.Spawned {
			continue // children are activated with their birth
		}
		s := kerneltest.New(t, 1)
		program := literal
		if at == lifecycle.Waiting || at == lifecycle.Faulted || at == lifecycle.Recovering {
			program = callEcho
		}
		id := startFreely(s, "service", delegateTo(`,"detach":true`, kid(program, allowTools, `,"mode":"service"`)))
		k := onlyKid(s, id)
		switch at {
		case lifecycle.Resumable:
			require.Empty(t, s.Trigger(k, "suspend").Refusal)
		case lifecycle.Completing:
			stop(s, k, lifecycle.Active, lifecycle.Complete, lifecycle.Kernel)
		case lifecycle.Faulted, lifecycle.Recovering:
			s.Answer(false, failure.ToolUnreachable)
			if at == lifecycle.Recovering {
				stop(s, k, lifecycle.Faulted, lifecycle.Recover, lifecycle.FailureHandler)
			}
		}
		require.Equal(t, at, s.StateOf(k))
		require.Empty(t, s.Revoke(id).Refusal)
		var taken []string
		for _, r := range s.Last() {
			if e, ok := r.Content.(*lifecycle.Event); ok && r.Agent == numberOf(s, k) {
				taken = append(taken, e.Trigger.String())
				require.Equal(t, failure.TokenRevoked, e.Code)
			}
		}
		require.Equal(t, path, taken, at.String())
		s.CheckFold()
	}
}

// LC-10, FA-2: a parent that is TERMINATED, or FAULTED as PERMANENT, takes its
// children along in the same event; a TRANSIENT fault does not.
func TestTheEndOfAParent(t *testing.T) {
	const sleep = `{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":60000}}}`
	for name, test := range map[string]struct {
		then  string
		code  failure.Code
		state lifecycle.State
		kid   lifecycle.State
	}{
		"it completes":       {giving(`1`), "", lifecycle.Terminated, lifecycle.Terminated},
		"it fails":           {`{"kind":"FAIL","payload":{"message":"no"}}`, failure.ProgramFailed, lifecycle.Faulted, lifecycle.Terminated},
		"it may recover":     {callOf("echo", "{}", false), failure.ToolUnreachable, lifecycle.Faulted, lifecycle.Waiting},
		"it breaks a policy": {callOf("echo", "{}", false), failure.PermissionDenied, lifecycle.Terminated, lifecycle.Terminated},
	} {
		s := kerneltest.New(t, 1)
		grants := freely
		if test.code == failure.PermissionDenied {
			grants = append([]permissions.Grant{grant(permissions.Deny, "echo")}, freely...)
		}
		id := s.Start(event.Define{Grants: grants, Program: kerneltest.JSON(t, inSeq(delegateTo(`,"detach":true`, kid(sleep, allowTools, "")), test.then))}, nil)
		if test.code == failure.ToolUnreachable {
			s.Answer(false, test.code)
		}
		k := onlyKid(s, id)
		require.Equal(t, []lifecycle.State{test.state, test.kid}, statesOf(s, id, k), name)
		if test.code != "" {
			require.Equal(t, test.code, codeOf(s, id), name)
		}
		if test.kid == lifecycle.Terminated {
			require.Equal(t, failure.TokenRevoked, codeOf(s, k), name)
			require.Equal(t, 1, s.Count(bus.ChildrenRevoked), name)
			require.Equal(t, map[bool]int{true: 1}[test.state == lifecycle.Terminated], s.Count(bus.ParentTerminated), name)
		}
		s.Check()
	}
}

// EV-12, LC-10: a cascade over many agents takes several events; authority is
// gone with the first record. Each event stays within its work, and other
// commands are answered meanwhile.
func TestLongCascade(t *testing.T) {
	const limit = 1000
	s := kerneltest.New(t, 2, func(c *config.Config) { c.WorkPerEvent = limit })
	fan := func(n int, program, more string) string {
		return fmt.Sprintf(`{"kind":"DELEGATE","payload":{"children":{"over":"${range(%d)}","as":"i","child":{"program":%s,"grants":[%s]%s}}}}`,
			n, program, allowTools+`,`+allowAgents, more)
	}
	id := startFreely(s, "task", fan(10, fan(60, callEcho, ""), `,"max_depth":1`))
	s.Settle()
	st := s.State()
	require.EqualValues(t, 611, st.Agents.Len())
	require.Len(t, s.Pending, 600)
	bystander := service(s, literal, nil)

	require.Empty(t, s.Revoke(id).Refusal)
	_, cascading := s.State().Delegation.FirstCascade()
	require.True(t, cascading, "it takes more than one event")
	last := uint32(611)
	require.Equal(t, lifecycle.Waiting, s.State().StateOf(last), "not visited yet")
	rows := func(no uint32) *delegation.Row { return &st.Agents.Get(no).Delegation }
	st = s.State()
	inForce, code, holder := delegation.InForce(rows, last, st.Clock)
	require.Equal(t, []any{false, failure.TokenRevoked, numberOf(s, id)}, []any{inForce, code, holder}, "and without authority at once")
	// The result of its call comes before the cascade does: it is taken in, and no
	// step follows, in whatever order cascade and queue are worked off.
	key := s.Pending[len(s.Pending)-1]
	require.Equal(t, last, key.Agent)
	s.Result(key, true, 1)
	revoked := len(s.Blocks) - 1

	var order []uint32
	pulses := 0
	for ; kerneltest.Behind(s.State()); pulses++ {
		if pulses == 1 {
			require.Empty(t, s.Trigger(bystander, "suspend").Refusal)
		} else {
			s.Pulse()
		}
		require.Less(t, workOf(s), uint64(limit+200), "pulse %d", pulses)
	}
	require.Greater(t, pulses, 2)
	for index := revoked; index <= len(s.Blocks); index++ {
		for _, r := range s.Records(index) {
			require.False(t, r.Name == "STEP" || r.Name == "CALL_REQUESTED", "agent %d does something", r.Agent)
			if r.Name == "TOKEN_REVOKED" {
				order = append(order, r.Agent)
			}
		}
	}
	st = s.State()
	require.Len(t, order, 611, "each agent once")
	for i := 1; i < len(order); i++ {
		require.Contains(t, order[:i], st.Agents.Get(order[i]).Delegation.Parent, "parents before children")
	}
	for no := uint32(1); no <= 611; no++ {
		require.Equal(t, lifecycle.Terminated, st.StateOf(no))
	}
	require.Zero(t, st.Tools.Len())
	s.Check()
}

// TO-5: revoking a token withdraws its agent's calls in the same event,
// dispatched or not; no dispatch follows, and a late result is stale.
func TestRevocationWithdrawsCalls(t *testing.T) {
	for _, dispatched := range []bool{false, true} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "task", post)
		key := s.Pending[0]
		if dispatched {
			require.Empty(t, s.Dispatch(key).Refusal)
		}
		require.Empty(t, s.Revoke(id).Refusal)
		require.Equal(t, failure.Withdrawn, kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed).Code)
		st := s.State()
		require.Zero(t, st.Tools.Len())
		require.Equal(t, failure.StaleResult, s.Dispatch(key).Refusal.Code)
		require.Zero(t, s.Count(bus.CallDispatched))
		before := kerneltest.Substance(s.State())
		require.Equal(t, failure.StaleResult, s.Result(key, true, 1).Refusal.Code)
		require.Equal(t, before, kerneltest.Substance(s.State()))
		s.Check()
	}
}

// TO-5: what a checker reads from any log: no call is dispatched for an agent
// after a record revoked its token, or one that it rests on.
func TestNoDispatchAfterRevocation(t *testing.T) {
	dispatched, revocations := 0, 0
	for seed := range uint64(6) {
		h := kerneltest.NewHistory(t, 1, 40, kerneltest.NewSeeded(100+seed))
		h.Run(250)
		parent, revoked := make(map[uint32]uint32), make(map[uint32]bool)
		for _, r := range h.All() {
			switch b := r.Content.(type) {
			case *delegation.TokenIssued:
				parent[r.Agent] = b.Parent
			case *delegation.TokenRevoked:
				revoked[r.Agent] = true
				revocations++
			case *tools.DispatchedBody:
				dispatched++
				for at := r.Agent; at != 0; at = parent[at] {
					require.False(t, revoked[at], "record %d: agent %d's call, on the token of %d", r.Seq, r.Agent, at)
				}
			}
		}
	}
	require.NotZero(t, dispatched)
	require.NotZero(t, revocations)
}

// TO-5, LC-10: a grant that was revoked since a call was judged does not reach
// the tool: the dispatch is refused by a DENY, and the call is answered with it.
// It makes no difference whether the grant was the agent's or an ancestor's.
func TestDispatchIsJudgedAgain(t *testing.T) {
	for name, whose := range map[string]int{"its own": 1, "its parent's": 0} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "task", delegateTo("", kid(post, allowTools, "")))
		k := onlyKid(s, id)
		key := s.Pending[0]
		position := uint32(0) // tool.* of either
		require.Empty(t, s.RevokeGrant([]string{id, k}[whose], position).Refusal, name)
		require.Equal(t, 1, s.Count(bus.GrantRevoked))
		require.Empty(t, s.Dispatch(key).Refusal, "the event takes effect: it ends the call")
		require.Zero(t, s.Count(bus.CallDispatched), name)
		require.Equal(t, 1, s.Count(bus.Deny), name)
		require.Equal(t, failure.PermissionDenied, kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed).Code)
		require.Contains(t, jsonOf(s, id), "PERMISSION_DENIED", name)
		s.Check()
	}
}

// LC-10, DE-1: a revoked grant says nothing from then on, to its agent and to
// all below, whose own lists are as they were; what was a position stays one.
func TestRevokedGrant(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", delegateTo(`,"detach":true`, kid(callOf("clock.now", "{}", true), allowTools, `,"mode":"service"`)))
	k := onlyKid(s, id)
	require.Contains(t, jsonOf(s, k), `"ok":true`)
	list := s.Row(k).Permissions.Grants
	s.Wall += 5
	require.Empty(t, s.RevokeGrant(id, 0).Refusal)
	require.Equal(t, list, s.Row(k).Permissions.Grants)
	s.Must(event.AgentSubmit, event.Submit{Agent: k})
	require.Contains(t, jsonOf(s, k), `"code":"PERMISSION_DENIED"`)
	denied := kerneltest.Find[*permissions.Evaluation](s, bus.Deny)
	require.Equal(t, &permissions.Evaluation{
		Action: "tool.call", Resource: "clock.now", Grants: s.Row(id).Permissions.Grants, Grant: permissions.DefaultDeny, Level: numberOf(s, id),
	}, denied)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, `{"kind":"READ","payload":{"key":"k"}}`)})
	require.Equal(t, "null", jsonOf(s, id), "the others stay")
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, delegateTo(`,"handle":true`, kid(literal, allowTools, "")))})
	require.Contains(t, jsonOf(s, id), "children[0].grants[0]: widens", "nor is it to be handed out")
	require.Empty(t, s.RevokeGrant(id, 1).Refusal, "a second one, of the list that the first left")
	s.Check()
	for _, bad := range []struct {
		grant uint32
		rule  string
	}{{4, "no grant at this position"}, {1 << 31, "no grant at this position"}} {
		refusal := s.RevokeGrant(id, bad.grant).Refusal
		require.Equal(t, []any{failure.InvalidArgument, "grant"}, []any{refusal.Code, refusal.Field})
		require.Contains(t, refusal.Rule, bad.rule)
	}
	s.Kill(id)
	require.Equal(t, failure.InvalidState, s.RevokeGrant(id, 0).Refusal.Code)
	s.Pass(s.State().Config.RetentionMillis)
	require.Zero(t, interned(s), "the lists go with the agents")
	s.Check()
}

// A DENY or an ESCALATE is not taken back: the agent could do more.
func TestOnlyAllowsAreRevoked(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal), Grants: []permissions.Grant{
		grant(permissions.Deny, "echo"), grant(permissions.Escalate, "**"),
	}}, nil)
	before := kerneltest.Substance(s.State())
	for position := range uint32(2) {
		refusal := s.RevokeGrant(id, position).Refusal
		assert.Equal(t, failure.InvalidArgument, refusal.Code)
		assert.Contains(t, refusal.Rule, "must be ALLOW")
		assert.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
	}
	require.Equal(t, before, kerneltest.Substance(s.State()))
}

// DE-2: an expired token is a revoked one, with TOKEN_EXPIRED: in the event in
// which its time is over, for its agent and everything below.
func TestExpiredToken(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{TTLMillis: 1000, Grants: freely, Program: kerneltest.JSON(t, delegateTo("", kid(callEcho, allowTools, "")))}, nil)
	k := onlyKid(s, id)
	s.Pass(999)
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Waiting}, statesOf(s, id, k))
	s.Pass(1)
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, k))
	require.Equal(t, []failure.Code{failure.TokenExpired, failure.TokenExpired}, []failure.Code{codeOf(s, id), codeOf(s, k)})
	require.Equal(t, "its time is over", kerneltest.Find[*delegation.TokenRevoked](s, bus.TokenRevoked).Reason)
	s.Check()
}

// DE-2: the time of a token is tested where it is used, too: the tick of an
// event whose work was spent before its timer could fire begins with the failure.
func TestExpiredTokenIsNotUsed(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	id := s.Start(event.Define{Mode: "service", TTLMillis: 1000, Grants: freely, Program: kerneltest.JSON(t, literal)}, nil)
	queued := event.Event{Kind: event.AgentSubmit, Principal: string(make([]byte, 80_000)), Body: event.Encode(event.Submit{Agent: id})}
	require.Empty(t, s.Apply(queued).Refusal)
	s.Wall += 1000
	queued.Kind, queued.Body = event.Pulse, nil
	s.Apply(queued)
	require.Equal(t, []string{"EVENT"}, s.Names(), "no timer fires")
	s.Pulse()
	require.Equal(t, failure.TokenExpired, codeOf(s, id))
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}

// Patterns that do not parse never get in: a coded refusal that names which.
func TestPatternsThatDoNotParse(t *testing.T) {
	s := kerneltest.New(t, 1)
	for name, bad := range map[string]permissions.Grant{
		"grants[1].resource": {Effect: permissions.Allow, Action: "tool.call", Resource: "a/**/b"},
		"grants[1].action":   {Effect: permissions.Allow, Action: "Tool call", Resource: "a"},
	} {
		refusal := s.Command(event.AgentDefine, event.Define{Grants: []permissions.Grant{grant(permissions.Allow, "a"), bad}}).Refusal
		require.Equal(t, failure.InvalidArgument, refusal.Code, name)
		require.Equal(t, name, refusal.Field)
		require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names(), name)
	}
}

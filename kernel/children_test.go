package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// DE-2, INV-08: there is no way to a cycle, or to a second parent. A request
// makes new agents and cannot name one that is there, the id that its child
// would have included; and nobody acts on who is above or beside it.
func TestNoCycles(t *testing.T) {
	s := kerneltest.New(t, 1)
	uuid, _ := flows.ParseID(kerneltest.AgentID(1))
	id := startFreely(s, "service", callOf("agent.delegate", `{"children":[{"id":"`+kerneltest.AgentID(1)+`","program":`+literal+`}]}`, true))
	require.Equal(t, kerneltest.IDOf(uuid), id)
	require.Contains(t, jsonOf(s, id), "unknown field children[0].id")

	probe := kerneltest.New(t, 1)
	taken := onlyKid(probe, startFreely(probe, "service", delegateTo("", kid(literal, "", ""))))
	s = kerneltest.New(t, 1)
	s.Must(event.AgentDefine, event.Define{ID: taken})
	id = startFreely(s, "service", delegateTo(`,"handle":true`, kid(literal, "", "")))
	require.Contains(t, jsonOf(s, id), "children[0].id: an agent has this id already")
	require.Equal(t, failure.Code("ALREADY_EXISTS"), kerneltest.Find[*delegation.DelegationRejected](s, bus.DelegationRejected).Code)
	s.Check()

	for _, tool := range []string{"kill", "revoke", "suspend", "get"} {
		s = kerneltest.New(t, 1)
		up := inSeq(letDo("got", callOf("agent."+tool, `{"agent":"`+kerneltest.AgentID(1)+`"}`, true)), giving(`"${got.message}"`))
		id = startFreely(s, "service", delegateTo("", kid(up, allowAgents, "")))
		require.Contains(t, jsonOf(s, id), "must be a child of the agent's own", tool)
		s.Check()
	}
}

// LC-3: a parent acts on its own children through tools, each judged under its
// own name on agent/UUID; on nobody else.
func TestParentsHand(t *testing.T) {
	parent := func(steps ...string) string {
		return inSeq(append([]string{letDo("kids", delegateTo(`,"detach":true`, kid(callEcho, allowEcho, `,"mode":"service"`))),
			callOf("timer.sleep", `{"ms":1}`, false)}, steps...)...) // until the child waits
	}
	act := func(tool, more string) string {
		return callOf("agent."+tool, `{"agent":"${kids[0].agent_id}"`+more+`}`, true)
	}
	for name, test := range map[string]struct {
		steps []string
		want  []string
		state lifecycle.State
	}{
		"get":                 {[]string{act("get", "")}, []string{`"state":"WAITING"`}, lifecycle.Waiting},
		"suspend":             {[]string{act("suspend", `,"reason":"later"`)}, []string{`"state":"WAITING"`}, lifecycle.Waiting},
		"suspend by force":    {[]string{act("suspend", `,"force":true`)}, []string{`"state":"RESUMABLE"`}, lifecycle.Resumable},
		"resume":              {[]string{act("suspend", `,"force":true`), act("resume", "")}, []string{`"state":"ACTIVE"`}, lifecycle.Active},
		"resume what waits":   {[]string{act("resume", "")}, []string{`"INVALID_TRANSITION"`, "agent.resume is not possible while the child is WAITING"}, lifecycle.Waiting},
		"kill":                {[]string{act("kill", "")}, []string{`"state":"TERMINATED"`}, lifecycle.Terminated},
		"kill twice":          {[]string{act("kill", ""), act("kill", "")}, []string{`"INVALID_TRANSITION"`}, lifecycle.Terminated},
		"revoke":              {[]string{act("revoke", "")}, []string{`"ok":true`}, lifecycle.Terminated},
		"get what is over":    {[]string{act("kill", ""), act("get", "")}, []string{`"state":"TERMINATED"`, `"code":"KILLED"`}, lifecycle.Terminated},
		"a reason too long":   {[]string{act("kill", `,"reason":"`+strings.Repeat("r", 257)+`"`)}, []string{`"TOOL_ARGS_INVALID"`}, lifecycle.Waiting},
		"an unknown argument": {[]string{act("get", `,"force":true`)}, []string{"unknown argument force"}, lifecycle.Waiting},
		"itself":              {[]string{callOf("agent.kill", `{"agent":"${agent.id}"}`, true)}, []string{"must be a child of the agent's own"}, lifecycle.Waiting},
		"a stranger": {[]string{callOf("agent.kill", `{"agent":"`+kerneltest.AgentID(77)+`"}`, true)},
			[]string{"must be a child of the agent's own"}, lifecycle.Waiting},
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", parent(test.steps...))
		s.Pass(1)
		for _, want := range test.want {
			require.Contains(t, jsonOf(s, id), want, name)
		}
		k := onlyKid(s, id)
		if name == "resume" {
			require.Equal(t, failure.Withdrawn, codeOf(s, k), "the call was withdrawn, and the program did not handle it")
			test.state = s.StateOf(k)
		}
		require.Equal(t, test.state, s.StateOf(k), name)
		for _, r := range s.Last() {
			if e, ok := r.Content.(*permissions.Evaluation); ok && strings.HasPrefix(e.Action, "agent.") && e.Action != "agent.delegate" {
				require.Equal(t, "agent/"+k, e.Resource, name)
			}
		}
		s.Check()
	}
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "agent.delegate", Resource: "**"},
		{Effect: permissions.Allow, Action: "tool.call", Resource: "*"}}, Program: kerneltest.JSON(t, parent(act("kill", "")))}, nil)
	s.Pass(1)
	require.Contains(t, jsonOf(s, id), `"PERMISSION_DENIED"`)
	require.Equal(t, lifecycle.Waiting, s.StateOf(onlyKid(s, id)))
	s.Check()
}

// LC-3, LC-4: a parent that waits for a child which another of its kind kills is
// told once; killing a parent leaves none of its children.
func TestKillTakesTheChildren(t *testing.T) {
	s := kerneltest.New(t, 1)
	deep := delegateTo("", kid(delegateTo("", kid(callEcho, allowTools, "")), allowTools+`,`+allowAgents, `,"max_depth":3`))
	id := startFreely(s, "task", deep)
	mid := onlyKid(s, id)
	low := onlyKid(s, mid)
	require.Empty(t, s.Kill(mid).Refusal)
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, mid, low))
	require.Contains(t, jsonOf(s, id), `"code":"KILLED"`)
	require.Equal(t, failure.TokenRevoked, codeOf(s, low))
	require.Equal(t, 1, s.Count(bus.ParentTerminated))
	require.Equal(t, 1, s.Count(bus.ChildFailure), "nobody inside the subtree is told")
	require.Equal(t, failure.Withdrawn, kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed).Code)
	s.Check()
}

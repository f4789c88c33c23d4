package kernel_test

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// freely lets every request through.
var freely = kerneltest.Everything()

const (
	allowEcho   = `{"effect":"ALLOW","action":"tool.call","resource":"echo"}`
	allowTools  = `{"effect":"ALLOW","action":"tool.*","resource":"**"}`
	allowAgents = `{"effect":"ALLOW","action":"agent.*","resource":"**"}`
)

// startFreely starts an agent that may do freely.
func startFreely(s *kerneltest.Sim, mode, program string) string {
	s.T.Helper()
	return s.Start(event.Define{Mode: mode, Grants: freely, Program: kerneltest.JSON(s.T, program)}, nil)
}

// kid writes one child for a DELEGATE: a program, the grants it gets, and
// other members that follow it.
func kid(program, grants, more string) string {
	return `{"program":` + program + `,"grants":[` + grants + `]` + more + `}`
}

// delegateTo writes a DELEGATE of children; more holds other members.
func delegateTo(more string, children ...string) string {
	return `{"kind":"DELEGATE","payload":{"children":[` + strings.Join(children, ",") + `]` + more + `}}`
}

// inSeq writes a SEQ.
func inSeq(steps ...string) string {
	return `{"kind":"SEQ","payload":{"steps":[` + strings.Join(steps, ",") + `]}}`
}

// letDo writes a LET of an instruction.
func letDo(name, do string) string {
	return `{"kind":"LET","payload":{"name":"` + name + `","do":` + do + `}}`
}

// callOf writes a CALL with arguments; handle makes it give its failure.
func callOf(tool, args string, handle bool) string {
	return fmt.Sprintf(`{"kind":"CALL","payload":{"tool":%q,"args":%s,"handle":%t}}`, tool, args, handle)
}

// giving writes a LITERAL.
func giving(v string) string { return `{"kind":"LITERAL","payload":{"value":` + v + `}}` }

// kidsOf lists an agent's children, oldest first.
func kidsOf(s *kerneltest.Sim, id string) (ids []string) {
	s.T.Helper()
	st := s.State()
	for no := st.Agents.Get(numberOf(s, id)).Delegation.FirstChild; no != 0; no = st.Agents.Get(no).Delegation.NextSibling {
		ids = append(ids, kerneltest.IDOf(st.Agents.Get(no).Identity.ID))
	}
	return ids
}

// onlyKid is an agent's one child.
func onlyKid(s *kerneltest.Sim, id string) string {
	s.T.Helper()
	kids := kidsOf(s, id)
	require.Len(s.T, kids, 1)
	return kids[0]
}

// statesOf lists where agents are.
func statesOf(s *kerneltest.Sim, ids ...string) (at []lifecycle.State) {
	s.T.Helper()
	for _, id := range ids {
		at = append(at, s.StateOf(id))
	}
	return at
}

// agentsOf lists the agents of the newest block's records of a name, in order.
func agentsOf(s *kerneltest.Sim, name string) (agents []uint32) {
	s.T.Helper()
	for _, r := range s.Last() {
		if r.Name == name {
			agents = append(agents, r.Agent)
		}
	}
	return agents
}

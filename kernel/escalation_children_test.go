package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// judgedAs lists the newest block's evaluations: kind and resource.
func judgedAs(s *kerneltest.Sim) (judged [][2]string) {
	for _, r := range s.Last() {
		switch b := r.Content.(type) {
		case *permissions.Evaluation:
			judged = append(judged, [2]string{r.Name, b.Resource})
		case *permissions.Escalated:
			judged = append(judged, [2]string{r.Name, b.Resource})
		}
	}
	return judged
}

// PE-2, PE-3: a delegation of several children is one call, and one decision:
// no child whose grant says ESCALATE is recorded as ALLOW before somebody has
// said yes, and with a child that is denied nobody is asked.
func TestChildrenWantOneDecision(t *testing.T) {
	named := func(names ...string) string {
		children := make([]string, 0, len(names))
		for _, name := range names {
			children = append(children, kid(literal, allowTools, `,"name":"`+name+`"`))
		}
		return delegateTo(`,"handle":true`, children...)
	}
	may := func(effect permissions.Effect, name string) permissions.Grant {
		return permissions.Grant{Effect: effect, Action: "agent.delegate", Resource: "agent/" + name}
	}
	start := func(s *kerneltest.Sim, names ...string) string {
		return s.Start(event.Define{Mode: "service", Grants: append([]permissions.Grant{
			may(permissions.Escalate, "one"), may(permissions.Escalate, "two"), may(permissions.Deny, "never"),
		}, freely...), Program: kerneltest.JSON(t, named(names...))}, nil)
	}

	s := kerneltest.New(t, 2)
	id := start(s, "one", "free", "two")
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Equal(t, [][2]string{{"ALLOW", "agent/free"}, {"ESCALATED", "agent/one"}}, judgedAs(s))
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
	require.Equal(t, [][2]string{{"ALLOW", "agent/one"}, {"ALLOW", "agent/free"}, {"ALLOW", "agent/two"}}, judgedAs(s))
	require.Len(t, kidsOf(s, id), 3)
	s.Check()

	s = kerneltest.New(t, 2)
	id = start(s, "one", "never", "two")
	require.Equal(t, [][2]string{{"DENY", "agent/never"}, {"DENY", "agent/one"}, {"DENY", "agent/two"}}, judgedAs(s))
	require.Zero(t, s.Count(bus.Escalated))
	require.Contains(t, jsonOf(s, id), `"PERMISSION_DENIED"`)
	require.Empty(t, kidsOf(s, id))
	s.Check()
}

package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Everything is a list of grants that lets every request through.
func Everything() []permissions.Grant {
	var grants []permissions.Grant
	for _, action := range []string{"tool.*", "memory.*", "shared.*", "agent.*"} {
		grants = append(grants, permissions.Grant{Effect: permissions.Allow, Action: action, Resource: "**"})
	}
	return grants
}

// Revoke commits that an agent's token is revoked.
func (s *Sim) Revoke(id string) event.Outcome {
	s.T.Helper()
	return s.Command(event.TokenRevoke, event.RevokeToken{Agent: id})
}

// RevokeGrant commits that one grant of an agent is revoked.
func (s *Sim) RevokeGrant(id string, grant uint32) event.Outcome {
	s.T.Helper()
	return s.Command(event.GrantRevoke, event.RevokeGrant{Agent: id, Grant: grant})
}

// Decide commits an operator's decision about an escalation.
func (s *Sim) Decide(escalation uint64, approve bool) event.Outcome {
	s.T.Helper()
	return s.Apply(event.Event{
		Kind: event.EscalationDecide, Principal: "ann", Body: event.Encode(event.Decide{Escalation: escalation, Approve: approve}),
	})
}

// Send commits a message to an agent.
func (s *Sim) Send(id string, message any) event.Outcome {
	s.T.Helper()
	return s.Command(event.AgentSend, event.Send{Agent: id, Message: Value(s.T, message)})
}

// Escalation is the number of the oldest open escalation; 0 when none is open.
func (s *Sim) Escalation() (id uint64) {
	s.T.Helper()
	st := s.State()
	st.Escalations.All(func(e *permissions.Escalation) bool {
		id = e.ID
		return false
	})
	return id
}

package kernel_test

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// authRecords ends the golden list of kinds.
const authRecords = `200 AUTH_BOOTSTRAPPED kept 0
201 PRINCIPAL_PUT kept 0
202 PRINCIPAL_DELETED kept 0
203 ROLE_PUT kept 0
204 ROLE_DELETED kept 0
205 CREDENTIAL_PUT kept 0
206 CREDENTIAL_REVOKED kept 0
207 CREDENTIALS_FORGOTTEN kept 0
208 OPERATOR_ORDERED told 0
`

// eventSample is one body of an event, as the golden file has it.
type eventSample struct {
	kind event.Kind
	body any
}

// authSamples are bodies of the records about principals.
func authSamples() []sample {
	return []sample{
		{bus.AuthBootstrapped, &principals.BootstrappedBody{By: "client"}},
		{bus.PrincipalPut, &principals.PrincipalBody{Name: "ann", Kind: "person", Description: "d", Roles: []string{"reader", "operator"}, Disabled: true, By: "admin#t"}},
		{bus.PrincipalDeleted, &principals.DeletedBody{Name: "ann", By: "admin#t", Reason: "why"}},
		{bus.RolePut, &principals.RoleBody{
			Name: "quiet", Description: "d", Grants: []permissions.Grant{{Effect: permissions.Deny, Action: "agent.*", Resource: "a/**", NotAfterMillis: 300}}, By: "admin#t",
		}},
		{bus.RoleDeleted, &principals.DeletedBody{Name: "quiet", By: "admin#t", Reason: "why"}},
		{bus.CredentialPut, &principals.CredentialBody{ID: "abcdefgh", Principal: "ann", Hash: [32]byte{1}, NotAfter: 300, Description: "d", By: "admin#t"}},
		{bus.CredentialRevoked, &principals.RevokedBody{ID: "cert:1f", NotAfter: 300, By: "admin#t", Reason: "why"}},
		{bus.CredentialsForgotten, &principals.ForgottenBody{IDs: []string{"abcdefgh", "cert:1f"}}},
		{bus.OperatorOrdered, &event.Ordered{By: "ann#t", Order: event.Order{Action: "cluster.member.remove", Resource: "n4", Detail: "force"}}},
	}
}

// authEvents are bodies of the events about principals.
func authEvents() []eventSample {
	grants := []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**", NotAfterMillis: 9}}
	return []eventSample{
		{event.AuthBootstrap, event.BootstrapAuth{Credential: "abcdefgh", Hash: [32]byte{1}, NotAfterMillis: 300, Description: "d"}},
		{event.PrincipalPut, event.PutPrincipal{Name: "ann", Kind: "service", Description: "d", Roles: []string{"reader"}, Disabled: true, Version: new(uint64)}},
		{event.PrincipalDelete, event.DeletePrincipal{Name: "ann", Reason: "why"}},
		{event.RolePut, event.PutRole{Name: "quiet", Description: "d", Grants: grants, Version: new(uint64)}},
		{event.RoleDelete, event.DeleteRole{Name: "quiet", Reason: "why"}},
		{event.CredentialPut, event.PutCredential{ID: "abcdefgh", Principal: "ann", Hash: [32]byte{1}, NotAfterMillis: 300, Description: "d"}},
		{event.CredentialRevoke, event.RevokeCredential{ID: "cert:1f", Reason: "why", NotAfterMillis: 300}},
		{event.OperatorOrder, event.Order{Action: "cluster.member.remove", Resource: "n4", Detail: "force"}},
	}
}

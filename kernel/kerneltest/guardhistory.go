package kerneltest

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// AdminToken is the id of the token that Bootstrap makes.
const AdminToken = "admintoken"

// Admin is who an event comes from that is sent with it.
const Admin = "admin#" + AdminToken

// Bootstrap turns authorization on.
func (s *Sim) Bootstrap() event.Outcome {
	s.T.Helper()
	return s.Command(event.AuthBootstrap, event.BootstrapAuth{Credential: AdminToken, Hash: [32]byte{1}})
}

// By commits somebody's command.
func (s *Sim) By(principal string, kind event.Kind, body any) event.Outcome {
	s.T.Helper()
	return s.Apply(event.Event{Kind: kind, Principal: principal, Body: event.Encode(body)})
}

// NewGuarded is a random history whose callers are judged, and in which those who may
// change who may do what; a Guard takes every event in, too.
func NewGuarded(t TB, replicas int, agents uint32, choose Chooser) *History {
	h := NewHistory(t, replicas, agents, choose)
	h.Guard = NewGuard()
	h.guarded = true
	h.Bootstrap()
	return h
}

var guardedNames = [...]string{"ann", "bob", "carol", "admin"}

// caller is somebody: mostly with a credential of its own that may be over by now.
func (h *History) caller() string {
	switch h.choose.Pick("caller", 12) {
	case 0:
		return "client"
	case 1:
		return "node:test"
	case 2:
		return guardedNames[h.choose.Pick("certified", len(guardedNames))] + "#cert:" + h.serial()
	case 3, 4, 5, 6:
		return guardedNames[h.choose.Pick("principal of token", len(guardedNames))] + "#" + h.token()
	}
	return Admin
}

func (h *History) serial() string { return strconv.Itoa(h.choose.Pick("serial", 3)) }

func (h *History) token() string {
	if len(h.tokens) > 0 && !h.rarely("unknown token", 6) {
		return h.tokens[len(h.tokens)-1-h.choose.Pick("token", min(6, len(h.tokens)))]
	}
	return "unknowntoken"
}

var guardedRoles = [...]string{"killers", "makers", "quiet", "reader", "admin"}

var guardedGrants = [...]permissions.Grant{
	{Effect: permissions.Allow, Action: "agent.kill", Resource: "**"},
	{Effect: permissions.Allow, Action: "agent.*", Resource: "**"},
	{Effect: permissions.Deny, Action: "agent.start", Resource: "**"},
	{Effect: permissions.Allow, Action: "shared.write", Resource: "n/*"},
	{Effect: permissions.Deny, Action: "**", Resource: "ann/**"},
	{Effect: permissions.Allow, Action: "auth.*", Resource: "*"},
	{Effect: permissions.Escalate, Action: "agent.kill", Resource: "**"},
	{Effect: permissions.Allow, Action: "node.*", Resource: "n1"},
	{Effect: permissions.Allow, Action: "run.*", Resource: "_/**", NotAfterMillis: Start + 60_000},
}

// guards is a command about who may do what.
func (h *History) guards() {
	name := guardedNames[h.choose.Pick("whom", len(guardedNames))]
	switch h.choose.Pick("guarding", 10) {
	case 9:
		h.command(event.OperatorOrder, event.Order{
			Action:   [...]string{"node.pause", "cluster.member.remove", "backup.create", "agent.kill"}[h.choose.Pick("ordered", 4)],
			Resource: [...]string{"n1", "_"}[h.choose.Pick("of node", 2)], Detail: h.reason(),
		})
	case 0, 1:
		put := event.PutPrincipal{Name: name, Disabled: h.rarely("disabled", 5), Kind: [...]string{"", "service", "robot"}[h.choose.Pick("kind", 3)*h.choose.Pick("with kind", 2)]}
		for range h.choose.Pick("roles", 3) {
			put.Roles = append(put.Roles, guardedRoles[h.choose.Pick("role", len(guardedRoles))])
		}
		if h.rarely("with version", 4) {
			put.Version = new(uint64)
		}
		h.command(event.PrincipalPut, put)
	case 2:
		if name == "admin" && !h.rarely("the administrator", 8) {
			name = "ann"
		}
		h.command(event.PrincipalDelete, event.DeletePrincipal{Name: name, Reason: h.reason()})
	case 3, 4:
		role := event.PutRole{Name: guardedRoles[h.choose.Pick("role", len(guardedRoles))]}
		for range h.choose.Pick("grants", 4) {
			role.Grants = append(role.Grants, guardedGrants[h.choose.Pick("granted", len(guardedGrants))])
		}
		h.command(event.RolePut, role)
	case 5:
		h.command(event.RoleDelete, event.DeleteRole{Name: guardedRoles[h.choose.Pick("role", len(guardedRoles))]})
	case 6, 7:
		id := "token" + strconv.Itoa(1000+len(h.tokens))
		if h.rarely("used id", 8) {
			id = h.token()
		}
		put := event.PutCredential{ID: id, Principal: name, Hash: [32]byte{2}}
		if h.choose.Pick("expires", 2) == 0 {
			put.NotAfterMillis = h.Wall + int64(h.choose.Pick("lives", 3)-1)*2_000
		}
		h.tokens = append(h.tokens, id)
		h.command(event.CredentialPut, put)
	default:
		id := h.token()
		if h.rarely("certificate", 4) {
			id = principals.CertificatePrefix + h.serial()
		}
		if h.rarely("the first token", 30) {
			id = AdminToken
		}
		h.command(event.CredentialRevoke, event.RevokeCredential{ID: id, Reason: h.reason()})
	}
}

package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// BootstrapAuth decides an AuthBootstrap event: from here on everybody is judged,
// and the one who asked has a token that may do everything (AU-2).
func BootstrapAuth(v View, cmd *event.BootstrapAuth, by string, out *bus.Batch) *Refusal {
	if v.Principals.On() {
		return refuseHint(failure.AlreadyExists, "", "authorization is on already, since "+by0(v.Principals.Bootstrapped()),
			"ask an administrator for a token; if every one is lost: docs/security.md, \"When every administrator's token is lost\"")
	}
	if refusal := v.checkToken(cmd.Credential, "credential", cmd.Description, cmd.NotAfterMillis); refusal != nil {
		return refusal
	}
	for _, role := range firstRoles {
		role.By = by
		out.Add(bus.Record{Kind: bus.RolePut, Body: &role})
	}
	out.Add(bus.Record{Kind: bus.PrincipalPut, Body: &principals.PrincipalBody{
		Name: principals.AdminPrincipal, Kind: principals.Person, Description: "the first administrator", Roles: []string{principals.AdminRole}, By: by,
	}})
	out.Add(bus.Record{Kind: bus.CredentialPut, Body: &principals.CredentialBody{
		ID: cmd.Credential, Principal: principals.AdminPrincipal, Hash: cmd.Hash, NotAfter: cmd.NotAfterMillis, Description: cmd.Description, By: by,
	}})
	out.Add(bus.Record{Kind: bus.AuthBootstrapped, Body: &principals.BootstrappedBody{By: by}})
	return nil
}

func by0(b *principals.Bootstrap) string { return "busSeq " + strconv.FormatUint(b.Seq, 10) }

// PutPrincipal decides a PrincipalPut event.
func PutPrincipal(v View, cmd *event.PutPrincipal, by string, out *bus.Batch) (Done, *Refusal) {
	if refusal := v.authorized(); refusal != nil {
		return Done{}, refusal
	}
	if r := CheckPrincipal(cmd); r != nil {
		return Done{}, &Refusal{Refusal: *r}
	}
	known := v.Principals.Principal(cmd.Name)
	var version uint64
	if known != nil {
		version = known.Version
	}
	if refusal := atVersion(cmd.Version, version); refusal != nil {
		return Done{}, refusal
	}
	for i, role := range cmd.Roles {
		if v.Principals.Role(role) == nil {
			return Done{}, refuseHint(failure.NotFound, "roles["+strconv.Itoa(i)+"]", "there is no role "+role, "see what there is with: omni auth role list")
		}
	}
	if known == nil && v.Principals.Principals() >= principals.MaxPrincipals {
		return Done{}, refuse(failure.LimitReached, "", "there are "+strconv.Itoa(principals.MaxPrincipals)+" principals, as many as may be")
	}
	kind := orDefault(cmd.Kind, principals.Person)
	out.Add(bus.Record{Kind: bus.PrincipalPut, Body: &principals.PrincipalBody{
		Name: cmd.Name, Kind: kind, Description: cmd.Description, Roles: cmd.Roles, Disabled: cmd.Disabled, By: by,
	}})
	return Done{Version: v.Seq}, nil
}

// CheckPrincipal holds the rules of a PrincipalPut that need no state.
func CheckPrincipal(cmd *event.PutPrincipal) *failure.Refusal {
	r := principals.CheckName("name", cmd.Name)
	if r == nil {
		r = principals.CheckDescription("description", cmd.Description)
	}
	switch {
	case r != nil:
		return r
	case cmd.Kind != "" && cmd.Kind != principals.Person && cmd.Kind != principals.Service:
		return &failure.Refusal{Code: failure.InvalidArgument, Field: "kind", Rule: "must be person or service"}
	case len(cmd.Roles) > principals.MaxRolesEach:
		return &failure.Refusal{Code: failure.InvalidArgument, Field: "roles", Rule: "must be at most " + strconv.Itoa(principals.MaxRolesEach)}
	}
	for i, role := range cmd.Roles {
		if r := principals.CheckName("roles["+strconv.Itoa(i)+"]", role); r != nil {
			return r
		}
	}
	return nil
}

// DeletePrincipal decides a PrincipalDelete event: its tokens go with it.
func DeletePrincipal(v View, cmd *event.DeletePrincipal, by string, out *bus.Batch) *Refusal {
	if refusal := v.authorized(); refusal != nil {
		return refusal
	}
	if r := principals.CheckDescription("reason", cmd.Reason); r != nil {
		return &Refusal{Refusal: *r}
	}
	if v.Principals.Principal(cmd.Name) == nil {
		return noPrincipal("name")
	}
	out.Add(bus.Record{Kind: bus.PrincipalDeleted, Body: &principals.DeletedBody{Name: cmd.Name, By: by, Reason: cmd.Reason}})
	return nil
}

func noPrincipal(field string) *Refusal {
	return refuseHint(failure.NotFound, field, "there is no principal of this name", "see what there is with: omni auth principal list")
}

// PutRole decides a RolePut event. The role admin is as it is, so that nobody is
// locked out by a slip.
func PutRole(v View, cmd *event.PutRole, by string, out *bus.Batch) (Done, *Refusal) {
	if refusal := v.authorized(); refusal != nil {
		return Done{}, refusal
	}
	if r := CheckRole(cmd); r != nil {
		return Done{}, &Refusal{Refusal: *r}
	}
	known := v.Principals.Role(cmd.Name)
	var version uint64
	if known != nil {
		version = known.Version
	}
	if refusal := atVersion(cmd.Version, version); refusal != nil {
		return Done{}, refusal
	}
	if known == nil && v.Principals.Roles() >= principals.MaxRoles {
		return Done{}, refuse(failure.LimitReached, "", "there are "+strconv.Itoa(principals.MaxRoles)+" roles, as many as may be")
	}
	out.Add(bus.Record{Kind: bus.RolePut, Body: &principals.RoleBody{Name: cmd.Name, Description: cmd.Description, Grants: cmd.Grants, By: by}})
	return Done{Version: v.Seq}, nil
}

// CheckRole holds the rules of a RolePut that need no state.
func CheckRole(cmd *event.PutRole) *failure.Refusal {
	r := principals.CheckName("name", cmd.Name)
	if r == nil {
		r = principals.CheckDescription("description", cmd.Description)
	}
	if r == nil && cmd.Name == principals.AdminRole {
		r = &failure.Refusal{Code: failure.InvalidArgument, Field: "name", Rule: "is the role that can do everything, which stays as it is", Hint: "make a role of another name"}
	}
	if r == nil {
		_, r = permissions.CompileRole(cmd.Grants)
	}
	return r
}

// DeleteRole decides a RoleDelete event.
func DeleteRole(v View, cmd *event.DeleteRole, by string, out *bus.Batch) *Refusal {
	if refusal := v.authorized(); refusal != nil {
		return refusal
	}
	if r := principals.CheckDescription("reason", cmd.Reason); r != nil {
		return &Refusal{Refusal: *r}
	}
	if v.Principals.Role(cmd.Name) == nil {
		return refuseHint(failure.NotFound, "name", "there is no role of this name", "see what there is with: omni auth role list")
	}
	if cmd.Name == principals.AdminRole {
		return refuse(failure.InvalidArgument, "name", "is the role that can do everything, which stays as it is")
	}
	if user := v.Principals.RoleUser(cmd.Name); user != "" {
		return refuseHint(failure.InvalidState, "name", "the principal "+user+" has the role", "take it away first: omni auth principal create "+user+" --role …")
	}
	out.Add(bus.Record{Kind: bus.RoleDeleted, Body: &principals.DeletedBody{Name: cmd.Name, By: by, Reason: cmd.Reason}})
	return nil
}

// forgottenAtOnce is how many credentials that are over make room in one event.
const forgottenAtOnce = 256

// PutCredential decides a CredentialPut event: a token of a principal that there is.
// Where the table is full, those that are over make room.
func PutCredential(v View, cmd *event.PutCredential, by string, out *bus.Batch) *Refusal {
	if refusal := v.authorized(); refusal != nil {
		return refusal
	}
	if refusal := v.checkToken(cmd.ID, "id", cmd.Description, cmd.NotAfterMillis); refusal != nil {
		return refusal
	}
	if v.Principals.Principal(cmd.Principal) == nil {
		return noPrincipal("principal")
	}
	if v.Principals.Tokens(cmd.Principal, v.Clock) >= principals.MaxTokens {
		return refuseHint(failure.LimitReached, "principal", "has "+strconv.Itoa(principals.MaxTokens)+" tokens in force, as many as it may", "revoke one with: omni auth token revoke ID")
	}
	if refusal := v.roomForCredential(out); refusal != nil {
		return refusal
	}
	out.Add(bus.Record{Kind: bus.CredentialPut, Body: &principals.CredentialBody{
		ID: cmd.ID, Principal: cmd.Principal, Hash: cmd.Hash, NotAfter: cmd.NotAfterMillis, Description: cmd.Description, By: by,
	}})
	return nil
}

func (v View) roomForCredential(out *bus.Batch) *Refusal {
	if v.Principals.Credentials() < principals.MaxCredentials {
		return nil
	}
	over := v.Principals.Ended(v.Clock, forgottenAtOnce)
	if len(over) == 0 {
		return refuseHint(failure.LimitReached, "", "there are "+strconv.Itoa(principals.MaxCredentials)+" credentials, as many as may be", "revoke those that nobody needs: omni auth token list")
	}
	out.Add(bus.Record{Kind: bus.CredentialsForgotten, Body: &principals.ForgottenBody{IDs: over}})
	return nil
}

// RevokeCredential decides a CredentialRevoke event. It is in force from this event
// on, for what comes behind it in the log too.
func RevokeCredential(v View, cmd *event.RevokeCredential, by string, out *bus.Batch) *Refusal {
	if refusal := v.authorized(); refusal != nil {
		return refusal
	}
	if r := CheckRevocation(cmd); r != nil {
		return &Refusal{Refusal: *r}
	}
	known := v.Principals.Credential(cmd.ID)
	switch {
	case known == nil && !principals.Certificate(cmd.ID):
		return refuseHint(failure.NotFound, "id", "there is no token of this id", "see what there is with: omni auth token list")
	case known != nil && known.RevokedAt != 0:
		return refuse(failure.InvalidState, "id", "was revoked before")
	}
	if known == nil {
		if refusal := v.roomForCredential(out); refusal != nil {
			return refusal
		}
	}
	out.Add(bus.Record{Kind: bus.CredentialRevoked, Body: &principals.RevokedBody{ID: cmd.ID, NotAfter: cmd.NotAfterMillis, By: by, Reason: cmd.Reason}})
	return nil
}

// CheckRevocation holds the rules of a CredentialRevoke that need no state.
func CheckRevocation(cmd *event.RevokeCredential) *failure.Refusal {
	check := principals.CheckToken
	if principals.Certificate(cmd.ID) {
		check = principals.CheckCertificate
	}
	r := check("id", cmd.ID)
	if r == nil {
		r = principals.CheckDescription("reason", cmd.Reason)
	}
	if r == nil && (cmd.NotAfterMillis < 0 || cmd.NotAfterMillis != 0 && !principals.Certificate(cmd.ID)) {
		r = &failure.Refusal{Code: failure.InvalidArgument, Field: "not_after_ms", Rule: "is a certificate's, and must not be negative"}
	}
	return r
}

// checkToken holds the rules of a new token.
func (v View) checkToken(id, field, description string, notAfter int64) *Refusal {
	r := principals.CheckToken(field, id)
	if r == nil {
		r = principals.CheckDescription("description", description)
	}
	switch {
	case r != nil:
		return &Refusal{Refusal: *r}
	case v.Principals.Credential(id) != nil:
		return refuse(failure.AlreadyExists, field, "is the id of a token that there is, or was")
	case notAfter != 0 && notAfter <= v.Clock:
		return refuse(failure.InvalidArgument, "not_after_ms", "must be in the future of the kernel's clock")
	}
	return nil
}

// authorized refuses what only makes sense where everybody is judged.
func (v View) authorized() *Refusal {
	if v.Principals.On() {
		return nil
	}
	return refuseHint(failure.InvalidState, "", "authorization is off: everybody may do everything", "turn it on with: omni auth bootstrap")
}

// atVersion is the rule of a compare-and-set.
func atVersion(want *uint64, version uint64) *Refusal {
	if want == nil || *want == version {
		return nil
	}
	return refuse(failure.VersionConflict, "version", "is "+strconv.FormatUint(version, 10)+" by now")
}

// firstRoles are made by the bootstrap. All but admin are data like any other role.
var firstRoles = []principals.RoleBody{
	{Name: principals.AdminRole, Description: "everything", Grants: allow(permissions.EveryAction)},
	{Name: "reader", Description: "looks at everything, and changes nothing", Grants: allow(reads...)},
	{Name: "operator", Description: "runs the cluster: its nodes, agents, runs, requests for decisions and backups", Grants: allow(append([]string{
		"agent.suspend", "agent.resume", "agent.expire", "agent.recover", "agent.abandon", "agent.kill", "agent.reclassify", "agent.revoke", "agent.budget",
		"run.start", "run.pause", "run.resume", "run.kill", "escalation.decide", "task.answer", "log.archive", "tool.deregister", "cluster.*", "node.*", "backup.create",
	}, reads...)...)},
	{Name: "author", Description: "makes agents, runs, shared memory and tools", Grants: allow(append([]string{
		"agent.*", "run.*", "shared.write", "tool.*", "task.answer",
	}, reads...)...)},
	{Name: "worker", Description: "works on calls of any tool", Grants: allow("worker.work")},
}

// reads are the actions that change nothing.
var reads = []string{
	"agent.read", "agent.list", "run.read", "run.list", "log.read", "shared.read", "tool.read", "escalation.read", "task.read", "worker.read",
	"cluster.read", "node.read", "metrics.read",
}

// allow makes grants on every resource.
func allow(actions ...string) (grants []permissions.Grant) {
	for _, action := range actions {
		grants = append(grants, permissions.Grant{Effect: permissions.Allow, Action: action, Resource: "**"})
	}
	return grants
}

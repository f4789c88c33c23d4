package recordjson

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// ofPrincipals renders the bodies of principals. No hash of a token's secret is shown:
// nobody needs it.
func ofPrincipals(body bus.Body) any {
	switch b := body.(type) {
	case *principals.BootstrappedBody:
		return fields{"by": b.By}
	case *principals.RoleBody:
		return set(fields{"name": b.Name, "grants": b.Grants, "by": b.By}, "description", b.Description)
	case *principals.PrincipalBody:
		f := fields{"name": b.Name, "kind": b.Kind, "roles": b.Roles, "disabled": b.Disabled, "by": b.By}
		return set(f, "description", b.Description)
	case *principals.DeletedBody:
		return set(fields{"name": b.Name, "by": b.By}, "reason", b.Reason)
	case *principals.CredentialBody:
		f := fields{"credential": b.ID, "principal": b.Principal, "by": b.By}
		return set(set(f, "not_after_ms", b.NotAfter), "description", b.Description)
	case *principals.RevokedBody:
		return set(set(fields{"credential": b.ID, "by": b.By}, "not_after_ms", b.NotAfter), "reason", b.Reason)
	case *principals.ForgottenBody:
		return fields{"credentials": b.IDs}
	case *event.Ordered:
		return set(fields{"by": b.By, "action": b.Action, "resource": b.Resource}, "detail", b.Detail)
	}
	return nil
}

// ofAuthEvent gives the body of a command about principals.
func ofAuthEvent(e *event.Event) any {
	switch e.Kind {
	case event.AuthBootstrap:
		return decoded[event.BootstrapAuth](e)
	case event.PrincipalPut:
		return decoded[event.PutPrincipal](e)
	case event.PrincipalDelete:
		return decoded[event.DeletePrincipal](e)
	case event.RolePut:
		return decoded[event.PutRole](e)
	case event.RoleDelete:
		return decoded[event.DeleteRole](e)
	case event.CredentialPut:
		return decoded[event.PutCredential](e)
	case event.CredentialRevoke:
		return decoded[event.RevokeCredential](e)
	}
	return nil
}

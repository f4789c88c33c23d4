package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/transport/api"
)

// authView reads a state for an answer about principals.
func (s *Server) authView(ctx context.Context, p *params) (cluster.View, *api.Error) {
	consistency := p.consistency()
	if e := p.check(); e != nil {
		return cluster.View{}, e
	}
	return s.read(ctx, consistency)
}

// getAuthStatus serves GET …/auth/status. Everybody is told whether authorization is on,
// and nobody who may not read it how many there are of what.
func (s *Server) getAuthStatus(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	told := &api.AuthStatus{As: as(&view)}
	if on := view.Principals.Bootstrapped(); on != nil {
		told.On, told.SinceMillis, told.BusSeq = true, on.At, on.Seq
		if _, refusal := askerIn(ctx).may(view.State, toRead); refusal != nil {
			return told, nil
		}
	}
	told.Principals, told.Roles, told.Credentials = view.Principals.Principals(), view.Principals.Roles(), view.Principals.Credentials()
	return told, nil
}

// getWhoami serves GET …/auth/whoami.
func (s *Server) getWhoami(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	who, refusal := askerIn(ctx).caller(view.State)
	if refusal != nil {
		return nil, atDoor(refusal)
	}
	told := &api.Whoami{On: view.Principals.On(), Principal: who.Name, Credential: who.Credential, Roles: []string{}, As: as(&view)}
	if of := view.Principals.Principal(who.Name); of != nil {
		told.Roles = append(told.Roles, of.Roles...)
	}
	if row := view.Principals.Credential(who.Credential); row != nil {
		told.NotAfter = row.NotAfter
	}
	return told, nil
}

// listPrincipals serves GET …/auth/principals.
func (s *Server) listPrincipals(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, after := p.limit(), p.values.Get("after")
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	page := &api.PrincipalPage{Principals: []api.Principal{}, As: as(&view)}
	view.Principals.AllPrincipals(after, func(of *principals.Principal) bool {
		switch {
		case of.Name == after:
		case len(page.Principals) == limit:
			page.Next = page.Principals[limit-1].Name
			return false
		default:
			page.Principals = append(page.Principals, principalOf(of))
		}
		return true
	})
	return page, nil
}

func principalOf(p *principals.Principal) api.Principal {
	return api.Principal{
		Name: p.Name, Kind: p.Kind, Description: p.Description, Roles: append([]string{}, p.Roles...), Disabled: p.Disabled,
		Version: p.Version, SinceMillis: p.At, By: p.By,
	}
}

// getPrincipal serves GET …/auth/principals/{name}.
func (s *Server) getPrincipal(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	of := view.Principals.Principal(r.PathValue("name"))
	if of == nil {
		return nil, nobody(&view, "no principal has this name", "see what there is with: omni auth principal list")
	}
	told := &api.PrincipalAnswer{Principal: principalOf(of), Tokens: []api.Credential{}, As: as(&view)}
	view.Principals.AllCredentials("", func(c *principals.Credential) bool {
		if c.Principal == of.Name {
			told.Tokens = append(told.Tokens, credentialOf(c, view.Clock))
		}
		return true
	})
	return told, nil
}

func nobody(v *cluster.View, rule, hint string) *api.Error {
	e := refused(api.CodeNotFound, "name", rule, hint)
	e.Index = v.Index
	return e
}

// listRoles serves GET …/auth/roles.
func (s *Server) listRoles(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, after := p.limit(), p.values.Get("after")
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	page := &api.RolePage{Roles: []api.Role{}, As: as(&view)}
	view.Principals.AllRoles(after, func(of *principals.Role) bool {
		switch {
		case of.Name == after:
		case len(page.Roles) == limit:
			page.Next = page.Roles[limit-1].Name
			return false
		default:
			page.Roles = append(page.Roles, roleOf(of))
		}
		return true
	})
	return page, nil
}

func roleOf(r *principals.Role) api.Role {
	return api.Role{
		Name: r.Name, Description: r.Description, Grants: append([]permissions.Grant{}, r.Grants...), Version: r.Version, SinceMillis: r.At, By: r.By,
	}
}

// getRole serves GET …/auth/roles/{name}.
func (s *Server) getRole(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	of := view.Principals.Role(r.PathValue("name"))
	if of == nil {
		return nil, nobody(&view, "no role has this name", "see what there is with: omni auth role list")
	}
	return &api.RoleAnswer{Role: roleOf(of), As: as(&view)}, nil
}

// listCredentials serves GET …/auth/credentials.
func (s *Server) listCredentials(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, after, of := p.limit(), p.values.Get("after"), p.values.Get("principal")
	view, e := s.authView(ctx, p)
	if e != nil {
		return nil, e
	}
	page := &api.CredentialPage{Credentials: []api.Credential{}, As: as(&view)}
	view.Principals.AllCredentials(after, func(c *principals.Credential) bool {
		switch {
		case c.ID == after || of != "" && c.Principal != of:
		case len(page.Credentials) == limit:
			page.Next = page.Credentials[limit-1].ID
			return false
		default:
			page.Credentials = append(page.Credentials, credentialOf(c, view.Clock))
		}
		return true
	})
	return page, nil
}

func credentialOf(c *principals.Credential, now int64) api.Credential {
	told := api.Credential{
		ID: c.ID, Principal: c.Principal, State: "in force", NotAfter: c.NotAfter, Description: c.Description, SinceMillis: c.At, By: c.By,
		RevokedMillis: c.RevokedAt, RevokedBy: c.RevokedBy, Reason: c.Reason,
	}
	switch {
	case c.RevokedAt != 0:
		told.State = "revoked"
	case c.Over(now):
		told.State = "expired"
	}
	return told
}

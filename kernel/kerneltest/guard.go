package kerneltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/stretchr/testify/require"
)

// Guard is a second model of who may do what, written from the sentences AU-1 … with
// plain maps. It takes every event of a simulation in, says whether it is refused for
// its caller's sake, and holds the kernel's tables to its own. What a command wants,
// in words of grants, it is told: a table of the kernel's tests has those.
type Guard struct {
	on         bool
	clock      int64
	roles      map[string][]permissions.Grant
	principals map[string]*event.PutPrincipal
	tokens     map[string]*guarded
}

type guarded struct {
	principal string // empty for a certificate
	notAfter  int64
	revoked   bool
}

// NewGuard is the model before authorization is on.
func NewGuard() *Guard {
	return &Guard{roles: make(map[string][]permissions.Grant), principals: make(map[string]*event.PutPrincipal), tokens: make(map[string]*guarded)}
}

// Agrees lets the guard take the newest event in; before is the state that it was
// decided in.
func (g *Guard) Agrees(s *Sim, before *state.State, e *event.Event, outcome event.Outcome) {
	s.T.Helper()
	where := fmt.Sprintf("index %d, %s by %s", len(s.Log), e.Kind, e.Principal)
	g.clock = max(g.clock, e.Wall)
	if outcome.Refusal.Code == failure.Quarantined {
		return
	}
	wanted := flows.Access{}
	if body, ok := flows.ReadCommand(e); ok {
		wanted, _ = flows.AccessOf(before, e.Kind, body)
	}
	code := g.judge(e, wanted)
	if e.Kind == event.AgentFork && code == "" { // it makes an agent, too
		define := body[event.Fork](e).Define
		also, _ := flows.AccessOf(before, event.AgentDefine, &define)
		code = g.judge(e, also)
	}
	if code != "" {
		require.Equal(s.T, code, outcome.Refusal.Code, "%s: %s", where, outcome.Refusal.Rule)
		return
	}
	require.NotContains(s.T, []failure.Code{failure.Unauthenticated, failure.Forbidden}, outcome.Refusal.Code, "%s: %s", where, outcome.Refusal.Rule)
	if !e.Kind.IsAuth() || outcome.Repeated {
		return
	}
	if !outcome.Done() {
		return // what it is refused for beside is for the tests of its flow
	}
	g.take(e)
	require.Equal(s.T, g.lines(), linesOfPrincipals(s.State()), where)
}

// judge is AU-3 to AU-5.
func (g *Guard) judge(e *event.Event, wanted flows.Access) failure.Code {
	name, credential, _ := strings.Cut(e.Principal, "#")
	node := strings.HasPrefix(name, "node:")
	switch {
	case !g.on:
		return ""
	case !e.Kind.IsCommand():
		if !node {
			return failure.Forbidden
		}
		return ""
	case node:
		if !e.Kind.IsAuth() {
			return failure.Forbidden
		}
		return ""
	}
	token, known := g.tokens[credential]
	switch who := g.principals[name]; {
	case credential == "", !known && !strings.HasPrefix(credential, "cert:"):
		return failure.Unauthenticated
	case known && (token.revoked || token.notAfter != 0 && g.clock > token.notAfter || token.principal != name):
		return failure.Unauthenticated
	case who == nil || who.Disabled:
		return failure.Unauthenticated
	}
	allowed := false
	for _, role := range g.principals[name].Roles {
		for _, grant := range g.roles[role] {
			if !speaks(grant.Action, wanted.Action) || !resourceMatches(strings.Split(grant.Resource, "/"), strings.Split(wanted.Resource, "/")) ||
				grant.NotAfterMillis != 0 && g.clock > grant.NotAfterMillis {
				continue
			}
			if grant.Effect == permissions.Deny {
				return failure.Forbidden
			}
			allowed = true
		}
	}
	if !allowed {
		return failure.Forbidden
	}
	return ""
}

func speaks(pattern, action string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return pattern == "**" || pattern == action || open && strings.HasPrefix(action, prefix)
}

func resourceMatches(pattern, resource []string) bool {
	switch {
	case len(pattern) == 0:
		return len(resource) == 0
	case pattern[0] == "**":
		return true
	case len(resource) == 0 || pattern[0] != "*" && pattern[0] != resource[0]:
		return false
	}
	return resourceMatches(pattern[1:], resource[1:])
}

// take is what an event about principals comes to that was done.
func (g *Guard) take(e *event.Event) {
	switch e.Kind {
	case event.AuthBootstrap:
		b := body[event.BootstrapAuth](e)
		g.on = true
		g.principals["admin"] = &event.PutPrincipal{Name: "admin", Roles: []string{"admin"}}
		g.tokens[b.Credential] = &guarded{principal: "admin", notAfter: b.NotAfterMillis}
		for name, grants := range firstGrants {
			g.roles[name] = grants
		}
	case event.PrincipalPut:
		b := body[event.PutPrincipal](e)
		g.principals[b.Name] = b
	case event.PrincipalDelete:
		name := body[event.DeletePrincipal](e).Name
		delete(g.principals, name)
		for id, token := range g.tokens {
			if token.principal == name {
				delete(g.tokens, id)
			}
		}
	case event.RolePut:
		b := body[event.PutRole](e)
		g.roles[b.Name] = b.Grants
	case event.RoleDelete:
		delete(g.roles, body[event.DeleteRole](e).Name)
	case event.CredentialPut:
		b := body[event.PutCredential](e)
		g.tokens[b.ID] = &guarded{principal: b.Principal, notAfter: b.NotAfterMillis}
	case event.CredentialRevoke:
		b := body[event.RevokeCredential](e)
		if g.tokens[b.ID] == nil {
			g.tokens[b.ID] = &guarded{notAfter: b.NotAfterMillis}
		}
		g.tokens[b.ID].revoked = true
	}
}

// firstGrants are those of the roles that the bootstrap makes; the tests of its flow
// say what is in them, the model only needs the first.
var firstGrants = map[string][]permissions.Grant{
	"admin": {{Effect: permissions.Allow, Action: "**", Resource: "**"}}, "reader": nil, "operator": nil, "author": nil, "worker": nil,
}

func (g *Guard) lines() (lines []string) {
	for name := range g.roles {
		grants := g.roles[name]
		if _, first := firstGrants[name]; first {
			grants = nil
		}
		lines = append(lines, fmt.Sprintf("role %s %v", name, len(grants)))
	}
	for name, p := range g.principals {
		lines = append(lines, fmt.Sprintf("principal %s %v disabled %v", name, p.Roles, p.Disabled))
	}
	for id, t := range g.tokens {
		lines = append(lines, fmt.Sprintf("credential %s of %s until %d revoked %v", id, t.principal, t.notAfter, t.revoked))
	}
	slices.Sort(lines)
	return lines
}

func linesOfPrincipals(s *state.State) (lines []string) {
	s.Principals.AllRoles("", func(r *principals.Role) bool {
		grants := len(r.Grants)
		if _, first := firstGrants[r.Name]; first {
			grants = 0
		}
		lines = append(lines, fmt.Sprintf("role %s %v", r.Name, grants))
		return true
	})
	s.Principals.AllPrincipals("", func(p *principals.Principal) bool {
		lines = append(lines, fmt.Sprintf("principal %s %v disabled %v", p.Name, p.Roles, p.Disabled))
		return true
	})
	s.Principals.AllCredentials("", func(c *principals.Credential) bool {
		lines = append(lines, fmt.Sprintf("credential %s of %s until %d revoked %v", c.ID, c.Principal, c.NotAfter, c.RevokedAt != 0))
		return true
	})
	slices.Sort(lines)
	return lines
}

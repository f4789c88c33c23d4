package show

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Changed tells that something about principals was.
func Changed(what, name string) func(p *tell.Page, d api.Done) {
	return func(p *tell.Page, d api.Done) {
		p.Line("%s %s", what, p.Accent(name))
		p.Line("%s", p.Faint(fmt.Sprintf("as of index %d, busSeq %d, answered by %s", d.Index, d.BusSeq, d.Node)))
	}
}

// NewToken shows a token, once.
func NewToken(p *tell.Page, principal, id, token, file string, notAfter int64) {
	until := "for ever"
	if notAfter != 0 {
		until = "until " + when(notAfter)
	}
	p.Line("token %s of %s, in force %s", id, p.Accent(principal), until)
	if file != "" {
		p.Line("written to %s: use it with --token-file %s", file, file)
		return
	}
	p.Line("%s", token)
	p.Line("%s", p.Faint("it is not shown again: keep it in a file that only you can read, or in OMNI_TOKEN"))
}

// AuthStatus tells whether callers are judged.
func AuthStatus(p *tell.Page, s api.AuthStatus) {
	if !s.On {
		p.Line("authorization is off: whoever reaches the API may do everything")
		p.Line("%s", p.Faint("turn it on with: omni auth bootstrap"))
		return
	}
	p.Line("authorization is on since %s, busSeq %d", when(s.SinceMillis), s.BusSeq)
	if s.Principals > 0 {
		p.Line("%d principals, %d roles, %d credentials", s.Principals, s.Roles, s.Credentials)
	}
}

// Whoami shows who requests come from.
func Whoami(p *tell.Page, w api.Whoami) {
	if !w.On {
		p.Line("%s: authorization is off, and everybody is", p.Accent(w.Principal))
		return
	}
	p.Line("%s by %s, roles: %s", p.Accent(w.Principal), w.Credential, rolesOf(w.Roles))
	if w.NotAfter != 0 {
		p.Line("in force until %s", when(w.NotAfter))
	}
}

func rolesOf(roles []string) string {
	if len(roles) == 0 {
		return "none"
	}
	return strings.Join(roles, ", ")
}

func enabled(disabled bool) string {
	if disabled {
		return "disabled"
	}
	return "enabled"
}

// Principals shows a list of principals.
func Principals(p *tell.Page, page api.PrincipalPage) {
	rows := make([][]string, 0, len(page.Principals))
	for i := range page.Principals {
		one := &page.Principals[i]
		rows = append(rows, []string{one.Name, one.Kind, enabled(one.Disabled), rolesOf(one.Roles), firstLine(one.Description)})
	}
	if len(rows) > 0 {
		p.Table([]string{"NAME", "KIND", "STATE", "ROLES", "DESCRIPTION"}, rows)
	}
	ending(p, len(rows), "principals", page.As, page.Next)
}

// Principal shows one principal, with its tokens.
func Principal(p *tell.Page, one api.PrincipalAnswer) {
	p.Line("%s, %s, %s, roles: %s", p.Accent(one.Name), one.Kind, enabled(one.Disabled), rolesOf(one.Roles))
	if one.Description != "" {
		p.Line("%s", one.Description)
	}
	p.Line("written %s by %s, version %d", when(one.SinceMillis), one.By, one.Version)
	credentials(p, one.Tokens)
}

// Roles shows a list of roles.
func Roles(p *tell.Page, page api.RolePage) {
	rows := make([][]string, 0, len(page.Roles))
	for i := range page.Roles {
		one := &page.Roles[i]
		rows = append(rows, []string{one.Name, fmt.Sprint(len(one.Grants)), firstLine(one.Description)})
	}
	if len(rows) > 0 {
		p.Table([]string{"NAME", "GRANTS", "DESCRIPTION"}, rows)
	}
	ending(p, len(rows), "roles", page.As, page.Next)
}

// Role shows one role, with its grants.
func Role(p *tell.Page, one api.RoleAnswer) {
	p.Line("%s", p.Accent(one.Name))
	if one.Description != "" {
		p.Line("%s", one.Description)
	}
	p.Line("written %s by %s, version %d", when(one.SinceMillis), one.By, one.Version)
	for i := range one.Grants {
		g := &one.Grants[i]
		p.Line("  %s %s %s", g.Effect, g.Action, g.Resource)
	}
}

// Credentials shows a list of credentials.
func Credentials(p *tell.Page, page api.CredentialPage) {
	credentials(p, page.Credentials)
	ending(p, len(page.Credentials), "credentials", page.As, page.Next)
}

func credentials(p *tell.Page, list []api.Credential) {
	rows := make([][]string, 0, len(list))
	for i := range list {
		one := &list[i]
		until := "for ever"
		if one.NotAfter != 0 {
			until = when(one.NotAfter)
		}
		rows = append(rows, []string{one.ID, one.Principal, one.State, until, firstLine(one.Description)})
	}
	if len(rows) > 0 {
		p.Table([]string{"ID", "PRINCIPAL", "STATE", "UNTIL", "DESCRIPTION"}, rows)
	}
}

package principals

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// Tables is the module's state. Rows are never changed once they are made, so
// published states share them.
type Tables struct {
	on          *Bootstrap // nil: authorization is off
	roles       table.Sorted[name, *Role]
	principals  table.Sorted[name, *Principal]
	credentials table.Sorted[name, *Credential]
}

// Bootstrap is when authorization was turned on. It is never turned off.
type Bootstrap struct {
	_   struct{} `cbor:",toarray"`
	Seq uint64   // busSeq of its record
	At  int64    // kernel clock, Unix milliseconds
	By  string   // principal
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{on: t.on, roles: t.roles.Publish(), principals: t.principals.Publish(), credentials: t.credentials.Publish()}
}

// On reports whether anybody is judged at all.
func (t *Tables) On() bool { return t.on != nil }

// Bootstrapped is when that began; nil while it has not.
func (t *Tables) Bootstrapped() *Bootstrap { return t.on }

// Role finds a role, Principal a principal, Credential a credential; nil for none.
func (t *Tables) Role(of string) *Role {
	r, _ := t.roles.Get(name(of))
	return r
}

// Principal finds a principal by its name; nil for none.
func (t *Tables) Principal(of string) *Principal {
	p, _ := t.principals.Get(name(of))
	return p
}

// Credential finds a credential by its id; nil for none.
func (t *Tables) Credential(id string) *Credential {
	c, _ := t.credentials.Get(name(id))
	return c
}

// Roles is how many there are.
func (t *Tables) Roles() int { return t.roles.Len() }

// Principals is how many there are.
func (t *Tables) Principals() int { return t.principals.Len() }

// Credentials is how many there are, those that are over included.
func (t *Tables) Credentials() int { return t.credentials.Len() }

// AllRoles yields the roles in order of their names, from one on.
func (t *Tables) AllRoles(from string, yield func(*Role) bool) {
	t.roles.From(name(from), func(_ name, r *Role) bool { return yield(r) })
}

// AllPrincipals yields the principals in order of their names, from one on.
func (t *Tables) AllPrincipals(from string, yield func(*Principal) bool) {
	t.principals.From(name(from), func(_ name, p *Principal) bool { return yield(p) })
}

// AllCredentials yields the credentials in order of their ids, from one on.
func (t *Tables) AllCredentials(from string, yield func(*Credential) bool) {
	t.credentials.From(name(from), func(_ name, c *Credential) bool { return yield(c) })
}

// RoleUser is the first principal that has the role; empty for none.
func (t *Tables) RoleUser(role string) (user string) {
	t.AllPrincipals("", func(p *Principal) bool {
		for _, r := range p.Roles {
			if r == role {
				user = p.Name
			}
		}
		return user == ""
	})
	return user
}

// Tokens is how many tokens a principal has that are not over.
func (t *Tables) Tokens(of string, now int64) (n int) {
	t.AllCredentials("", func(c *Credential) bool {
		if c.Principal == of && !c.Over(now) {
			n++
		}
		return true
	})
	return n
}

// Ended lists credentials that are over, the first of them in order of their ids, at
// most so many. A certificate's revocation is not over before the certificate is.
func (t *Tables) Ended(now int64, most int) (ids []string) {
	t.AllCredentials("", func(c *Credential) bool {
		if c.NotAfter != 0 && now > c.NotAfter || c.RevokedAt != 0 && !Certificate(c.ID) {
			ids = append(ids, c.ID)
		}
		return len(ids) < most
	})
	return ids
}

// ApplyBootstrapped turns authorization on.
func (t *Tables) ApplyBootstrapped(at bus.At, b *BootstrappedBody) {
	t.on = &Bootstrap{Seq: at.Seq, At: at.Now, By: b.By}
}

// ApplyRole takes a RolePut record in.
func (t *Tables) ApplyRole(at bus.At, b *RoleBody) {
	t.LoadRole(&Role{Name: b.Name, Description: b.Description, Grants: b.Grants, Version: at.Seq, At: at.Now, By: b.By})
}

// ApplyRoleDeleted takes a RoleDeleted record in.
func (t *Tables) ApplyRoleDeleted(b *DeletedBody) { t.roles.Delete(name(b.Name)) }

// ApplyPrincipal takes a PrincipalPut record in.
func (t *Tables) ApplyPrincipal(at bus.At, b *PrincipalBody) {
	t.LoadPrincipal(&Principal{
		Name: b.Name, Kind: b.Kind, Description: b.Description, Roles: b.Roles, Disabled: b.Disabled, Version: at.Seq, At: at.Now, By: b.By,
	})
}

// ApplyPrincipalDeleted takes a principal away, and its tokens with it.
func (t *Tables) ApplyPrincipalDeleted(b *DeletedBody) {
	t.principals.Delete(name(b.Name))
	var tokens []name
	t.AllCredentials("", func(c *Credential) bool {
		if c.Principal == b.Name {
			tokens = append(tokens, name(c.ID))
		}
		return true
	})
	for _, id := range tokens {
		t.credentials.Delete(id)
	}
}

// ApplyCredential takes a CredentialPut record in.
func (t *Tables) ApplyCredential(at bus.At, b *CredentialBody) {
	t.LoadCredential(&Credential{
		ID: b.ID, Principal: b.Principal, Hash: b.Hash, NotAfter: b.NotAfter, Description: b.Description, Seq: at.Seq, At: at.Now, By: b.By,
	})
}

// ApplyRevoked takes a CredentialRevoked record in: a token's row is marked, and a
// certificate gets one.
func (t *Tables) ApplyRevoked(at bus.At, b *RevokedBody) {
	row := Credential{ID: b.ID, NotAfter: b.NotAfter, Seq: at.Seq, At: at.Now, By: b.By}
	if known := t.Credential(b.ID); known != nil {
		row = *known
	}
	row.RevokedAt, row.RevokedBy, row.Reason = max(at.Now, 1), b.By, b.Reason
	t.LoadCredential(&row)
}

// ApplyForgotten drops the rows of credentials that are over.
func (t *Tables) ApplyForgotten(b *ForgottenBody) {
	for _, id := range b.IDs {
		t.credentials.Delete(name(id))
	}
}

// Load puts the bootstrap back from a snapshot, LoadRole a role, LoadPrincipal a
// principal, LoadCredential a credential.
func (t *Tables) Load(b *Bootstrap) { t.on = b }

// LoadRole puts a role back, and makes its compiled form.
func (t *Tables) LoadRole(r *Role) {
	set, refusal := permissions.CompileRole(r.Grants)
	if refusal != nil {
		set = nil // it denies everything; no flow lets such a role in
	}
	r.set = set
	t.roles.Set(name(r.Name), r)
}

// LoadPrincipal puts a principal back.
func (t *Tables) LoadPrincipal(p *Principal) { t.principals.Set(name(p.Name), p) }

// LoadCredential puts a credential back.
func (t *Tables) LoadCredential(c *Credential) { t.credentials.Set(name(c.ID), c) }

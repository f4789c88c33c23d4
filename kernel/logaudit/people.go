package logaudit

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// people is what the records so far say about who may ask the cluster for anything.
type people struct {
	on          bool
	roles       map[string]bool
	principals  map[string]*person
	credentials map[string]*credential
}

type person struct {
	roles    []string
	disabled bool
}

type credential struct {
	of       string // its principal; empty for a certificate
	notAfter int64  // kernel clock, Unix milliseconds; 0 for ever
	revoked  bool
}

func (c *credential) over(now int64) bool { return c.revoked || c.notAfter != 0 && now > c.notAfter }

func newPeople() people {
	return people{roles: make(map[string]bool), principals: make(map[string]*person), credentials: make(map[string]*credential)}
}

func (p *people) kept() int { return len(p.roles) + len(p.principals) + len(p.credentials) }

// What becomes of an event for the sake of whom it comes from (AU-3, AU-8).
const (
	taken       failure.Code = ""
	notKnown                 = failure.Unauthenticated
	notForWhom               = failure.Forbidden
	nobodyKnows failure.Code = "?"     // before authorization is on
	repeated    failure.Code = "again" // what the first one came to is in its own block
)

// judge says what must become of an event, and why.
func (p *people) judge(e *event.Event, now int64) (code failure.Code, why string) {
	if !p.on {
		return nobodyKnows, ""
	}
	name, id, _ := strings.Cut(e.Principal, "#")
	node := strings.HasPrefix(name, "node:")
	known, who := p.credentials[id], p.principals[name]
	switch {
	case !e.Kind.IsCommand():
		if !node && (e.Kind != event.LeaderStarted || !strings.HasPrefix(name, "recovery:")) {
			return notForWhom, "only nodes propose it"
		}
		return taken, ""
	case known != nil && known.revoked:
		return notKnown, "its credential was revoked before"
	case known != nil && known.over(now):
		return notKnown, "its credential has expired"
	case node:
		if !e.Kind.IsAuth() {
			return notForWhom, "a node may give no such command"
		}
		return taken, ""
	case id == "":
		return notKnown, "it comes with no credential"
	case known == nil && !principals.Certificate(id):
		return notKnown, "nobody was given its credential"
	case known != nil && known.of != name:
		return notKnown, "its credential is another principal's"
	case who == nil:
		return notKnown, "there is no such principal"
	case who.disabled:
		return notKnown, "the principal is disabled"
	}
	return taken, ""
}

// admitted looks, at the end of a block, at whether its event was taken or refused as it
// had to be.
func (a *Auditor) admitted() {
	must, why, was := a.must, a.reason, a.refused
	by, _, _ := strings.Cut(a.event.Principal, "#")
	switch {
	case must == nobodyKnows || was == failure.Quarantined:
	case must != taken && was != must:
		a.foundAt(a.first, bus.Record{Kind: bus.Event}, Principal, "%s by %s is not refused, and %s", a.event.Kind, by, why)
	case must == taken && was == notKnown:
		a.foundAt(a.first, bus.Record{Kind: bus.Event}, Principal, "%s by %s is refused as nobody's, and its credential is in force", a.event.Kind, by)
	}
}

// principals looks at the records about who may do what. ok is false for another record.
func (a *Auditor) principals() (ok bool) {
	p := &a.people
	asked := a.event.Kind
	switch body := a.record.Body.(type) {
	case *principals.BootstrappedBody:
		if a.of(body.By, asked == event.AuthBootstrap) && p.on {
			a.found(Principal, "authorization is turned on, and was on before")
		}
		p.on = true
	case *principals.RoleBody:
		a.of(body.By, asked == event.RolePut || asked == event.AuthBootstrap)
		p.roles[body.Name] = true
	case *principals.PrincipalBody:
		a.of(body.By, asked == event.PrincipalPut || asked == event.AuthBootstrap)
		for _, role := range body.Roles {
			if !p.roles[role] {
				a.found(Principal, "%s is given the role %s, which there is not", body.Name, role)
			}
		}
		p.principals[body.Name] = &person{body.Roles, body.Disabled}
	case *principals.CredentialBody:
		a.issuedTo(body, a.of(body.By, asked == event.CredentialPut || asked == event.AuthBootstrap))
	case *principals.RevokedBody:
		a.credentialRevoked(body, a.of(body.By, asked == event.CredentialRevoke))
	case *principals.DeletedBody:
		a.deleted(body)
	case *principals.ForgottenBody:
		a.forgotten(body)
	default:
		return false
	}
	return true
}

// of looks at whom a record is of, and whether the event asked for it. ok is true when both
// are right.
func (a *Auditor) of(by string, asked bool) (ok bool) {
	switch {
	case !asked:
		a.found(Principal, "%s did not ask for this", a.event.Kind)
	case by != a.event.Principal:
		a.found(Principal, "it is said to be by %s, and the event is by %s", by, a.event.Principal)
	default:
		return true
	}
	return false
}

// issuedTo looks at CREDENTIAL_PUT: a new token, of a principal that there is.
func (a *Auditor) issuedTo(b *principals.CredentialBody, asked bool) {
	p := &a.people
	switch {
	case !asked:
	case p.credentials[b.ID] != nil:
		a.found(Principal, "the token %s is made, and there was one of that id", b.ID)
	case p.principals[b.Principal] == nil:
		a.found(Principal, "the token %s is made for %s, which there is not", b.ID, b.Principal)
	}
	p.credentials[b.ID] = &credential{of: b.Principal, notAfter: b.NotAfter}
}

// credentialRevoked looks at CREDENTIAL_REVOKED: a token that there is, or any
// certificate, once.
func (a *Auditor) credentialRevoked(b *principals.RevokedBody, asked bool) {
	known := a.people.credentials[b.ID]
	switch {
	case !asked:
	case known == nil && !principals.Certificate(b.ID):
		a.found(Principal, "the token %s is revoked, which there is not", b.ID)
	case known != nil && known.revoked:
		a.found(Principal, "%s is revoked, and was before", b.ID)
	}
	if known == nil {
		known = &credential{notAfter: b.NotAfter}
		a.people.credentials[b.ID] = known
	}
	known.revoked = true
}

// deleted looks at PRINCIPAL_DELETED, which takes its tokens along, and at ROLE_DELETED, of
// a role that nobody has.
func (a *Auditor) deleted(b *principals.DeletedBody) {
	p := &a.people
	if a.record.Kind == bus.PrincipalDeleted {
		a.of(b.By, a.event.Kind == event.PrincipalDelete)
		if p.principals[b.Name] == nil {
			a.found(Principal, "the principal %s is deleted, which there is not", b.Name)
		}
		delete(p.principals, b.Name)
		for id, c := range p.credentials { //lint:ordered each is looked at by itself
			if c.of == b.Name {
				delete(p.credentials, id)
			}
		}
		return
	}
	a.of(b.By, a.event.Kind == event.RoleDelete)
	if !p.roles[b.Name] {
		a.found(Principal, "the role %s is deleted, which there is not", b.Name)
	}
	for _, who := range p.principals { //lint:ordered one is as good as another
		for _, role := range who.roles {
			if role == b.Name {
				a.found(Principal, "the role %s is deleted, and a principal has it", b.Name)
				delete(p.roles, b.Name)
				return
			}
		}
	}
	delete(p.roles, b.Name)
}

// forgotten looks at CREDENTIALS_FORGOTTEN: what is in force, or is a revocation of a
// certificate that is not over, stays known.
func (a *Auditor) forgotten(b *principals.ForgottenBody) {
	for _, id := range b.IDs {
		known := a.people.credentials[id]
		expired := known != nil && known.notAfter != 0 && a.now > known.notAfter
		if known == nil || !expired && (!known.revoked || principals.Certificate(id)) {
			a.found(Principal, "%s is forgotten, and is not over", id)
		}
		delete(a.people.credentials, id)
	}
}

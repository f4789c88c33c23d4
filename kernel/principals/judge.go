package principals

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Caller is who an event says that it comes from.
type Caller struct {
	Name       string // of a principal; "node:ID" for a node
	Credential string // by which it was known at the door; empty for none
}

// What the names begin with that no principal has.
const (
	nodePrefix     = "node:"     // of a node
	survivorPrefix = "recovery:" // of a node that a cluster goes on from alone (ME-8)
)

// ParseCaller reads the principal of an event: NAME#CREDENTIAL.
func ParseCaller(principal string) Caller {
	of, credential, _ := strings.Cut(principal, "#")
	return Caller{Name: of, Credential: credential}
}

// String is what an event carries.
func (c Caller) String() string {
	if c.Credential == "" {
		return c.Name
	}
	return c.Name + "#" + c.Credential
}

// Node reports whether it is a node.
func (c Caller) Node() bool { return strings.HasPrefix(c.Name, nodePrefix) }

// Survivor reports whether it is the node that a cluster goes on from after its
// majority was lost.
func (c Caller) Survivor() bool { return strings.HasPrefix(c.Name, survivorPrefix) }

// NodeCaller is the caller of a node's name.
func NodeCaller(id string) Caller { return Caller{Name: nodePrefix + id} }

// Admit says whether the caller's credential is in force, and its principal there
// and enabled; nil if so (AU-3).
func (t *Tables) Admit(c Caller, now int64) *failure.Refusal {
	if c.Node() { // a certificate proved it: what is left is whether that was revoked
		if row := t.Credential(c.Credential); row != nil && row.Over(now) {
			return unknown("the credential was revoked", "issue the node a new certificate")
		}
		return nil
	}
	if c.Credential == "" {
		return unknown("this cluster judges who asks, and the request has no credential",
			"give a token: --token-file FILE, or the variable OMNI_TOKEN")
	}
	row := t.Credential(c.Credential)
	switch {
	case row == nil && !Certificate(c.Credential):
		return unknown("the token is not known", "it was deleted, or is another cluster's: ask for a new one")
	case row != nil && row.RevokedAt != 0:
		return unknown("the credential was revoked", "ask for a new one")
	case row != nil && row.NotAfter != 0 && now > row.NotAfter:
		return unknown("the credential has expired", "ask for a new one")
	case row != nil && row.Principal != c.Name:
		return unknown("the credential is another principal's", "")
	}
	switch p := t.Principal(c.Name); {
	case p == nil:
		return unknown("there is no principal "+c.Name, "an administrator can make it: omni auth principal create "+c.Name)
	case p.Disabled:
		return unknown("the principal "+c.Name+" is disabled", "an administrator can enable it: omni auth principal enable "+c.Name)
	}
	return nil
}

func unknown(rule, hint string) *failure.Refusal {
	return &failure.Refusal{Code: failure.Unauthenticated, Rule: rule, Hint: hint}
}

// May says whether a principal's roles let it do that; nil if so (AU-4). DENY goes
// before ALLOW over all roles together, and what none speaks of is denied.
func (t *Tables) May(of, action, resource string, now int64) *failure.Refusal {
	allowed := false
	if p := t.Principal(of); p != nil {
		for _, r := range p.Roles {
			switch t.verdict(r, action, resource, now) {
			case said(permissions.Deny):
				return forbidden(of, action, resource, "the role "+r+" denies it")
			case said(permissions.Allow):
				allowed = true
			}
		}
	}
	if !allowed {
		return forbidden(of, action, resource, "no role of it allows that: see omni auth principal show "+of)
	}
	return nil
}

// said is what a role says: an effect, or nothing.
type said permissions.Effect

func (t *Tables) verdict(role, action, resource string, now int64) said {
	r := t.Role(role)
	if r == nil {
		return 0
	}
	v := r.set.Evaluate(action, resource, now)
	if v.Grant == permissions.DefaultDeny {
		return 0
	}
	return said(v.Effect)
}

func forbidden(of, action, resource, hint string) *failure.Refusal {
	return &failure.Refusal{
		Code: failure.Forbidden, Rule: failure.Clip(of + " may not do " + action + " on " + resource), Hint: hint,
	}
}

// Forbidden refuses what no role is asked about.
func Forbidden(of, action, resource, hint string) *failure.Refusal {
	return forbidden(of, action, resource, hint)
}

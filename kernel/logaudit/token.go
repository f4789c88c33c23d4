package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// accepted looks at DELEGATION_ACCEPTED.
func (a *Auditor) accepted(g *agent, b *delegation.DelegationAccepted) {
	c := g.call(a.record.Tick, b.Call)
	if c == nil {
		a.missing(g, b.Call, "makes children")
		return
	}
	first := a.holders.Last() + 1
	switch force := a.force(g); {
	case c.accepted || c.ended:
		a.found(Twice, "call %d makes children a second time", c.no)
	case c.tool != execution.Delegate || c.verdict != allowed:
		a.found(Unjudged, "call %d makes children, and no ALLOW for them comes before", c.no)
	case uint64(b.Count) != uint64(len(c.resources)) || b.First != first:
		a.found(Tree, "call %d makes %d children from number %d on, and asked for %d, and %d is the next number", c.no, b.Count, b.First, len(c.resources), first)
	case force.lost:
		a.found(Authority, "call %d makes children on %s", c.no, a.why(g, force))
	}
	c.accepted, c.detached, c.children, c.verdict = true, b.Detached, uint32(len(c.resources)), allowed
	g.births = births{first: first, count: c.children, tick: a.record.Tick, call: b.Call}
}

// childOver looks at CHILD_RESULT and CHILD_FAILURE, of a child that has ended:
// each is told its parent once.
func (a *Auditor) childOver() {
	b, ok := a.record.Body.(*delegation.ChildResult)
	if !ok {
		return
	}
	parent := a.agents[b.Parent]
	if parent == nil {
		a.found(Over, "a child's result is told agent %d, which is TERMINATED", b.Parent)
		return
	}
	c := parent.call(b.Tick, b.Call)
	switch {
	case c == nil || !c.accepted || c.detached:
		a.found(Unasked, "a child's result is told agent %d, which does not wait for it", b.Parent)
	case c.children == 0:
		a.found(Twice, "a child's result is told agent %d, and all of that request were told before", b.Parent)
	default:
		c.children--
	}
}

// issued looks at TOKEN_ISSUED.
func (a *Auditor) issued(g *agent, b *delegation.TokenIssued) {
	a.report.Tokens++
	if parent := a.agents[b.Parent]; parent != nil && g.run == 0 {
		a.joins(g, parent.run)
	}
	if _, known := a.holders.Set(b.Grants); !known {
		a.found(Grants, "the token carries list %d of grants, which is not in the log", b.Grants)
		return
	}
	switch {
	case g.holds.Token != 0:
		a.found(Tree, "the agent is given a second token")
	case b.Grants != g.holds.Asked.Grants:
		a.found(Grants, "the token carries list %d of grants, and the agent was defined with list %d", b.Grants, g.holds.Asked.Grants)
	case b.Parent != 0:
		a.delegated(g, b)
	default:
		expires := int64(0)
		if ttl := g.holds.Asked.TTLMillis; ttl > 0 {
			expires = a.now + ttl
		}
		if b.Depth != g.holds.Asked.Depth || b.Expires != expires {
			a.found(Grants, "the token has depth %d and ends at %d, and by the agent's definition %d and %d", b.Depth, b.Expires, g.holds.Asked.Depth, expires)
		}
	}
}

// delegated holds a child's token to its parent's (DE-1, DE-2).
func (a *Auditor) delegated(g *agent, b *delegation.TokenIssued) {
	parent := a.agents[b.Parent]
	if parent == nil {
		a.found(Tree, "the token rests on agent %d, which does not live", b.Parent)
		return
	}
	born, above := &parent.births, parent.holds
	switch force := a.force(parent); {
	case g.no-born.first >= born.count || b.Tick != born.tick || b.Call != born.call || b.Position != g.no-born.first:
		a.found(Tree, "agent %d did not ask for this child", b.Parent)
	case force.lost:
		a.found(Authority, "agent %d delegates on %s", b.Parent, a.why(parent, force))
	case b.Depth >= above.Depth:
		a.found(Attenuation, "the child may delegate %d levels down, and its parent %d", b.Depth, above.Depth)
	case above.Expires != 0 && (b.Expires == 0 || b.Expires > above.Expires):
		a.found(Attenuation, "the child's token ends at %d, and its parent's at %d", b.Expires, above.Expires)
	default:
		a.contained(parent, b)
	}
}

// contained compares the grants, once for each pair of lists that follows another.
func (a *Auditor) contained(parent *agent, b *delegation.TokenIssued) {
	pair := [2]uint32{parent.holds.Grants, b.Grants}
	if pair == a.contains {
		return
	}
	outer, _ := a.holders.Set(pair[0])
	inner, _ := a.holders.Set(pair[1])
	if at, widens := outer.Widens(inner); widens {
		a.found(Attenuation, "grant %d of the child's is contained in no ALLOW of its parent's", at)
		return
	}
	a.contains = pair
}

// tokenRevoked looks at TOKEN_REVOKED, which tells the token as it was.
func (a *Auditor) tokenRevoked(g *agent, b *delegation.TokenRevoked) {
	a.report.Revoked++
	h := g.holds
	if b.Parent != h.Parent() || b.Grants != h.Grants || b.Depth != h.Depth || b.Expires != h.Expires {
		a.found(Tree, "the token that is revoked is not the one that was issued")
	}
}

// assigned looks at GRANTS_ASSIGNED: an agent has the grants of its token.
func (a *Auditor) assigned(g *agent, b *permissions.Assigned) {
	if g.holds.Token == 0 || b.Grants != g.holds.Issued {
		a.found(Grants, "the agent is given list %d of grants, and its token carries list %d", b.Grants, g.holds.Issued)
	}
}

// grantRevoked looks at GRANT_REVOKED: one ALLOW has ended, and nothing else
// differs (LC-10).
func (a *Auditor) grantRevoked(g *agent, b *permissions.Revoked) {
	a.report.Revoked++
	before, _ := a.holders.Set(g.holds.Grants)
	after, known := a.holders.Set(b.Grants)
	if !known || !ends(before.Grants(), after.Grants(), b.Grant, a.now) {
		a.found(Grants, "list %d of grants is not list %d with its grant %d at an end", b.Grants, g.holds.Grants, b.Grant)
	}
}

// ends reports whether two lists differ in one ALLOW, which has ended.
func ends(before, after []permissions.Grant, at int32, nowMillis int64) bool {
	if len(before) != len(after) || at < 0 || int64(at) >= int64(len(after)) {
		return false
	}
	for i := range before {
		was, is := before[i], after[i]
		if int64(i) == int64(at) {
			if was.Effect != permissions.Allow || is.NotAfterMillis == 0 || is.NotAfterMillis >= nowMillis {
				return false
			}
			was.NotAfterMillis = is.NotAfterMillis
		}
		if was != is {
			return false
		}
	}
	return true
}

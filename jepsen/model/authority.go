package model

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Revocation is the name of the workload that takes rights away from trees of agents
// which go on using them.
const Revocation = "revocation"

// RevokeIn is what a revocation takes away. Grant is a position, of the workload's
// "revoke grant" only.
type RevokeIn struct {
	Agent string `json:"agent"`
	Grant uint32 `json:"grant,omitempty"`
}

// TreeOut is the agents of a tree, as a read told.
type TreeOut struct {
	Agents []string `json:"agents"`
}

// Authority is who may do what (PE-1, PE-2, DE-1, LC-10): every agent's token, its
// grants, and whom it rests on.
type Authority struct {
	agents map[string]*held
}

// held is what one agent holds.
type held struct {
	parent string
	born   int // how often the parent's children had been given up before
	grants []permissions.Grant
	gone   map[uint32]bool // positions of grants that were revoked

	revoked bool
	ended   bool
	givenUp int // how often all children of the moment were
}

// NewAuthority holds nobody.
func NewAuthority() *Authority { return &Authority{agents: make(map[string]*held)} }

// Issue gives an agent a token. Parent is empty for a root agent's.
func (a *Authority) Issue(agent, parent string, grants []permissions.Grant) {
	h := &held{parent: parent, grants: grants, gone: make(map[uint32]bool)}
	if above := a.agents[parent]; above != nil {
		h.born = above.givenUp
	}
	a.agents[agent] = h
}

// Revoke takes an agent's token away.
func (a *Authority) Revoke(agent string) {
	if h := a.agents[agent]; h != nil {
		h.revoked = true
	}
}

// RevokeGrant takes one of its grants away.
func (a *Authority) RevokeGrant(agent string, position uint32) {
	if h := a.agents[agent]; h != nil {
		h.gone[position] = true
	}
}

// GiveUp takes their tokens away from all children that an agent has.
func (a *Authority) GiveUp(agent string) {
	if h := a.agents[agent]; h != nil {
		h.givenUp++
	}
}

// End is that an agent is TERMINATED: its children rest on nobody.
func (a *Authority) End(agent string) {
	if h := a.agents[agent]; h != nil {
		h.ended = true
		h.givenUp++
	}
}

// Void says why an agent's token is not in force; empty when it is. An agent that
// was never given one has none.
func (a *Authority) Void(agent string) string {
	h := a.agents[agent]
	if h == nil {
		return "it was given no token"
	}
	for steps := 0; steps < maxLevels; steps++ {
		switch above := a.agents[h.parent]; {
		case h.revoked:
			return "the token of " + agent + " was revoked"
		case h.parent == "":
			return ""
		case above == nil:
			return "its parent " + h.parent + " has no token"
		case above.ended:
			return "the parent " + h.parent + " has ended"
		case above.givenUp > h.born:
			return "the children of " + h.parent + " were given up"
		default:
			agent, h = h.parent, above
		}
	}
	return "it rests on itself"
}

// maxLevels bounds a walk upwards.
const maxLevels = 1000

// May is whether an agent's grants, and those of everybody above it, allow a
// request at a kernel time: the strictest answer holds. It is permissions.Escalate
// where somebody is to decide.
func (a *Authority) May(agent, action, resource string, atMillis int64) permissions.Effect {
	verdict := permissions.Allow
	for steps := 0; steps < maxLevels; steps++ {
		h := a.agents[agent]
		if h == nil {
			return permissions.Deny
		}
		switch h.says(action, resource, atMillis) {
		case permissions.Deny:
			return permissions.Deny
		case permissions.Escalate:
			verdict = permissions.Escalate
		}
		if h.parent == "" {
			return verdict
		}
		agent = h.parent
	}
	return permissions.Deny
}

// says is what one list of grants says: DENY, then ESCALATE, then ALLOW, else DENY.
func (h *held) says(action, resource string, atMillis int64) permissions.Effect {
	found := permissions.Deny
	for i := range h.grants {
		g := &h.grants[i]
		if h.gone[uint32(i)] || g.NotAfterMillis != 0 && atMillis > g.NotAfterMillis ||
			!actionMatches(g.Action, action) || !resourceMatches(g.Resource, resource) {
			continue
		}
		switch g.Effect {
		case permissions.Deny:
			return permissions.Deny
		case permissions.Escalate:
			found = permissions.Escalate
		case permissions.Allow:
			if found == permissions.Deny {
				found = permissions.Allow
			}
		}
	}
	return found
}

// actionMatches: a name, or everything below one.
func actionMatches(pattern, action string) bool {
	if above, all := strings.CutSuffix(pattern, ".*"); all {
		return strings.HasPrefix(action, above+".")
	}
	return pattern == action
}

// resourceMatches: segment by segment; * is any one, a last ** the rest, none
// included.
func resourceMatches(pattern, resource string) bool {
	segments := strings.Split(resource, "/")
	for i, p := range strings.Split(pattern, "/") {
		switch {
		case p == "**":
			return true
		case i >= len(segments) || p != "*" && p != segments[i]:
			return false
		case strings.Count(pattern, "/") == i:
			return len(segments) == i+1
		}
	}
	return false
}

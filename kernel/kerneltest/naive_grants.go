package kerneltest

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// stricter of two verdicts: DENY, then ESCALATE, then ALLOW (PE-2).
func stricter(a, b permissions.Effect) permissions.Effect {
	for _, effect := range [...]permissions.Effect{permissions.Deny, permissions.Escalate} {
		if a == effect || b == effect {
			return effect
		}
	}
	return permissions.Allow
}

// may reads authority upwards: the agent's grants, then its ancestors' (DE-1).
func (n *Naive) may(a *agent, action, resource string) permissions.Effect {
	verdict := permissions.Allow
	for at := a; at != nil; at = at.parent {
		verdict = stricter(verdict, n.says(at.grants, action, resource))
		if strings.HasPrefix(action, "memory.") && strings.HasPrefix(resource, "parent/") {
			resource = "self/" + strings.TrimPrefix(resource, "parent/")
		}
	}
	return verdict
}

// says is what one list of grants says (PE-2).
func (n *Naive) says(grants []permissions.Grant, action, resource string) permissions.Effect {
	verdict, spoken := permissions.Allow, false
	for _, g := range grants {
		over := g.NotAfterMillis != 0 && n.clock > g.NotAfterMillis
		if !over && matches(strings.Split(g.Action, "."), strings.Split(action, "."), "*") &&
			matches(strings.Split(g.Resource, "/"), strings.Split(resource, "/"), "**") {
			verdict, spoken = stricter(verdict, g.Effect), true
		}
	}
	if !spoken {
		return permissions.Deny
	}
	return verdict
}

// matches compares segment by segment. rest stands for all that follow: of an
// action at least one, of a resource also none.
func matches(pattern, path []string, rest string) bool {
	for i, want := range pattern {
		switch {
		case want == rest && i == len(pattern)-1:
			return rest == "**" || len(path) > i
		case i >= len(path), want != "*" && want != path[i]:
			return false
		}
	}
	return len(pattern) == len(path)
}

// contains tells whether everything that inner speaks of outer does (DE-1).
func contains(outer, inner permissions.Grant) bool {
	if outer.NotAfterMillis != 0 && (inner.NotAfterMillis == 0 || inner.NotAfterMillis > outer.NotAfterMillis) {
		return false
	}
	resource := inner.Resource
	if strings.HasPrefix(inner.Action, "memory.") && strings.HasPrefix(resource, "parent/") {
		resource = "self/" + strings.TrimPrefix(resource, "parent/")
	}
	prefix, open := strings.CutSuffix(outer.Action, "*")
	if inner.Action != outer.Action && !(open && strings.HasPrefix(inner.Action, prefix)) {
		return false
	}
	return covers(strings.Split(outer.Resource, "/"), strings.Split(resource, "/"))
}

func covers(outer, inner []string) bool {
	if len(outer) == 1 && outer[0] == "**" {
		return true
	}
	if len(outer) == 0 || len(inner) == 0 {
		return len(outer) == len(inner)
	}
	if inner[0] == "**" || outer[0] == "**" || outer[0] != "*" && outer[0] != inner[0] {
		return false
	}
	return covers(outer[1:], inner[1:])
}

// void tells whether an agent's token is in force (LC-10, DE-2).
func (n *Naive) void(a *agent) (failure.Code, bool) {
	for at := a; at != nil; at = at.parent {
		switch {
		case !at.token:
			return failure.TokenRevoked, true
		case at.revoked != "":
			return at.revoked, true
		case at.expires != 0 && n.clock >= at.expires:
			return failure.TokenExpired, true
		case at.voided != "":
			return at.voided, true
		}
	}
	return "", false
}

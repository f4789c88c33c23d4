package permissions

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Set is the compiled form of one agent's grants. It is immutable, and so may
// be shared by agents and by readers. A nil Set denies everything.
type Set struct {
	grants []Grant
	groups []group
}

// group holds the rules that share an action pattern, in the order in which
// they decide. There are few distinct actions, so each is compared once.
type group struct {
	action action
	rules  []rule
}

type rule struct {
	pattern  pattern
	notAfter int64 // Unix milliseconds; zero is for ever
	grant    int32
	effect   Effect
}

// Compile checks the grants and prepares them for Evaluate. A refusal names
// the offending field from the list on: `grants[3].resource`. An empty list is
// a valid Set that denies everything.
func Compile(grants []Grant) (*Set, *failure.Refusal) { return compileWith(grants, parseAction) }

// compileWith is Compile with the rule of actions that it is given.
func compileWith(grants []Grant, parse func(string) (action, string)) (*Set, *failure.Refusal) {
	if len(grants) > MaxGrants {
		return nil, invalid("grants", "must be at most 256 grants")
	}
	set := &Set{grants: slices.Clone(grants)}
	for i := range grants {
		if refusal := set.add(int32(i), parse); refusal != nil {
			return nil, refusal
		}
	}
	for i := range set.groups {
		// Stable: among equals the order of the list decides.
		slices.SortStableFunc(set.groups[i].rules, func(a, b rule) int {
			return cmp.Compare(a.effect.rank(), b.effect.rank())
		})
	}
	return set, nil
}

// add checks the i-th grant and files it under its action.
func (s *Set) add(i int32, parse func(string) (action, string)) *failure.Refusal {
	grant := &s.grants[i]
	field := "grants[" + strconv.Itoa(int(i)) + "]."
	if !grant.Effect.Valid() {
		return invalid(field+"effect", "must be ALLOW, DENY or ESCALATE")
	}
	action, broken := parse(grant.Action)
	if broken != "" {
		return invalid(field+"action", broken)
	}
	pattern, broken := parsePattern(grant.Resource)
	if broken != "" {
		return invalid(field+"resource", broken)
	}
	if grant.NotAfterMillis < 0 {
		return invalid(field+"not_after_ms", "must not be negative")
	}
	g := s.group(action)
	g.rules = append(g.rules, rule{pattern: pattern, notAfter: grant.NotAfterMillis, grant: i, effect: grant.Effect})
	return nil
}

// group finds or makes the group of an action. The pointer is good until the
// next call.
func (s *Set) group(a action) *group {
	for i := range s.groups {
		if s.groups[i].action == a {
			return &s.groups[i]
		}
	}
	s.groups = append(s.groups, group{action: a})
	return &s.groups[len(s.groups)-1]
}

func invalid(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// Grants returns a copy of the grants in the order in which Compile was given
// them: the form to digest, and what Verdict.Grant counts in.
func (s *Set) Grants() []Grant {
	if s == nil {
		return nil
	}
	return slices.Clone(s.grants)
}

// Evaluate judges one request at nowMillis, Unix milliseconds of kernel time
// (PE-2): DENY, then ESCALATE, then ALLOW, then the default DENY; among grants
// of the deciding effect the first in the list is named. It allocates nothing.
func (s *Set) Evaluate(action, resource string, nowMillis int64) Verdict {
	verdict := Verdict{Effect: Deny, Grant: DefaultDeny}
	if s == nil || !wellFormed(resource) {
		return verdict
	}
	for i := range s.groups {
		g := &s.groups[i]
		if !g.action.matches(action) {
			continue
		}
		if r := g.first(resource, nowMillis); r != nil && r.decidesBefore(verdict) {
			verdict = Verdict{Effect: r.effect, Grant: r.grant}
		}
	}
	return verdict
}

// first returns the first rule in force that matches the resource, or nil.
func (g *group) first(resource string, nowMillis int64) *rule {
	for i := range g.rules {
		r := &g.rules[i]
		if r.inForce(nowMillis) && r.pattern.matches(resource) {
			return r
		}
	}
	return nil
}

// inForce reports whether the rule still says something (EV-6).
func (r *rule) inForce(nowMillis int64) bool { return r.notAfter == 0 || nowMillis <= r.notAfter }

// decidesBefore compares a rule with the verdict found so far.
func (r *rule) decidesBefore(v Verdict) bool {
	if v.Grant == DefaultDeny || r.effect.rank() < v.Effect.rank() {
		return true
	}
	return r.effect == v.Effect && r.grant < v.Grant
}

package permissions

import (
	"iter"
	"slices"
	"strings"
)

// The actions on an agent's persistent memory, and the words with which their
// resources begin: its own, and its parent's (DE-4).
const (
	memoryActions = "memory."
	selfWord      = "self"
	parentWord    = "parent"
)

// Upwards returns how the parent reads a resource, or a resource pattern, of
// its child: what the child calls `parent/notes` in an action `memory.…` is
// `self/notes` to the parent. All other words stay, and so does `self/notes`:
// the right to hand out a memory of one's own is the right to have one. To read
// a request under the grants of a grandparent, read it upwards twice.
//
// A pattern whose first segment is `*` or `**` stays too, and containment stays
// exact: read one level up it speaks of everything it spoke of but `parent/…`,
// and a pattern of the parent that covers so much begins with a wildcard itself
// and covers `parent/…` as well. So nobody who holds `self/**` alone hands
// out `**`, although no resource of a memory begins with a third word.
func Upwards(action, resource string) string {
	if !strings.HasPrefix(action, memoryActions) {
		return resource
	}
	rest, found := strings.CutPrefix(resource, parentWord)
	if !found || rest != "" && rest[0] != '/' {
		return resource
	}
	return selfWord + rest
}

// upwards is Upwards of a pattern of a memory action.
func (p *pattern) upwards() pattern {
	if p.literals == 0 || p.segments[0] != parentWord {
		return *p
	}
	segments := slices.Clone(p.segments)
	segments[0] = selfWord
	return newPattern(segments, p.open)
}

// upwards returns the groups as the parent reads them.
func (s *Set) upwards() []group {
	if s == nil {
		return nil
	}
	groups := slices.Clone(s.groups)
	for i := range groups {
		if !strings.HasPrefix(groups[i].action.name, memoryActions) {
			continue
		}
		groups[i].rules = slices.Clone(groups[i].rules)
		for j := range groups[i].rules {
			r := &groups[i].rules[j]
			r.pattern = r.pattern.upwards()
		}
	}
	return groups
}

// Widens looks for the first ALLOW in the child's list that no single ALLOW of
// the parent s contains in action, resource read upwards, and time (DE-1), and
// returns its position. The parent's grants are compared as they are written,
// in force or not. DENY and ESCALATE of the child narrow and need no
// containment; those of the parent bind the child by being asked too. When no
// grant widens, every request that the child's ALLOWs match is matched, read
// upwards, by an ALLOW of the parent in force at that moment.
func (s *Set) Widens(child *Set) (position int32, widens bool) {
	for action, r := range every(child.upwards()) {
		if r.effect == Allow && (!widens || r.grant < position) && !s.allows(action, r) {
			position, widens = r.grant, true
		}
	}
	return position, widens
}

// every yields the rules with their actions.
func every(groups []group) iter.Seq2[action, *rule] {
	return func(yield func(action, *rule) bool) {
		for i := range groups {
			for j := range groups[i].rules {
				if !yield(groups[i].action, &groups[i].rules[j]) {
					return
				}
			}
		}
	}
}

// allows reports whether one ALLOW contains the rule.
func (s *Set) allows(a action, inner *rule) bool {
	if s == nil {
		return false
	}
	for i := range s.groups {
		if !s.groups[i].action.contains(a) {
			continue
		}
		for j := range s.groups[i].rules {
			r := &s.groups[i].rules[j]
			if r.effect == Allow && outlives(r.notAfter, inner.notAfter) && r.pattern.contains(&inner.pattern) {
				return true
			}
		}
	}
	return false
}

// Strict reports whether the parent keeps something that the child lacks
// (DE-1), at nowMillis or later, the child's words read upwards. Either
//
//   - an ALLOW of the parent, still in force, matches a request that no ALLOW of
//     the child matches and that the parent's own DENY and ESCALATE leave alone; or
//   - a DENY or ESCALATE of the child, still in force, meets an ALLOW of the
//     parent, and says something that those of the parent do not say together.
//
// It misses nothing that the parent keeps. The first half is exact. The second
// answers true too often in one case: where a DENY of the child goes
// beyond those of the parent, but none of what goes beyond was ever allowed. To
// be exact there would take time with the cube of the number of grants, to learn
// that a child which was denied more than its parent has lost nothing by it.
func Strict(parent, child *Set, nowMillis int64) bool {
	if parent == nil {
		return false
	}
	words := child.upwards()
	for action, r := range every(parent.groups) {
		if r.effect == Allow && r.inForce(nowMillis) &&
			r.pattern.lengths()&^(covered(words, action, r, true)|covered(parent.groups, action, r, false)) != 0 {
			return true
		}
	}
	for action, r := range every(words) {
		if r.effect != Allow && r.inForce(nowMillis) &&
			r.pattern.lengths()&^covered(parent.groups, action, r, false) != 0 && parent.allowsSomeOf(action, r, nowMillis) {
			return true
		}
	}
	return false
}

// covered is the set of lengths at which the rules together match everything
// that inner matches, for as long as it is in force: those that ALLOW, or those
// that do not. Rules that end before inner cannot help at its last moment, and
// rules for a part of its action or of a segment cannot help in the rest.
func covered(groups []group, a action, inner *rule, allow bool) (lengths uint64) {
	for i := range groups {
		if !groups[i].action.contains(a) {
			continue
		}
		for j := range groups[i].rules {
			r := &groups[i].rules[j]
			if (r.effect == Allow) == allow && outlives(r.notAfter, inner.notAfter) {
				lengths |= r.pattern.covers(&inner.pattern)
			}
		}
	}
	return lengths
}

// allowsSomeOf reports whether an ALLOW in force meets the rule.
func (s *Set) allowsSomeOf(a action, with *rule, nowMillis int64) bool {
	for action, r := range every(s.groups) {
		if r.effect == Allow && r.inForce(nowMillis) && action.overlaps(a) && r.pattern.overlaps(&with.pattern) {
			return true
		}
	}
	return false
}

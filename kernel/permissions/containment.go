package permissions

// Containment is exact (PE-1): ContainsAction and ContainsResource are true if
// and only if everything that the inner pattern matches is matched by the outer
// one. Three things make that so small:
//
// There are more segments, and more names of actions, than any pattern writes
// out. So where the inner pattern has a wildcard the outer one must have one
// too, and several outer patterns together never cover what none of them covers
// alone, but for lengths: `a`, `a/*` and `a/*/**` together are `a/**`. DE-1 asks
// for one grant, so that sum is no containment; Strict, which asks for less, does
// count lengths together.
//
// MaxSegments and MaxBytes bound resources too, and do not disturb it: a pattern
// within them always has a resource for each `*` with a value that nobody wrote,
// and one that ends in `**` has resources of at least two lengths. So no chain of
// explicit `*` contains a final `**`, not even a chain of 64 that reaches the limit.
//
// A resource has at least one segment: `*/**` and `**` contain each other.

// ContainsAction reports whether every action that inner speaks of is one that
// outer speaks of. `tool.*` contains `tool.call`, `tool.call.*` and itself, not
// `tool`. What is no action pattern contains nothing and is contained in nothing.
func ContainsAction(outer, inner string) bool {
	o, broken := parseAction(outer)
	if broken != "" {
		return false
	}
	i, broken := parseAction(inner)
	return broken == "" && o.contains(i)
}

// contains is exact: an open pattern matches more names than one.
func (a action) contains(inner action) bool {
	if !inner.open {
		return a.matches(inner.name)
	}
	return a.open && len(inner.name) >= len(a.name) && inner.name[:len(a.name)] == a.name
}

// overlaps reports whether some action is spoken of by both.
func (a action) overlaps(b action) bool { return a.contains(b) || b.contains(a) }

// ContainsResource reports whether every resource that inner matches is matched
// by outer, as written: words that mean another thing one level up go through
// Upwards first. What is no pattern contains nothing and is contained in nothing.
func ContainsResource(outer, inner string) bool {
	o, broken := parsePattern(outer)
	if broken != "" {
		return false
	}
	i, broken := parsePattern(inner)
	return broken == "" && o.contains(&i)
}

// OverlapsResource reports whether some resource is matched by both patterns, as
// written. What is no pattern overlaps nothing.
func OverlapsResource(one, other string) bool {
	a, broken := parsePattern(one)
	if broken != "" {
		return false
	}
	b, broken := parsePattern(other)
	return broken == "" && a.overlaps(&b)
}

func (p *pattern) contains(inner *pattern) bool { return inner.lengths()&^p.covers(inner) == 0 }

// lengths is the set of how many segments the resources have that p matches:
// bit n-1 stands for n segments, so that MaxSegments fill the word. It is never
// empty.
func (p *pattern) lengths() uint64 {
	fewest := max(len(p.segments), 1)
	if !p.open {
		return 1 << (fewest - 1)
	}
	// Each further segment takes a separator and a byte at least.
	most := min(MaxSegments, len(p.segments)+(MaxBytes-int(p.bytes))/2)
	return from(fewest) &^ from(most+1)
}

// from is the set of the lengths n and above. A shift past the word is empty.
func from(n int) uint64 { return ^uint64(0) << (n - 1) }

// covers is the set of lengths at which p matches every resource that inner
// matches; lengths that inner does not have may be in it.
func (p *pattern) covers(inner *pattern) uint64 {
	both := min(len(p.segments), len(inner.segments))
	for i, want := range p.segments[:both] {
		if want != anySegment && want != inner.segments[i] {
			return 0
		}
	}
	for _, want := range p.segments[both:] {
		if want != anySegment { // past its own segments inner has any value
			return 0
		}
	}
	if p.open {
		return from(max(len(p.segments), 1))
	}
	return 1 << (len(p.segments) - 1)
}

// overlaps reports whether some resource is matched by both. It looks at
// segments only: two open patterns whose resources would be too long together
// count as overlapping.
func (p *pattern) overlaps(q *pattern) bool {
	for i := range min(len(p.segments), len(q.segments)) {
		a, b := p.segments[i], q.segments[i]
		if a != b && a != anySegment && b != anySegment {
			return false
		}
	}
	return p.lengths()&q.lengths() != 0
}

// Contains reports whether g says everything that inner says: its action, its
// resource as written, and its time are contained in g's. The effects are not
// looked at. It parses both; Widens is the way to compare lists.
func (g *Grant) Contains(inner *Grant) bool {
	return ContainsAction(g.Action, inner.Action) && ContainsResource(g.Resource, inner.Resource) &&
		outlives(g.NotAfterMillis, inner.NotAfterMillis)
}

// outlives reports whether what ends at outer is in force for as long as what
// ends at inner; both in Unix milliseconds, zero is for ever.
func outlives(outer, inner int64) bool { return outer == 0 || inner != 0 && inner <= outer }

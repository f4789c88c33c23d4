package permissions

import (
	"cmp"
	"slices"
)

// Considered is one grant that speaks of the action asked for: one that
// decides, one that would have decided had it been asked earlier, or one that
// missed.
type Considered struct {
	Grant   int32 // position in Set.Grants
	Effect  Effect
	Matched bool // it matches the resource too
	Expired bool // it says nothing any more
}

// Explain tells how Evaluate comes to its verdict: every grant whose action
// speaks of the request, in the order in which grants decide, and the verdict.
// The first that matched and has not expired is the one that decides; when
// there is none, the verdict is the default DENY.
func (s *Set) Explain(action, resource string, nowMillis int64) ([]Considered, Verdict) {
	verdict := s.Evaluate(action, resource, nowMillis)
	if s == nil {
		return nil, verdict
	}
	var considered []Considered
	wellFormed := wellFormed(resource)
	for spoken, r := range every(s.groups) {
		if spoken.matches(action) {
			considered = append(considered, Considered{
				Grant: r.grant, Effect: r.effect, Matched: wellFormed && r.pattern.matches(resource), Expired: !r.inForce(nowMillis),
			})
		}
	}
	slices.SortFunc(considered, func(a, b Considered) int {
		return cmp.Or(cmp.Compare(a.Effect.rank(), b.Effect.rank()), cmp.Compare(a.Grant, b.Grant))
	})
	return considered, verdict
}

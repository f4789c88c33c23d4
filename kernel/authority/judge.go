package authority

import "github.com/omnikernel/omnikernel/kernel/permissions"

// Answer is what the grants say about one request, all levels together. Where
// other grants stood in a level's place, List is 0.
type Answer struct {
	Effect permissions.Effect
	Grant  int32  // position of the deciding grant; permissions.DefaultDeny when none spoke of it
	List   uint32 // number of the list that it stands in
	Level  uint32 // the agent above whose list decided; 0 for the own one
	Set    *permissions.Set
}

// Instead gives other grants to some agents: set stands in the place of the
// list of every agent for which it answers true. The zero value replaces nobody's.
type Instead struct {
	Set *permissions.Set
	For func(a *Agent) bool
}

func (i Instead) stands(a *Agent) bool { return i.For != nil && i.For(a) }

// Judge puts a request to the agent's grants and to those of everybody above
// it, the resource read upwards; the strictest answer holds, and among equals
// the nearest level's (PE-2).
func (t *Tables) Judge(a *Agent, action, resource string, nowMillis int64, instead Instead) Answer {
	answer := t.say(a, action, resource, nowMillis, instead)
	for at := a.Above; at != nil; at = at.Above {
		resource = permissions.Upwards(action, resource)
		above := t.say(at, action, resource, nowMillis, instead)
		if strictness(above.Effect) > strictness(answer.Effect) {
			answer = above
			answer.Level = at.No
		}
	}
	return answer
}

// say is what one level says.
func (t *Tables) say(a *Agent, action, resource string, nowMillis int64, instead Instead) Answer {
	var answer Answer
	if instead.stands(a) {
		answer.Set = instead.Set
	} else {
		answer.List = a.Grants
		answer.Set, _ = t.Set(a.Grants)
	}
	verdict := answer.Set.Evaluate(action, resource, nowMillis)
	answer.Effect, answer.Grant = verdict.Effect, verdict.Grant
	return answer
}

// strictness orders the effects: DENY over ESCALATE over ALLOW.
func strictness(e permissions.Effect) int {
	switch e {
	case permissions.Allow:
		return 0
	case permissions.Escalate:
		return 1
	}
	return 2
}

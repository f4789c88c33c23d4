package permissions

// Level is what one list of grants on the way up said about a request: the
// agent's own, then those of its ancestors (DE-1).
type Level struct {
	Agent   uint32 // whose grants; 0 for the agent that asks
	Verdict Verdict
}

// Strictest merges two levels: DENY, the default DENY included, before ESCALATE
// before ALLOW. Between equals a stays, so that whoever asks upwards records the
// level nearest to the agent.
func Strictest(a, b Level) Level {
	if b.Verdict.Effect.rank() < a.Verdict.Effect.rank() {
		return b
	}
	return a
}

package model

// Errands is the name of the workload whose agents call a tool outside: the
// counting service.
const Errands = "tool"

// ErrandIn is what an agent is started for. Each site of its program that calls the
// service does so under a name of its own.
type ErrandIn struct {
	Style      string   `json:"style"`
	Sites      []string `json:"sites"`
	Idempotent bool     `json:"idempotent,omitempty"` // the service honours the call's key
}

// Styles of an errand.
const (
	OneCall   = "one"      // takes whatever comes of its call
	TwoCalls  = "parallel" // two at once
	CallAgain = "again"    // calls again when it is not known whether the first has happened
	Unhandled = "strict"   // fails when its call does
)

// ErrandOut is what an agent came to.
type ErrandOut struct {
	State  State  `json:"state"`
	Result string `json:"result,omitempty"` // JSON
}

// What the counting service does with a request.
const (
	FateAnswered = "answered"
	FateLate     = "late"
	FateDropped  = "dropped" // it was counted, and nobody was told
)

// ServiceAnswer is the body of the counting service's answer.
type ServiceAnswer struct {
	N    int64  `json:"n"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

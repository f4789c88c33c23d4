package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// What the gate needs to know of a tick that goes on in a fork: it is PENDING
// without an exit of its own. What was open at the point is asked for anew, what
// was answered keeps its answer (LO-13).

// requestsOf gives the requests that a record brings to the gate.
func requestsOf(b bus.Body) (*execution.PendingBody, bool) {
	switch body := b.(type) {
	case *execution.PendingBody:
		return body, true
	case *execution.ForkedBody:
		if t := body.Tick; t != nil && t.Phase == execution.Pending {
			return &execution.PendingBody{Steps: t.Steps, First: t.First, Requests: t.Requests}, true
		}
	}
	return nil, false
}

// orphaned reports whether a fork's tick waited for children.
func orphaned(b bus.Body) bool {
	body, ok := b.(*execution.ForkedBody)
	return ok && body.Tick.Orphan
}

// delegating reports whether a fork's tick asks for children.
func delegating(b bus.Body) bool {
	body, ok := b.(*execution.ForkedBody)
	return ok && body.Tick.Delegates()
}

// childless is the answer of a request for children, in a fork.
func childless() *failure.Failure {
	return &failure.Failure{Code: failure.Withdrawn, Message: "the agent is a fork, and has none of the children that this request made"}
}

package backtest

import (
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Outcome is what a request comes to.
type Outcome uint8

// The outcomes. Those of a request are its effects; a delegation that is allowed
// is then accepted, or rejected because a child's grants widen (DE-1).
const (
	Allow Outcome = iota
	Deny
	Escalate
	Accepted
	Rejected
)

// Outcomes is their number.
const Outcomes = 5

var outcomeNames = [Outcomes]string{"ALLOW", "DENY", "ESCALATE", "ACCEPTED", "REJECTED"}

// String names the outcome as the log does.
func (o Outcome) String() string { return outcomeNames[o%Outcomes] }

// Side is one of the two answers to a request, and the grant that gives it.
type Side struct {
	Outcome Outcome
	Given   bool               // by the grants of the Case, and not by recorded ones
	Holder  identity.ID        // whose grants decided: the agent's own, or those of one above it
	Grant   int32              // position; permissions.DefaultDeny when none spoke of the request
	Text    *permissions.Grant // the grant itself; nil for the default DENY
	Void    bool               // the token was not in force any more: the grants do not matter
}

// Place says at which point of its way a request is judged.
type Place uint8

// The places.
const (
	AtRequest    Place = iota // when the tick asks
	AtApproval                // when somebody has approved it
	AtDispatch                // when a runner is about to call the tool
	AtDelegation              // when a child's grants are compared with its parent's
)

var placeNames = [...]string{"request", "approval", "dispatch", "delegation"}

// String is the place in a word.
func (p Place) String() string { return placeNames[int(p)%len(placeNames)] }

// Change is one request that would have been answered otherwise.
type Change struct {
	Seq      uint64 // busSeq of the record
	Index    uint64 // Raft index of its event
	AtMillis int64  // the recorded clock, at which it was judged
	Agent    uint32
	ID       identity.ID
	Name     string
	Tick     uint64
	Place    Place
	Action   string
	Resource string
	Was      Side
	Would    Side
}

// Report is what a Test has come to.
type Report struct {
	Blocks  uint64
	Records uint64
	Agents  uint64 // whose requests the grants concern

	Judged  uint64 // requests that were judged again
	Same    uint64 // … and come to what they came to
	Changed uint64
	After   uint64 // requests after the first change in their tick: not judged

	By       [Outcomes][Outcomes]uint64 // changes, by what was and what would be
	Differ   uint64                     // agents with a change
	Ticks    uint64                     // ticks with a change
	Changes  []Change                   // the first Case.Limit, in order
	Known    bool                       // the agent of the Case is in the log
	Replaced uint64                     // agents whose grants were replaced
}

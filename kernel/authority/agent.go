package authority

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Agent is what the records so far say about one agent's authority. Callers
// only read it; it is valid until the next Take.
type Agent struct {
	No    uint32
	ID    identity.ID
	Name  string
	State lifecycle.State
	Above *Agent // who delegated to it; nil for a root agent

	Grants uint32 // number of the list in force; 0 is none, which denies everything
	Asked  Asked  // what its definition says of the token that spawn issues

	Token      uint64 // busSeq of its token's record; 0 before there is one
	Issued     uint32 // the list that the token was issued with
	Depth      uint32 // levels that may still be delegated
	Expires    int64  // kernel clock, Unix milliseconds; 0 for never
	Revoked    failure.Code
	VoidBefore uint64       // tokens of its children issued before this busSeq are void
	VoidCode   failure.Code // … for this reason

	below int // agents kept that rest on it directly
}

// Asked is the part of a definition that a root agent's token follows from.
type Asked struct {
	Grants    uint32
	Depth     uint32
	TTLMillis int64
}

// Parent is the number of the agent above; 0 for a root agent.
func (a *Agent) Parent() uint32 {
	if a.Above == nil {
		return 0
	}
	return a.Above.No
}

// InForce tells whether the agent's token holds at that moment of the kernel
// clock: neither it nor one that it rests on was revoked, voided from above, or
// has expired. If not, why, and on whose account (LC-10, DE-2).
func (a *Agent) InForce(nowMillis int64) (ok bool, code failure.Code, holder *Agent) {
	for at := a; at != nil; at = at.Above {
		switch {
		case at.Token == 0:
			return false, failure.TokenRevoked, at
		case at.Revoked != "":
			return false, at.Revoked, at
		case at.Expires != 0 && nowMillis >= at.Expires:
			return false, failure.TokenExpired, at
		case at.Above != nil && at.Token < at.Above.VoidBefore:
			return false, at.Above.VoidCode, at.Above
		}
	}
	return true, "", nil
}

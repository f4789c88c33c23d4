package backtest

import (
	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Case is one question.
type Case struct {
	Grants *permissions.Set // the grants that stand in the place of the recorded ones
	Agent  identity.ID      // of this agent; zero: of every agent
	From   uint64           // judge requests from this busSeq on
	To     uint64           // … and up to this one; 0 is the end of the log
	Limit  uint64           // list so many changes; the others are counted
}

// all reports whether every agent's grants are replaced.
func (c *Case) all() bool { return c.Agent == identity.ID{} }

// instead is the case in terms of authority.
func (c *Case) instead() authority.Instead {
	return authority.Instead{Set: c.Grants, For: func(a *authority.Agent) bool { return c.all() || a.ID == c.Agent }}
}

// concerns reports whether the agent's authority rests on a replaced list.
func (c *Case) concerns(a *authority.Agent) bool {
	for at := a; at != nil; at = at.Above {
		if c.all() || at.ID == c.Agent {
			return true
		}
	}
	return false
}

// asks reports whether the case is about a record of that busSeq.
func (c *Case) asks(seq uint64) bool { return seq >= c.From && (c.To == 0 || seq <= c.To) }

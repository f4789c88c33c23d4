package kernel

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Copy returns a slice that can go another way from here.
func (x *Slice) Copy() *Slice {
	s := state.New(x.state.Config.KernelID)
	s.Config, s.Clock, s.Index, s.Term, s.Log = x.state.Config, x.state.Clock, x.state.Index, x.state.Term, x.state.Log
	s.Agents = table.Beginning[state.Row](x.agent)
	if row := x.Row(); row != nil {
		no, into := s.Agents.Append()
		*into = *row
		into.Execution = row.Execution.Clone()
		s.Identity.Load(row.Identity.ID, no)
	}
	x.state.Interned.All(func(e *interning.Entry, users uint32) bool { s.Interned.Load(e, users); return true })
	x.state.Memory.All(func(e *memory.Entry) bool { s.Memory.Load(e); return true })
	x.state.Tools.All(func(c *tools.Call) bool { s.Tools.Load(c); return true })
	x.state.Timers.All(func(t timers.Timer) bool { s.Timers.Load(t); return true })
	x.state.Running.All(func(place uint64, agent uint32) bool { s.Running.Load(place, agent); return true })
	x.state.Delegation.All(func(o *delegation.Open) bool { s.Delegation.Load(o); return true })
	x.state.Escalations.All(func(e *permissions.Escalation) bool { s.Escalations.Load(e); return true })
	s.Interned.Next, s.Running.Next, s.Running.Reserved, s.Timers.Next = x.state.Interned.Next, x.state.Running.Next, x.state.Running.Reserved, x.state.Timers.Next
	dup := *x
	dup.state, dup.compiled, dup.gained = s, newCompiled(s, x.compiled.lookup), slices.Clone(x.gained)
	return &dup
}

// Limit gives the slice another configuration: other limits for what it runs from
// here on.
func (x *Slice) Limit(c *config.Config) { x.state.Config = c }

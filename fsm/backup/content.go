package backup

import (
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Content is what a state has in it, in numbers.
type Content struct {
	Agents        uint64            `json:"agents"`
	AgentsByState map[string]uint64 `json:"agents_by_state"` // only states that some agent is in
	MemoryKeys    uint64            `json:"memory_keys"`     // of agents
	SharedKeys    uint64            `json:"shared_keys"`
	Sessions      uint64            `json:"sessions"`
	Calls         uint64            `json:"calls"`      // external calls without a result
	Dispatched    uint64            `json:"dispatched"` // … that must not be made again
	Timers        uint64            `json:"timers"`
	Ticks         uint64            `json:"ticks"` // queued
	Delegations   uint64            `json:"delegations"`
	Escalations   uint64            `json:"escalations"` // waiting for a decision
	Programs      uint64            `json:"programs"`
}

// ContentOf counts.
func ContentOf(s *state.State) Content {
	c := Content{
		Agents: uint64(s.Agents.Len()), AgentsByState: make(map[string]uint64),
		Sessions: uint64(s.Sessions.Len()), Timers: uint64(s.Timers.Len()), Ticks: uint64(s.Running.Len()),
		Calls: uint64(s.Tools.Len()), Escalations: uint64(s.Escalations.Len()),
	}
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		c.AgentsByState[s.StateOf(no).String()]++
	}
	s.Memory.All(func(*memory.Entry) bool { c.MemoryKeys++; return true })
	s.Memory.AllShared(func(*memory.Entry) bool { c.SharedKeys++; return true })
	s.Delegation.All(func(*delegation.Open) bool { c.Delegations++; return true })
	s.Tools.All(func(call *tools.Call) bool {
		if call.Dispatched != 0 {
			c.Dispatched++
		}
		return true
	})
	s.Interned.All(func(e *interning.Entry, _ uint32) bool {
		if e.Class == interning.Program {
			c.Programs++
		}
		return true
	})
	return c
}

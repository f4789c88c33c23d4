package cluster_test

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// facts is what a story came to, apart from when: two tellings of it must have
// equal facts.
type facts struct {
	Result string            // of the root
	Agents map[string]fate   // by name
	Memory map[string]string // by agent and key
	Shared map[string]string // by namespace and key
}

// fate is what became of one agent.
type fate struct {
	State     lifecycle.State
	Code      failure.Code
	OK        bool
	Value     string
	Tick      uint64
	Emitted   uint32
	Messages  int
	Waits     bool   // for anything
	Retries   uint32 // of its last tick that needed any
	Steps     uint32 // transitions, where no order is involved
	RevokedBy failure.Code
}

// undetermined: what became of an order in flight when its node died is unknown,
// and the agent above sees more of its child's wishes then.
var undetermined = map[string]bool{"left-b": true, "right-b": true, "left": true}

func factsOf(s *state.State) facts {
	f := facts{Agents: make(map[string]fate), Memory: make(map[string]string), Shared: make(map[string]string)}
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		row := s.Agents.Get(no)
		it := fate{
			State: row.Lifecycle.State, Code: row.Lifecycle.Code, Tick: row.Execution.LastTick, Emitted: row.Execution.Emitted,
			Messages: len(row.Mailbox.Messages), Waits: row.Mailbox.Call != 0 || row.Execution.Current != nil, Retries: row.Recovery.Retries,
			RevokedBy: row.Delegation.Revoked,
		}
		if result := row.Execution.Result; result != nil {
			it.OK, it.Value = result.OK, shown(result.Value)
		}
		if !undetermined[row.Identity.Name] {
			it.Steps = row.Lifecycle.Count
		}
		f.Agents[row.Identity.Name] = it
	}
	f.Result = f.Agents["root"].Value
	s.Memory.All(func(e *memory.Entry) bool {
		f.Memory[s.Agents.Get(e.Agent).Identity.Name+": "+e.Key] = shown(e.Value)
		return true
	})
	s.Memory.AllShared(func(e *memory.Entry) bool {
		f.Shared[e.Namespace+"/"+e.Key] = shown(e.Value)
		return true
	})
	return f
}

func shown(v value.Raw) string { return string(v.AppendJSON(nil)) }

// withoutOrders takes the fates of the orders out, and returns them.
func (f *facts) withoutOrders() map[string]string {
	orders := make(map[string]string)
	for _, name := range []string{"left-b", "right-b"} {
		at := "team/orders/" + name
		orders[name] = f.Shared[at]
		delete(f.Shared, at)
	}
	return orders
}

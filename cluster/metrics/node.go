package metrics

import (
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/traces"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Node is how a node stands at one moment. What it does not have, because it is held or
// has not started, is nil.
type Node struct {
	State   nodestate.State
	Healthy bool
	Now     time.Time // by its clock

	Raft   *consensus.Status
	Leads  bool
	Lag    time.Duration
	Kernel *state.State // published

	Calls    int // external calls that it has begun
	Lent     int // calls that workers have
	Lendable int // calls that wait for a worker
	Polls    int // workers that wait for a call
	Breakers int // tools whose circuit breaker is open

	DiskFree, DiskTotal uint64 // bytes; 0: nobody looks
	Backups             *backups.Status
	Traces              *traces.Counts
}

// agentCounts remembers what looking at every agent and account gave, for one state.
type agentCounts struct {
	mu       sync.Mutex // guards what follows
	index    uint64
	known    bool
	took     time.Duration
	at       time.Time
	agents   [lifecycle.States]int
	exceeded int
}

// restFor is how many times as long as a count took the next one waits, so that counting
// takes at most a hundredth of a processor, whatever scrapes there are.
const restFor = 100

// of counts the agents by state, and the accounts that are beyond a limit. It looks at a
// published state, so that nobody waits for it but other scrapes.
func (c *agentCounts) of(s *state.State) (agents [lifecycle.States]int, exceeded int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known && (c.index == s.Index || time.Since(c.at) < restFor*c.took) {
		return c.agents, c.exceeded
	}
	began := time.Now()
	c.agents, c.exceeded = [lifecycle.States]int{}, 0
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		c.agents[s.Agents.Get(no).Lifecycle.State]++
	}
	for a := range s.Budgets.All {
		if a.Passed != 0 {
			c.exceeded++
		}
	}
	c.index, c.known, c.at = s.Index, true, time.Now()
	c.took = c.at.Sub(began)
	return c.agents, c.exceeded
}

package demo

import (
	"fmt"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Summary is what the demo came to.
type Summary struct {
	Held   bool     `json:"held"`             // everything that must hold does
	Broken []string `json:"broken,omitempty"` // … or what does not, in sentences

	AgentID  string    `json:"agent_id"`
	State    string    `json:"state"`
	Result   value.Raw `json:"result"`
	Expected value.Raw `json:"expected"`

	Killed          string  `json:"killed"`     // the leader
	NewLeader       string  `json:"new_leader"` // who took over
	NewLeaderMillis float64 `json:"new_leader_ms"`
	FirstWrite      float64 `json:"first_write_ms"` // from the kill to the first accepted command

	load.Audit

	ToolCalls      int `json:"tool_calls"`      // recorded in the log
	ToolEffects    int `json:"tool_effects"`    // greetings made: one per Idempotency-Key
	ToolDeliveries int `json:"tool_deliveries"` // requests that reached the service

	Histories    []NodeHistory `json:"histories"`
	DigestsEqual bool          `json:"digests_equal"`
	Digest       string        `json:"digest"`
	Index        uint64        `json:"index"` // that the digest is of
	Seconds      float64       `json:"seconds"`
}

// NodeHistory is the agent's lifecycle as one node has it.
type NodeHistory struct {
	Node        string           `json:"node"`
	Index       uint64           `json:"index"`
	Transitions []api.Transition `json:"transitions"`
}

// require notes what must hold.
func (s *Summary) require(holds bool, format string, args ...any) {
	if !holds {
		s.Broken = append(s.Broken, fmt.Sprintf(format, args...))
	}
}

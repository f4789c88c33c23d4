package api

import (
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// OpenEscalation is a request that waits for somebody's decision (PE-3).
type OpenEscalation struct {
	Escalation uint64    `json:"escalation" doc:"its number: busSeq of its ESCALATED record"`
	AgentID    string    `json:"agent_id" doc:"who asked, and waits"`
	Name       string    `json:"name,omitempty" doc:"the agent's"`
	Tick       uint64    `json:"tick"`
	Call       uint32    `json:"call"`
	Tool       string    `json:"tool"`
	Args       value.Raw `json:"args"`
	Action     string    `json:"action"`
	Resource   string    `json:"resource"`
	Digest     string    `json:"digest" doc:"hex SHA-256 that binds the decision to this very call"`
	HandlerID  string    `json:"handler_id,omitempty" doc:"the parent whose program is to decide; absent: the operators are. Operators may always decide"`
	Offered    bool      `json:"offered,omitempty" doc:"the parent's program is looking at it"`
	Deadline   int64     `json:"deadline_ms" doc:"without a decision it is DENY then: kernel clock, Unix milliseconds"`
	LevelID    string    `json:"level_id" doc:"the agent whose grant makes it a request: the one that asked, or one above it"`
	Position   int32     `json:"grant" doc:"position of that grant"`

	Grant *permissions.Grant `json:"decided_by,omitempty" doc:"a copy of it"`
}

// EscalationAnswer is one open escalation.
type EscalationAnswer struct {
	OpenEscalation
	As
}

// EscalationPage is a part of the queue, oldest first. Next, when not 0, is what
// to pass as after for what follows.
type EscalationPage struct {
	Escalations []OpenEscalation `json:"escalations"`
	Next        uint64           `json:"next,omitempty"`
	As
}

// EscalationQuery selects escalations.
type EscalationQuery struct {
	Agent string // only what this agent asked for
	After uint64 // number of the escalation to start after
	Limit int    // 1 to 1,000; 0 is 100
}

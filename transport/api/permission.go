package api

import "github.com/omnikernel/omnikernel/kernel/permissions"

// Explanation tells what the kernel would answer if the agent asked now, and
// why (PE-2). Authority is read upwards: the request is put to the agent's own
// grants and to those of everybody above it, and the strictest answer holds.
type Explanation struct {
	AgentID  string `json:"agent_id"`
	Action   string `json:"action"`
	Resource string `json:"resource"`
	Verdict  string `json:"verdict" enum:"ALLOW,ESCALATE,DENY"`
	Reason   string `json:"reason" doc:"why, as a sentence"`
	Void
	Levels []PermissionLevel `json:"levels" doc:"the agent's own grants, then those of its parent, and so on upwards"`
	As
}

// PermissionLevel is what one list of grants says.
type PermissionLevel struct {
	AgentID    string            `json:"agent_id" doc:"whose grants"`
	Name       string            `json:"name,omitempty"`
	Resource   string            `json:"resource" doc:"what is asked for, as this agent calls it"`
	Verdict    string            `json:"verdict" enum:"ALLOW,ESCALATE,DENY"`
	Grant      int32             `json:"grant" doc:"position of the grant that says so; -1: none speaks of it, which is DENY"`
	Decides    bool              `json:"decides,omitempty" doc:"this level's answer is the verdict"`
	Considered []ConsideredGrant `json:"considered" doc:"the grants that speak of the action, in the order in which they decide"`
}

// ConsideredGrant is one grant that speaks of the action.
type ConsideredGrant struct {
	Position uint32 `json:"position" doc:"in the agent's grants, from 0"`
	permissions.Grant
	Matched bool `json:"matched" doc:"it matches the resource"`
	Expired bool `json:"expired,omitempty" doc:"its time is over, or it was revoked: it says nothing any more"`
}

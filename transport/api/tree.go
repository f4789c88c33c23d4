package api

// TreeAgent is one agent of a tree.
type TreeAgent struct {
	AgentID  string `json:"agent_id"`
	ParentID string `json:"parent_id,omitempty" doc:"absent for a root agent"`
	Level    uint32 `json:"level" doc:"below the agent that was asked for, which has 0"`
	Name     string `json:"name,omitempty"`
	State    string `json:"state"`
	Fault    string `json:"fault_code,omitempty" doc:"the failure that its last transition was taken for"`
	Void
}

// TreePage is a part of an agent's tree: depth first, parents before their
// children, children in the order in which they were delegated. Next, when not
// empty, is what to pass as after for what follows.
type TreePage struct {
	AgentID string      `json:"agent_id" doc:"the agent that was asked for"`
	Agents  []TreeAgent `json:"agents"`
	Next    string      `json:"next,omitempty"`
	As
}

// TreeQuery selects a part of a tree.
type TreeQuery struct {
	After string // agent id to go on after
	Limit int    // 1 to 1,000; 0 is 100
}

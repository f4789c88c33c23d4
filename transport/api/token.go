package api

import "github.com/omnikernel/omnikernel/kernel/permissions"

// Token is an agent's authority: who issued it, how far it reaches.
type Token struct {
	TokenID     string `json:"token_id" doc:"UUID, derived from the agent's"`
	AgentID     string `json:"agent_id" doc:"who holds it"`
	Name        string `json:"name,omitempty" doc:"the agent's"`
	State       string `json:"state" doc:"the agent's lifecycle state"`
	ParentID    string `json:"parent_id,omitempty" doc:"the agent that delegated; absent: the kernel issued it"`
	ParentToken string `json:"parent_token_id,omitempty" doc:"the token that it rests on"`
	Depth       uint32 `json:"depth" doc:"levels that may still be delegated below the agent"`
	Expires     int64  `json:"expires_ms,omitempty" doc:"kernel clock, Unix milliseconds; never when absent"`
	IssuedSeq   uint64 `json:"issued_bus_seq" doc:"busSeq of its TOKEN_ISSUED record"`
	Void
}

// TokenAnswer is one token, with the grants that it carries.
type TokenAnswer struct {
	Token
	Grants []permissions.Grant `json:"grants" doc:"in the order of their positions, from 0"`
	As
}

// TokenPage is a part of a list, in order of the agents' ids. Next, when not
// empty, is what to pass as after; a page may be short and still have a Next.
type TokenPage struct {
	Tokens []Token `json:"tokens"`
	Next   string  `json:"next,omitempty"`
	As
}

// TokenQuery selects tokens.
type TokenQuery struct {
	InForce bool   // only those that are, of agents that have not ended
	After   string // agent id to start after
	Limit   int    // 1 to 1,000; 0 is 100
}

package api

// Error is the body of every answer that is not the one that was asked for:
// what the server says happened.
type Error struct {
	Code     string `json:"code" doc:"see the table of codes"`
	Definite bool   `json:"definite" doc:"true: it did not take effect and will not; false: it may have, or may yet"`
	Message  string `json:"message" doc:"a sentence for people"`
	Field    string `json:"field,omitempty" doc:"the offending field as a path"`
	Rule     string `json:"rule,omitempty" doc:"the rule that was broken"`
	Hint     string `json:"hint,omitempty" doc:"what to do about it"`

	Leader  *Leader `json:"leader,omitempty" doc:"with NOT_LEADER: whom to ask"`
	AgentID string  `json:"agent_id,omitempty"`
	State   string  `json:"state,omitempty" doc:"the agent's state, when the kernel refused"`
	Index   uint64  `json:"index,omitempty" doc:"where the kernel recorded its refusal; with a read: what the node had applied. 0 when a node refused without asking the kernel"`
	First   uint64  `json:"first,omitempty" doc:"with HISTORY_BEHIND and COMPACTED: the first busSeq that can be read here"`
	Node    string  `json:"node,omitempty" doc:"the node that answered"`

	// Status is the HTTP status that it came with, or is sent with.
	Status int `json:"-"`
}

// Leader is where commands go.
type Leader struct {
	ID  string `json:"id"`
	API string `json:"api" doc:"base URL of its HTTP API"`
}

// Error is the sentence for people.
func (e *Error) Error() string {
	s := e.Code + ": " + e.Message
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Recorded reports whether the kernel judged the command, and remembers that: a
// retry with the same session and sequence, or the same key, gets the same
// answer. What the session itself refuses is not remembered, and neither is
// what comes before the cluster's configuration.
func (e *Error) Recorded() bool {
	switch e.Code {
	case "NOT_BOOTED", "SESSIONS_FULL", "SESSION_EXPIRED", "SEQUENCE_REUSED", "SEQUENCE_OUT_OF_WINDOW", "ALREADY_ACKNOWLEDGED":
		return false
	}
	return e.Index != 0
}

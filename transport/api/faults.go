package api

// Fault is one thing that went wrong with an agent, or that was done about it,
// read back from the log.
type Fault struct {
	BusSeq      uint64 `json:"bus_seq"`
	Index       uint64 `json:"index"`
	AtMillis    int64  `json:"at_ms" doc:"kernel clock, Unix milliseconds"`
	Kind        string `json:"kind" enum:"TICK_FAILED,LIFECYCLE,RETRY_SCHEDULED,FAULT_RECLASSIFIED,TEARDOWN_INCOMPLETE,AUDIT" doc:"of the record; LIFECYCLE is the transition to FAULTED"`
	Tick        uint64 `json:"tick,omitempty"`
	From        string `json:"from,omitempty" doc:"with LIFECYCLE: the state before"`
	Code        string `json:"code,omitempty"`
	Class       string `json:"class,omitempty" doc:"TRANSIENT, PERMANENT, POLICY_VIOLATION or INVARIANT_BREACH"`
	Message     string `json:"message,omitempty"`
	Instruction uint32 `json:"instruction,omitempty" doc:"with TICK_FAILED: number of the instruction in preorder; absent for the root, which is 0"`
	Line        uint32 `json:"line,omitempty"`
	Column      uint32 `json:"column,omitempty"`
	Retry       uint32 `json:"retry,omitempty" doc:"with RETRY_SCHEDULED: the how many-th of the tick"`
	Backoff     int64  `json:"backoff_ms,omitempty" doc:"… and after how long"`
	Reason      string `json:"reason,omitempty" doc:"the operator's or the kernel's words"`
}

// FaultPage is a part of an agent's faults, oldest first. Next, when not 0, is
// the From of the next page.
type FaultPage struct {
	AgentID string  `json:"agent_id"`
	State   string  `json:"state"`
	Faults  []Fault `json:"faults"`
	Next    uint64  `json:"next,omitempty"`
	As
}

// AuditEntry is one breach of an invariant, averted (FA-4).
type AuditEntry struct {
	BusSeq    uint64 `json:"bus_seq"`
	Index     uint64 `json:"index"`
	AtMillis  int64  `json:"at_ms" doc:"kernel clock, Unix milliseconds"`
	AgentID   string `json:"agent_id,omitempty" doc:"whose doing it was; it was ended"`
	RootID    string `json:"root_id,omitempty" doc:"the root of its tree, to whom it is escalated"`
	Tick      uint64 `json:"tick,omitempty"`
	Invariant string `json:"invariant" doc:"such as INV-03"`
	Kind      string `json:"kind" doc:"kind of the record that would have broken it"`
	Rule      string `json:"rule" doc:"what was broken, as a sentence"`
}

// AuditPage is the newest of the audit log, oldest first.
type AuditPage struct {
	Count   uint64       `json:"count" doc:"how many there have been; the state keeps 256, the log all"`
	Entries []AuditEntry `json:"entries"`
	As
}

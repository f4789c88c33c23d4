package api

import "github.com/omnikernel/omnikernel/kernel/value"

// As says what an answer is as of (CL-4): every answer to a read carries it.
type As struct {
	Index     uint64 `json:"index" doc:"Raft index of the last event that the answering node had applied"`
	Node      string `json:"node" doc:"id of the node that answered"`
	LagMillis int64  `json:"lag_ms" doc:"how old the answer may be: it holds all that was acknowledged so long before the read, or longer"`
}

// AsOf is the index.
func (a As) AsOf() uint64 { return a.Index }

// Agent is everything there is to say about one agent at one index.
type Agent struct {
	AgentID    string            `json:"agent_id"`
	Name       string            `json:"name,omitempty"`
	State      string            `json:"state" doc:"lifecycle state, such as ACTIVE"`
	Mode       string            `json:"mode" doc:"task or service"`
	Evaluator  string            `json:"evaluator" doc:"evaluator and version that the agent's programs are written for"`
	Labels     map[string]string `json:"labels,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Input      value.Raw         `json:"input,omitempty" doc:"JSON Schema of what its own program takes as input"`
	DefinedAt  int64             `json:"defined_at_ms" doc:"kernel clock, Unix milliseconds"`
	DefinedSeq uint64            `json:"defined_bus_seq" doc:"busSeq of the definition"`
	Archived   bool              `json:"archived,omitempty" doc:"only its tombstone is left; the rest is in the log"`

	Result      value.Raw    `json:"result,omitempty" doc:"value of the last tick, when it completed"`
	Failure     *TickFailure `json:"failure,omitempty" doc:"how the last tick failed, when it did"`
	FaultClass  string       `json:"fault_class,omitempty" doc:"while FAULTED: class of the failure that led there"`
	FaultCode   string       `json:"fault_code,omitempty" doc:"… and its code"`
	Retries     uint32       `json:"retries,omitempty" doc:"how often the tick at hand was retried after a TRANSIENT failure"`
	RetryAt     int64        `json:"retry_at_ms,omitempty" doc:"while FAULTED: when the kernel recovers it by itself; it does not when absent"`
	Tick        *Tick        `json:"tick,omitempty" doc:"the tick in progress, waiting or failed"`
	Waits       []Wait       `json:"waits,omitempty" doc:"what it waits for while it is WAITING"`
	Queued      uint32       `json:"queued" doc:"instructions that wait"`
	Mailbox     uint32       `json:"mailbox,omitempty" doc:"messages in its mailbox"`
	Memory      *MemorySize  `json:"memory,omitempty" doc:"its persistent memory, when there is something in it"`
	LogBytes    uint64       `json:"log_bytes,omitempty" doc:"its part of the log, as counted from kernel version 2 on"`
	LogLimit    string       `json:"log_limit,omitempty" enum:"warned,exceeded" doc:"the limit that its part of the log has come to: log_warn_bytes or log_error_bytes"`
	Emitted     uint32       `json:"emitted,omitempty" doc:"how often its programs used EMIT; the values are in the log"`
	Forked      *Forked      `json:"forked,omitempty" doc:"of a fork: where it started from"`
	ParentID    string       `json:"parent_id,omitempty" doc:"the agent that delegated to it; absent for a root agent"`
	Children    uint32       `json:"children,omitempty" doc:"agents that it delegated to, at most 50,000 are counted"`
	Token       *HeldToken   `json:"token,omitempty" doc:"its authority to do anything, from spawn on"`
	Accounts    []Account    `json:"accounts,omitempty" doc:"the accounts that its calls are charged to, the lowest first: its own, and those of agents above"`
	Transitions []Transition `json:"transitions" doc:"the last four, oldest first; history has all of them"`
	Count       uint32       `json:"transition_count"`

	As
}

// Forked says where a fork started from.
type Forked struct {
	AgentID string `json:"agent_id" doc:"the agent whose history it was"`
	At      uint64 `json:"at" doc:"busSeq of the last record of it that counts"`
	Head    string `json:"head" doc:"that agent's own chain value there, in hex"`
}

// TickFailure is how a tick failed. Instruction, Line and Column locate it in
// the program; Line and Column are 1-based inside the expression, 0 when unknown.
type TickFailure struct {
	Code        string `json:"code"`
	Class       string `json:"class,omitempty"`
	Message     string `json:"message"`
	Tick        uint64 `json:"tick"`
	Instruction uint32 `json:"instruction" doc:"number of the instruction in preorder, the root being 0"`
	Line        uint32 `json:"line,omitempty"`
	Column      uint32 `json:"column,omitempty"`
}

// Tick is a tick that has not finished.
type Tick struct {
	Seq   uint64 `json:"seq" doc:"tickSeq"`
	Phase string `json:"phase" doc:"running, pending, answered, restored or failed"`
	Runs  uint32 `json:"runs" doc:"how often it was entered: 1, and once more per continuation"`
	Steps uint32 `json:"steps"`
	Calls uint32 `json:"calls"`
	Tool  string `json:"tool,omitempty" doc:"the external tool that it waits for"`
}

// Wait is one thing that a WAITING agent waits for.
type Wait struct {
	For        string `json:"for" enum:"call,person,message,timer,children,escalation,room" doc:"call: a tool's answer; person: one's answer, see tasks; escalation: somebody's decision about a call; room: in a budget, for a call to be made"`
	Call       uint32 `json:"call" doc:"number of the call within the tick"`
	Tool       string `json:"tool"`
	Deadline   int64  `json:"deadline_ms,omitempty" doc:"when the wait ends by itself, kernel clock, Unix milliseconds"`
	Node       string `json:"node,omitempty" doc:"the node that runs the call, where that is on record"`
	Open       uint32 `json:"open,omitempty" doc:"children that have not ended"`
	Escalation uint64 `json:"escalation,omitempty" doc:"its number"`
}

// MemorySize is how much an agent's persistent memory holds.
type MemorySize struct {
	Keys  uint32 `json:"keys"`
	Bytes uint64 `json:"bytes" doc:"of keys and values"`
}

// HeldToken is an agent's token, as the agent's description has it.
type HeldToken struct {
	TokenID string `json:"token_id" doc:"UUID, derived from the agent's"`
	Depth   uint32 `json:"depth" doc:"levels that may still be delegated below the agent"`
	Expires int64  `json:"expires_ms,omitempty" doc:"kernel clock, Unix milliseconds; never when absent"`
	Void
}

// Account is what an agent, with all below it, may spend and has spent (RU-3).
type Account struct {
	AgentID string `json:"agent_id" doc:"who holds it"`

	Tokens    Spent     `json:"tokens"`
	USDMicros Spent     `json:"usd_micros" doc:"millionths of a US dollar"`
	Wall      SpentTime `json:"wall_ms" doc:"milliseconds that the agent was at work"`

	WarnPercent uint32 `json:"warn_percent" doc:"of a limit, at which a warning is recorded"`
	Waiting     uint32 `json:"waiting,omitempty" doc:"calls that wait for room in it"`
}

// Spent is an account's figures of one kind.
type Spent struct {
	Limit    uint64 `json:"limit,omitempty" doc:"no limit when absent"`
	Settled  uint64 `json:"settled" doc:"what calls came to"`
	Reserved uint64 `json:"reserved,omitempty" doc:"what calls under way may yet come to"`
	Overrun  uint64 `json:"overrun,omitempty" doc:"part of settled: beyond what calls had declared"`
	Exceeded bool   `json:"exceeded,omitempty" doc:"the limit was found exceeded"`
}

// SpentTime is an account's time.
type SpentTime struct {
	Limit    int64 `json:"limit,omitempty" doc:"no limit when absent"`
	Used     int64 `json:"used" doc:"counted where there is a limit"`
	Running  bool  `json:"running,omitempty" doc:"it goes on now"`
	Exceeded bool  `json:"exceeded,omitempty" doc:"the limit was found exceeded"`
}

// Void says why a token is not in force. It is empty while the token is.
type Void struct {
	Revoked   string `json:"revoked,omitempty" doc:"TOKEN_REVOKED or TOKEN_EXPIRED; absent while the token is in force"`
	RevokedBy string `json:"revoked_at_id,omitempty" doc:"the agent whose token or children were revoked: itself or one above it"`
}

// Transition is one row of an agent's history.
type Transition struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Trigger  string `json:"trigger"`
	Caller   string `json:"caller"`
	Reason   string `json:"reason,omitempty"`
	Code     string `json:"code,omitempty" doc:"the failure that caused it"`
	Class    string `json:"class,omitempty" doc:"… and its class"`
	Tick     uint64 `json:"tick,omitempty"`
	BusSeq   uint64 `json:"bus_seq"`
	Index    uint64 `json:"index"`
	AtMillis int64  `json:"at_ms" doc:"kernel clock, Unix milliseconds"`
}

// AgentSummary is a row of a list of agents.
type AgentSummary struct {
	AgentID   string            `json:"agent_id"`
	Name      string            `json:"name,omitempty"`
	State     string            `json:"state"`
	Mode      string            `json:"mode"`
	Labels    map[string]string `json:"labels,omitempty"`
	DefinedAt int64             `json:"defined_at_ms"`
}

// AgentPage is a part of a list, in order of the agents' ids. Next, when not
// empty, is what to pass as after for what follows; a page may be short, even
// empty, and still have a Next.
type AgentPage struct {
	Agents []AgentSummary `json:"agents"`
	Next   string         `json:"next,omitempty"`
	As
}

// AgentQuery selects agents.
type AgentQuery struct {
	State  string            // lifecycle state; empty for all
	Labels map[string]string // all of them must be there
	After  string            // agent id to start after
	Limit  int               // 1 to 1,000; 0 is 100
}

// HistoryPage is a part of an agent's lifecycle record, oldest first. Next,
// when not 0, is the From of the next page.
type HistoryPage struct {
	AgentID     string       `json:"agent_id"`
	State       string       `json:"state"`
	Transitions []Transition `json:"transitions"`
	Next        uint64       `json:"next,omitempty"`
	As
}

// HistoryQuery selects transitions.
type HistoryQuery struct {
	From  uint64 // lowest busSeq wanted; 0 for all
	Limit int    // 1 to 1,000; 0 is 100
}

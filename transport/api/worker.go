package api

import "github.com/omnikernel/omnikernel/kernel/value"

// Bounds of what workers ask for.
const (
	MaxPollTools      = 32
	MaxPollCalls      = 100
	MaxPollWaitMillis = 60_000
	MaxWorkerBytes    = 128 // of a worker's name
)

// PollBody is the body of POST …/workers/poll.
type PollBody struct {
	Tools      []string `json:"tools" minItems:"1" maxItems:"32" doc:"names of the tools whose calls the worker makes, 1 to 32"`
	Worker     string   `json:"worker,omitempty" doc:"what the worker calls itself, for people; at most 128 bytes"`
	Max        uint64   `json:"max,omitempty" doc:"how many calls it takes, 1 to 100; 1 when 0"`
	WaitMillis uint64   `json:"wait_ms,omitempty" doc:"milliseconds to wait for the first, 0 to 60,000"`
}

// LentCall is a call that a worker has to make now.
type LentCall struct {
	Lease          string    `json:"lease" doc:"what the worker shows with every sign of life, and with the result"`
	Fence          uint64    `json:"fence" doc:"grows each time that the call is lent: who keeps the highest one seen can tell a slow worker's doing from the newest's"`
	Tool           string    `json:"tool"`
	Revision       uint64    `json:"revision" doc:"of the manifest that the call was requested with"`
	Args           value.Raw `json:"args" doc:"they fit the manifest's input schema"`
	AgentID        string    `json:"agent_id"`
	Tick           uint64    `json:"tick"`
	Call           uint32    `json:"call" doc:"number of the call within the tick"`
	IdempotencyKey string    `json:"idempotency_key" doc:"names the call, however often it is lent"`
	Idempotent     bool      `json:"idempotent" doc:"false: it is lent this once, and is on record as dispatched"`
	LeaseMillis    int64     `json:"lease_ms" doc:"within which the worker must say something"`
	LeftMillis     int64     `json:"left_ms" doc:"of the call's time, whatever the worker says"`
}

// Work is the answer to a poll; no calls when none came in time.
type Work struct {
	Calls []LentCall `json:"calls"`
	Node  string     `json:"node"`
}

// Heartbeat is the answer to a worker's sign of life.
type Heartbeat struct {
	LeaseMillis int64  `json:"lease_ms" doc:"within which the next one must come"`
	LeftMillis  int64  `json:"left_ms" doc:"of the call's time"`
	Node        string `json:"node"`
}

// Usage is what a call cost, as its worker says. What is not reported is settled in full.
type Usage struct {
	Tokens    uint64 `json:"tokens,omitempty"`
	USDMicros uint64 `json:"usd_micros,omitempty" doc:"millionths of a US dollar"`
}

// CompleteCallBody is the body of POST …/workers/leases/{lease}/complete.
type CompleteCallBody struct {
	Result value.Raw `json:"result,omitempty" doc:"any value that fits the manifest's output schema; null when it is left out"`
	Usage  *Usage    `json:"usage,omitempty"`
}

// FailCallBody is the body of POST …/workers/leases/{lease}/fail.
type FailCallBody struct {
	Code    string `json:"code,omitempty" enum:"TOOL_CRASHED,TOOL_FAILED,TOOL_UNREACHABLE" doc:"TOOL_FAILED when it is left out; TOOL_UNREACHABLE: it certainly did not happen"`
	Message string `json:"message,omitempty" doc:"a sentence for people, kept in the record"`
	Usage   *Usage `json:"usage,omitempty"`
}

// Ended is the answer to a worker whose call is over now.
type Ended struct {
	OK      bool   `json:"ok" doc:"the call has a result; otherwise it failed with code"`
	Code    string `json:"code,omitempty" doc:"such as TOOL_RESULT_INVALID, when the result was none"`
	Message string `json:"message,omitempty"`
	Index   uint64 `json:"index" doc:"Raft index at which it was committed"`
	Node    string `json:"node"`
}

// Lending is how the tools stand whose calls are lent, as the leader has it in memory.
type Lending struct {
	Tools []LentTool `json:"tools" doc:"those of which a call or a poll is there, by name"`
	Node  string     `json:"node"`
}

// LentTool is one of them.
type LentTool struct {
	Tool    string        `json:"tool"`
	Waiting int           `json:"waiting" doc:"calls that no worker has"`
	Lent    int           `json:"lent" doc:"calls that a worker has"`
	Polls   int           `json:"polls" doc:"workers that wait for a call"`
	Leases  []LeaseOfCall `json:"leases,omitempty" doc:"the first 100 of them, by agent"`
}

// LeaseOfCall is a call that a worker has.
type LeaseOfCall struct {
	AgentID    string `json:"agent_id"`
	Tick       uint64 `json:"tick"`
	Call       uint32 `json:"call"`
	Worker     string `json:"worker,omitempty" doc:"as it calls itself; nobody knows after a failover"`
	Fence      uint64 `json:"fence,omitempty" doc:"absent when an earlier leader lent it and the worker has said nothing since"`
	LeftMillis int64  `json:"left_ms" doc:"of the lease"`
}

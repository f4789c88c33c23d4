package api

import (
	"encoding/json"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Headers of a command (CL-3). A command has a session with a sequence and a
// floor, or an idempotency key, or neither.
const (
	HeaderSession  = "Omni-Session"  // 32 hex digits, from POST …/sessions
	HeaderSequence = "Omni-Sequence" // from 1; within [floor, floor+256)
	HeaderFloor    = "Omni-Floor"    // lowest sequence whose answer is still wanted
	HeaderKey      = "Idempotency-Key"
)

// Limits that both sides know.
const (
	MaxBodyBytes      = 512 << 10 // of one command
	MaxBatchBytes     = 4 << 20   // of a batch
	MaxBatchCommands  = 1000
	MaxPageItems      = 1000
	DefaultPageItems  = 100
	SessionWindow     = 256 // sequences above the floor that may be open at once
	MaxKeyBytes       = 256 // of an idempotency key
	DefaultKernel     = "default"
	IdempotencyWindow = "10 minutes" // of kernel time, unless the cluster's configuration says otherwise
)

// Done is the answer to a command that took effect.
type Done struct {
	AgentID  string `json:"agent_id,omitempty" doc:"whom it concerned; absent for shared memory, which is nobody's"`
	State    string `json:"state,omitempty" doc:"the agent's state when the command had taken effect"`
	Index    uint64 `json:"index" doc:"Raft index at which the command was applied first"`
	BusSeq   uint64 `json:"bus_seq" doc:"busSeq of its first record"`
	Node     string `json:"node" doc:"the node that answered"`
	Repeated bool   `json:"repeated" doc:"the command had been applied before; this is the first answer again"`
	Version  uint64 `json:"version,omitempty" doc:"after writing shared memory: the version that the key got; after registering a tool: its revision, lower than bus_seq when nothing changed"`
}

// TriggerBody is the body of POST …/agents/{id}/triggers/{trigger}.
type TriggerBody struct {
	Reason string    `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
	Input  value.Raw `json:"input,omitempty" doc:"with spawn: the input of the agent's program"`
	Force  bool      `json:"force,omitempty" doc:"with suspend: withdraw the calls that a WAITING agent waits for"`
}

// KillBody is the body of POST …/agents/{id}/kill.
type KillBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// SubmitBody is the body of POST …/agents/{id}/instructions.
type SubmitBody struct {
	Program value.Raw `json:"program,omitempty" doc:"an instruction {kind, payload}; the agent's own when empty"`
	Input   value.Raw `json:"input,omitempty" doc:"visible to the program as input"`
}

// SendBody is the body of POST …/agents/{id}/messages.
type SendBody struct {
	Message value.Raw `json:"message,omitempty" doc:"any value; null when it is left out"`
}

// BudgetBody is the body of POST …/agents/{id}/budget. What is absent stays as it is.
type BudgetBody struct {
	Tokens      *uint64 `json:"tokens,omitempty" doc:"tokens of language models; 0 takes the limit away"`
	USDMicros   *uint64 `json:"usd_micros,omitempty" doc:"millionths of a US dollar; 0 takes the limit away"`
	WallMillis  *int64  `json:"wall_ms,omitempty" doc:"milliseconds that the agent is at work; 0 takes the limit away"`
	WarnPercent *uint32 `json:"warn_percent,omitempty" doc:"of a limit, at which a warning is recorded, 1 to 100"`
	Reason      string  `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// ReclassifyBody is the body of POST …/agents/{id}/reclassify.
type ReclassifyBody struct {
	Reason string `json:"reason" doc:"why the fault is a passing one, kept in the record; 1 to 256 bytes"`
}

// SuspendKernelBody is the body of POST …/suspend.
type SuspendKernelBody struct {
	Reason string `json:"reason" doc:"why everything is stopped, kept in the record; 1 to 256 bytes"`
}

// ResumeKernelBody is the body of POST …/resume.
type ResumeKernelBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// RevokeBody is the body of POST …/tokens/{token}/revoke and of POST
// …/agents/{id}/grants/{grant}/revoke.
type RevokeBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// ArchiveBody is the body of POST …/log/archive.
type ArchiveBody struct {
	Before uint64 `json:"before,omitempty" doc:"busSeq: archive the sealed segments of the log that end before it; left out, all sealed ones"`
}

// ForkBody is the body of POST …/agents/{id}/fork.
type ForkBody struct {
	At      uint64               `json:"at" doc:"busSeq: the fork starts from the end of the event that this record belongs to"`
	ID      string               `json:"id,omitempty" doc:"UUID of the new agent, made by the client; derived by the kernel when empty"`
	Name    string               `json:"name,omitempty" doc:"the source's when empty"`
	Set     map[string]value.Raw `json:"set,omitempty" doc:"keys of persistent memory that the new agent begins with otherwise"`
	Grants  *[]permissions.Grant `json:"grants,omitempty" doc:"what the new agent may do; what the source could when left out"`
	Program value.Raw            `json:"program,omitempty" doc:"with input: one more instruction, after those that waited; the agent's own program when empty"`
	Input   value.Raw            `json:"input,omitempty" doc:"visible to that program as input"`
}

// DecideBody is the body of POST …/escalations/{escalation}/decide.
type DecideBody struct {
	Approve bool   `json:"approve" doc:"true: the call may go on; false: it is denied"`
	Reason  string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes; the agent that asked sees it when denied"`
}

// PutBody is the body of POST …/shared/{namespace}/put.
type PutBody struct {
	Key     string    `json:"key" doc:"1 to 256 bytes, segments between slashes"`
	Value   value.Raw `json:"value,omitempty" doc:"any value; null when it is left out"`
	Version *uint64   `json:"version,omitempty" doc:"the version that the key must have, 0 for a key that must not exist; anything when it is left out"`
}

// DeleteBody is the body of POST …/shared/{namespace}/delete.
type DeleteBody struct {
	Key     string  `json:"key" doc:"1 to 256 bytes, segments between slashes"`
	Version *uint64 `json:"version,omitempty" doc:"the version that the key must have; anything when it is left out"`
}

// Session is the answer of POST …/sessions. No log entry is made; the id opens
// with its first command, which must come within five minutes of kernel time.
type Session struct {
	Session string `json:"session" doc:"32 hex digits, for the header Omni-Session"`
	Node    string `json:"node"`
}

// Op names what a command of a batch does.
type Op string

// The operations of a batch.
const (
	OpDefine  Op = "define"
	OpStart   Op = "start"
	OpTrigger Op = "trigger"
	OpKill    Op = "kill"
	OpSubmit  Op = "submit"

	OpSend         Op = "send"
	OpReclassify   Op = "reclassify"
	OpRevokeToken  Op = "revoke_token"
	OpRevokeGrant  Op = "revoke_grant"
	OpDecide       Op = "decide"
	OpSetBudget    Op = "set_budget"
	OpPutShared    Op = "put_shared"
	OpDeleteShared Op = "delete_shared"
)

// Ops lists the operations.
var Ops = [...]Op{
	OpDefine, OpStart, OpTrigger, OpKill, OpSubmit, OpSend, OpReclassify, OpRevokeToken, OpRevokeGrant, OpDecide, OpSetBudget, OpPutShared, OpDeleteShared,
}

// Command is one command of a batch. Sequence is its own when the batch has a
// session, 0 otherwise. Body is the JSON of the operation's event struct.
type Command struct {
	Op       Op              `json:"op" enum:"define,start,trigger,kill,submit,send,reclassify,revoke_token,revoke_grant,decide,set_budget,put_shared,delete_shared"`
	Sequence uint64          `json:"sequence,omitempty" doc:"with a session: this command's"`
	Body     json.RawMessage `json:"body"`
}

// NewCommand makes a command of a batch from one of the commands of
// kernel/event. It panics on anything else: that is the program's mistake.
func NewCommand(body any) Command {
	op, known := opOf(body)
	if !known {
		panic(fmt.Sprintf("api: %T is no command", body))
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic("api: a command that does not encode: " + err.Error())
	}
	return Command{Op: op, Body: raw}
}

func opOf(body any) (op Op, known bool) {
	switch body.(type) {
	case event.Define:
		return OpDefine, true
	case event.Start:
		return OpStart, true
	case event.Trigger:
		return OpTrigger, true
	case event.Kill:
		return OpKill, true
	case event.Submit:
		return OpSubmit, true
	case event.Send:
		return OpSend, true
	case event.Reclassify:
		return OpReclassify, true
	case event.RevokeToken:
		return OpRevokeToken, true
	case event.RevokeGrant:
		return OpRevokeGrant, true
	case event.Decide:
		return OpDecide, true
	case event.SetBudget:
		return OpSetBudget, true
	case event.PutShared:
		return OpPutShared, true
	case event.DeleteShared:
		return OpDeleteShared, true
	}
	return "", false
}

// Batch is the body of POST …/batch: commands that are proposed in order, each
// as its own log entry with its own outcome.
type Batch struct {
	Commands []Command `json:"commands" minItems:"1" maxItems:"1000"`
}

// BatchResult is the answer to one command of a batch: one of the two.
type BatchResult struct {
	Done  *Done  `json:"done,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// BatchDone answers a batch: one result per command, in order.
type BatchDone struct {
	Results []BatchResult `json:"results"`
}

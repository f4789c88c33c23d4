package event

import (
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Define asks for a new agent (row 0: it is DEFINED by existing). ID is a
// UUIDv7 that the client made; empty to let the kernel derive one (EV-10).
type Define struct {
	ID        string              `cbor:"1,keyasint,omitempty" json:"id,omitempty" doc:"UUID of the agent, made by the client; derived by the kernel when empty"`
	Name      string              `cbor:"2,keyasint,omitempty" json:"name,omitempty" doc:"a name for people, 0 to 128 bytes; need not be unique"`
	Evaluator string              `cbor:"3,keyasint,omitempty" json:"evaluator,omitempty" doc:"evaluator and version; std/1 when empty"`
	Mode      string              `cbor:"4,keyasint,omitempty" json:"mode,omitempty" enum:"task,service" doc:"task completes when its instruction queue is empty, service waits for more"`
	Labels    map[string]string   `cbor:"5,keyasint,omitempty" json:"labels,omitempty" doc:"at most 32 labels"`
	Env       map[string]string   `cbor:"6,keyasint,omitempty" json:"env,omitempty" doc:"visible to the program as env; at most 64 entries"`
	Grants    []permissions.Grant `cbor:"7,keyasint,omitempty" json:"grants,omitempty" doc:"what the agent may do; everything else is denied"`
	Program   value.Raw           `cbor:"8,keyasint,omitempty" json:"program,omitempty" doc:"the first instruction {kind, payload}"`
	Teardown  value.Raw           `cbor:"9,keyasint,omitempty" json:"teardown,omitempty" doc:"an instruction that runs last, while the agent is COMPLETING"`
	MaxDepth  uint32              `cbor:"10,keyasint,omitempty" json:"max_depth,omitempty" doc:"levels of delegation below the agent; the kernel's max_depth when 0"`
	TTLMillis int64               `cbor:"11,keyasint,omitempty" json:"ttl_ms,omitempty" doc:"milliseconds after spawn at which the agent's token expires; never when 0"`
	Input     value.Raw           `cbor:"13,keyasint,omitempty" json:"input,omitempty" doc:"JSON Schema of what the agent's own program takes as input; takes everything when absent"`
	Budget    *Budget             `cbor:"12,keyasint,omitempty" json:"budget,omitempty" doc:"what the agent may spend, with all that it delegates; only what binds those above when absent"`
}

// Budget limits what an agent and all below it may spend (RU-3). 0 is no limit of
// that kind, and at least one is to be given.
type Budget struct {
	Tokens      uint64 `cbor:"1,keyasint,omitempty" json:"tokens,omitempty" doc:"tokens of language models; no limit when 0"`
	USDMicros   uint64 `cbor:"2,keyasint,omitempty" json:"usd_micros,omitempty" doc:"millionths of a US dollar; no limit when 0"`
	WallMillis  int64  `cbor:"3,keyasint,omitempty" json:"wall_ms,omitempty" doc:"milliseconds that the agent is at work, from spawn on, not counting while it is suspended or faulted; no limit when 0"`
	WarnPercent uint32 `cbor:"4,keyasint,omitempty" json:"warn_percent,omitempty" doc:"of a limit, at which a warning is recorded, 1 to 100; 80 when 0"`
}

// SetBudget gives an agent's account other limits. What is absent stays as it is.
type SetBudget struct {
	Agent       string  `cbor:"1,keyasint" json:"agent"`
	Tokens      *uint64 `cbor:"2,keyasint,omitempty" json:"tokens,omitempty" doc:"tokens of language models; no limit when 0"`
	USDMicros   *uint64 `cbor:"3,keyasint,omitempty" json:"usd_micros,omitempty" doc:"millionths of a US dollar; no limit when 0"`
	WallMillis  *int64  `cbor:"4,keyasint,omitempty" json:"wall_ms,omitempty" doc:"milliseconds that the agent is at work; no limit when 0"`
	WarnPercent *uint32 `cbor:"5,keyasint,omitempty" json:"warn_percent,omitempty" doc:"of a limit, at which a warning is recorded, 1 to 100"`
	Reason      string  `cbor:"6,keyasint,omitempty" json:"reason,omitempty"`
}

// Start is define, spawn and activate as one command: all of it or nothing.
type Start struct {
	Define Define    `cbor:"1,keyasint" json:"agent"`
	Input  value.Raw `cbor:"2,keyasint,omitempty" json:"input,omitempty" doc:"visible to the program as input"`
	Reason string    `cbor:"3,keyasint,omitempty" json:"reason,omitempty"`
}

// Trigger asks for one transition of an agent's state machine.
type Trigger struct {
	Agent   string    `cbor:"1,keyasint" json:"agent"`
	Trigger string    `cbor:"2,keyasint" json:"trigger"`
	Reason  string    `cbor:"3,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
	Input   value.Raw `cbor:"4,keyasint,omitempty" json:"input,omitempty" doc:"with spawn: the input of the agent's program"`
	Force   bool      `cbor:"5,keyasint,omitempty" json:"force,omitempty" doc:"with suspend: withdraw the calls that a WAITING agent waits for"`
}

// Kill ends an agent whatever it is doing (LC-4).
type Kill struct {
	Agent  string `cbor:"1,keyasint" json:"agent"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason,omitempty"`
}

// Submit adds an instruction to an agent's queue. Program may be empty: the
// agent's own program runs again, with the input given.
type Submit struct {
	Agent   string    `cbor:"1,keyasint" json:"agent"`
	Program value.Raw `cbor:"2,keyasint,omitempty" json:"program,omitempty" doc:"an instruction {kind, payload}; the agent's own when empty"`
	Input   value.Raw `cbor:"3,keyasint,omitempty" json:"input,omitempty"`
}

// Send puts a message into an agent's mailbox; mailbox.receive takes it out.
type Send struct {
	Agent   string    `cbor:"1,keyasint" json:"agent"`
	Message value.Raw `cbor:"2,keyasint" json:"message"`
}

// Reclassify calls a FAULTED agent's PERMANENT fault TRANSIENT, so that it can
// be recovered (FA-2).
type Reclassify struct {
	Agent  string `cbor:"1,keyasint" json:"agent"`
	Reason string `cbor:"2,keyasint" json:"reason" doc:"why, kept in the record; 1 to 256 bytes"`
}

// RevokeToken revokes an agent's token: the agent and everything below it end
// (LC-10).
type RevokeToken struct {
	Agent  string `cbor:"1,keyasint" json:"agent" doc:"the agent that holds the token, or the token's id"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason,omitempty"`
}

// RevokeGrant takes one ALLOW away from an agent and whatever rests on it.
type RevokeGrant struct {
	Agent  string `cbor:"1,keyasint" json:"agent"`
	Grant  uint32 `cbor:"2,keyasint" json:"grant" doc:"position in the agent's grants, from 0"`
	Reason string `cbor:"3,keyasint,omitempty" json:"reason,omitempty"`
}

// Decide settles an escalation (PE-3).
type Decide struct {
	Escalation uint64 `cbor:"1,keyasint" json:"escalation"`
	Approve    bool   `cbor:"2,keyasint,omitempty" json:"approve"`
	Reason     string `cbor:"3,keyasint,omitempty" json:"reason,omitempty"`
}

// PutShared writes one key of shared memory in an operator's name. With
// Version the write is a compare-and-set: the version the key must have, 0 for
// a key that must not exist (ME-1).
type PutShared struct {
	Namespace string    `cbor:"1,keyasint" json:"namespace"`
	Key       string    `cbor:"2,keyasint" json:"key"`
	Value     value.Raw `cbor:"3,keyasint" json:"value"`
	Version   *uint64   `cbor:"4,keyasint,omitempty" json:"version,omitempty"`
}

// DeleteShared deletes one key of shared memory, with compare-and-set as
// PutShared.
type DeleteShared struct {
	Namespace string  `cbor:"1,keyasint" json:"namespace"`
	Key       string  `cbor:"2,keyasint" json:"key"`
	Version   *uint64 `cbor:"3,keyasint,omitempty" json:"version,omitempty"`
}

// RegisterTool registers a tool, or another revision of one (TO-9).
type RegisterTool struct {
	Manifest tools.Manifest `cbor:"1,keyasint" json:"manifest"`
}

// DeregisterTool takes a tool away from new calls; running ones go on.
type DeregisterTool struct {
	Name   string `cbor:"1,keyasint" json:"name"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// AnswerTask answers a call that waits for a person, or says that nobody will (TO-12).
type AnswerTask struct {
	Agent  string    `cbor:"1,keyasint" json:"agent"`
	Tick   uint64    `cbor:"2,keyasint" json:"tick"`
	Call   uint32    `cbor:"3,keyasint" json:"call"`
	Reject bool      `cbor:"4,keyasint,omitempty" json:"reject,omitempty"`
	Result value.Raw `cbor:"5,keyasint,omitempty" json:"result,omitempty"`
	Reason string    `cbor:"6,keyasint,omitempty" json:"reason,omitempty"`
}

// Dispatched says that a node is about to run a call that must not run twice.
type Dispatched struct {
	Agent uint32 `cbor:"1,keyasint"`
	Tick  uint64 `cbor:"2,keyasint"`
	Call  uint32 `cbor:"3,keyasint"`
	Node  string `cbor:"4,keyasint"`
	Term  uint64 `cbor:"5,keyasint"`
}

// Result hands a call's result in.
type Result struct {
	Agent   uint32    `cbor:"1,keyasint"`
	Tick    uint64    `cbor:"2,keyasint"`
	Call    uint32    `cbor:"3,keyasint"`
	OK      bool      `cbor:"4,keyasint,omitempty"`
	Value   value.Raw `cbor:"5,keyasint,omitempty"`
	Code    string    `cbor:"6,keyasint,omitempty"`
	Message string    `cbor:"7,keyasint,omitempty"`
	Millis  int64     `cbor:"8,keyasint,omitempty"`

	// What the call cost, when the tool said so (RU-3).
	Metered   bool   `cbor:"9,keyasint,omitempty"`
	Tokens    uint64 `cbor:"10,keyasint,omitempty"`
	USDMicros uint64 `cbor:"11,keyasint,omitempty"`
}

// ArchiveLog is the body of LogArchive.
type ArchiveLog struct {
	Before uint64 `cbor:"1,keyasint,omitempty" json:"before"` // busSeq: sealed segments that end before it
}

// SuspendKernel is the body of KernelSuspend.
type SuspendKernel struct {
	Reason string `cbor:"1,keyasint" json:"reason" doc:"why everything is stopped, kept in the record; 1 to 256 bytes"`
}

// ResumeKernel is the body of KernelResume.
type ResumeKernel struct {
	Reason string `cbor:"1,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// Leader is the body of LeaderStarted.
type Leader struct {
	Node string `cbor:"1,keyasint"`
	Term uint64 `cbor:"2,keyasint"`
}

// Restored is the body of ClusterRestored, as event and as record: what a backup
// of the cluster From held, which ended at an index with a chain value, goes on as
// the cluster To.
type Restored struct {
	From  string   `cbor:"1,keyasint"`
	To    string   `cbor:"2,keyasint"`
	Index uint64   `cbor:"3,keyasint"` // Raft index of the last event before
	Chain [32]byte `cbor:"4,keyasint"` // after that event's block
}

// Upgraded is the body of KernelUpgraded, as event and as record: the kernel version
// that holds from here on, which is the next one, and the limits that it brings.
type Upgraded struct {
	Version       uint32 `cbor:"1,keyasint" json:"version"`
	LogWarnBytes  uint64 `cbor:"2,keyasint,omitempty" json:"log_warn_bytes"`
	LogErrorBytes uint64 `cbor:"3,keyasint,omitempty" json:"log_error_bytes"`
}

// Compare is the body of Checkpoint: the chain values that voters reported
// for one index, ordered by node.
type Compare struct {
	Index  uint64  `cbor:"1,keyasint"`
	Values []Voter `cbor:"2,keyasint"`
}

// Voter is one voter's chain value.
type Voter struct {
	Node  string   `cbor:"1,keyasint"`
	Chain [32]byte `cbor:"2,keyasint"`
}

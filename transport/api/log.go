package api

import (
	"encoding/json"

	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Record is one record of the execution log, as JSON.
type Record struct {
	BusSeq     uint64          `json:"bus_seq"`
	Index      uint64          `json:"index" doc:"Raft index of the event that it belongs to"`
	Term       uint64          `json:"term"`
	AtMillis   int64           `json:"at_ms" doc:"kernel clock, Unix milliseconds"`
	Kind       string          `json:"kind" doc:"such as TICK_STARTED"`
	AgentID    string          `json:"agent_id,omitempty"`
	RunID      string          `json:"run_id,omitempty" doc:"the run that the agent works for"`
	Tick       uint64          `json:"tick,omitempty" doc:"tickSeq"`
	Step       uint32          `json:"step,omitempty" doc:"step within the tick"`
	Cause      uint64          `json:"cause,omitempty" doc:"busSeq of the record that led to it; none for the event itself"`
	SpanID     string          `json:"span_id,omitempty" doc:"16 hex digits; of records of a tick"`
	ParentSpan string          `json:"parent_span_id,omitempty"`
	Body       json.RawMessage `json:"body" doc:"by kind; see docs/api.md"`

	Notes *Notes `json:"notes,omitempty" doc:"only when asked for, and no part of the record"`
}

// Notes say what numbers in a record stand for. Everything else of a record is the
// same for ever, on every node; notes are there as long as the answering node finds
// what they tell.
type Notes struct {
	Instruction string             `json:"instruction,omitempty" doc:"of a STEP: the kind of the instruction, such as CALL"`
	DecidedBy   *permissions.Grant `json:"decided_by,omitempty" doc:"of ALLOW, DENY and ESCALATED: a copy of the grant that decided"`
}

// LogPage is a part of the log, in order. Next is the From of the next page;
// when Records is short of the limit, that is the end of the log as of now.
type LogPage struct {
	Records []Record `json:"records"`
	Next    uint64   `json:"next"`
	Ledger  *Ledger  `json:"ledger,omitempty" doc:"of a run's records: where its ledger ends as of now"`
	As
}

// LogQuery selects records.
type LogQuery struct {
	From  uint64 // first busSeq wanted; 0 is 1
	Agent string // only records of this agent
	Run   string // only records of this run: of its agents, and the events that they came of
	Limit int    // 1 to 1,000; 0 is 100
	Notes bool   // with what numbers in records stand for, where the node finds it
}

// WatchQuery selects what to watch.
type WatchQuery struct {
	From  uint64   // first busSeq wanted; 0 is the next record to come
	Agent string   // only records of this agent
	Run   string   // only records of this run, as in LogQuery
	Kinds []string // only these kinds; empty for all
	Runs  bool     // beside Kinds, all records of agents that work for a run
	Notes bool     // with what numbers in records stand for, where the node finds it
}

// Names of the events of a watch's stream.
const (
	EventRecord = "record" // data: a Record; id: its busSeq
	EventOpen   = "open"   // data: an Opened; id: the busSeq before the first
	EventError  = "error"  // data: an Error; the stream ends with it
)

// HeaderLastEvent is sent to go on after a record that was seen.
const HeaderLastEvent = "Last-Event-ID"

// Opened begins a watch's stream: the next record has at least busSeq From.
type Opened struct {
	From uint64 `json:"from"`
	Node string `json:"node"`
}

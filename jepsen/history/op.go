package history

import (
	"encoding/json"
	"math"
)

// Outcome is what is known about whether an operation took effect.
type Outcome string

// The outcomes. An operation that is not settled when the run ends is Unknown.
const (
	Ok      Outcome = "ok"      // it has, and here is the answer
	Failed  Outcome = "fail"    // it has not, and will not
	Unknown Outcome = "unknown" // it may have, or may yet
)

// Op is one operation of a client.
type Op struct {
	ID       uint64          `json:"id"`      // in the order of the calls, from 1
	Process  int             `json:"process"` // who called: one thing at a time
	Workload string          `json:"workload"`
	Name     string          `json:"f"`             // "read", "write", "cas", "start" …
	Key      string          `json:"key,omitempty"` // what it is about
	In       json.RawMessage `json:"in,omitempty"`  // what was asked for, in the workload's own type
	Out      json.RawMessage `json:"out,omitempty"` // what was answered
	Sent     *Sent           `json:"sent,omitempty"`

	Outcome  Outcome `json:"outcome"`
	Code     string  `json:"code,omitempty"`  // of an answer that is not Ok: the API's code
	Error    string  `json:"error,omitempty"` // and its sentence
	Called   int64   `json:"called_ns"`
	Returned int64   `json:"returned_ns"` // when the caller was told, or gave up

	Node  string `json:"node,omitempty"`    // who answered
	Index uint64 `json:"index,omitempty"`   // the Raft index of the answer
	Seq   uint64 `json:"bus_seq,omitempty"` // of the first record of what it did
}

// Sent is the command that an operation sent, as the log has it when it was
// applied. An operation that has one is looked for in the log.
type Sent struct {
	Event string          `json:"event"` // "AGENT_SEND", "SHARED_PUT" …
	Body  json.RawMessage `json:"body"`
}

// Never is when an operation ends that may still take effect.
const Never = math.MaxInt64

// End is when the operation can have taken effect at the latest.
func (o *Op) End() int64 {
	if o.Outcome == Unknown {
		return Never
	}
	return o.Returned
}

// Decode reads a body of an operation: its In or Out.
func Decode[T any](body json.RawMessage) (T, error) {
	var into T
	if len(body) == 0 {
		return into, nil
	}
	err := json.Unmarshal(body, &into)
	return into, err
}

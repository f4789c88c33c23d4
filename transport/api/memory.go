package api

import "github.com/omnikernel/omnikernel/kernel/value"

// MemoryValue is one stored value: of an agent's persistent memory, or of
// shared memory.
type MemoryValue struct {
	Namespace string    `json:"namespace,omitempty" doc:"of shared memory"`
	AgentID   string    `json:"agent_id,omitempty" doc:"of an agent's own memory"`
	Key       string    `json:"key"`
	Value     value.Raw `json:"value"`
	Version   uint64    `json:"version" doc:"busSeq of the record that wrote it: never used twice"`
	WriterID  string    `json:"writer_id,omitempty" doc:"the agent that wrote it; absent for an operator"`
	AtMillis  int64     `json:"at_ms" doc:"when, kernel clock, Unix milliseconds"`
	As
}

// MemoryKey is a row of a list of keys.
type MemoryKey struct {
	Key      string `json:"key"`
	Version  uint64 `json:"version"`
	Bytes    uint64 `json:"bytes" doc:"of the value, in its canonical encoding"`
	WriterID string `json:"writer_id,omitempty" doc:"the agent that wrote it; absent for an operator"`
	AtMillis int64  `json:"at_ms"`
}

// MemoryPage is a part of a list of keys, in order of their bytes. Next, when
// not empty, is what to pass as after for what follows.
type MemoryPage struct {
	Namespace string      `json:"namespace,omitempty" doc:"of shared memory"`
	AgentID   string      `json:"agent_id,omitempty" doc:"of an agent's own memory"`
	Keys      []MemoryKey `json:"keys"`
	Next      string      `json:"next,omitempty"`
	As
}

// MemoryQuery selects keys.
type MemoryQuery struct {
	Prefix string // the segments that keys begin with: orders lists orders/17; empty for all
	After  string // the key to start after
	Limit  int    // 1 to 1,000; 0 is 100
}

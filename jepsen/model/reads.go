package model

// Reads is the name of the workload whose operations these are: keys of shared
// memory, and agents, are written anywhere and read at one node, not linearizably.
const Reads = "reads"

// The operations of Reads, beside Write and Read.
const (
	Define = "define" // an agent; the key is its id
	Find   = "find"   // an agent, at a node
)

// ReadsIn is what is asked.
type ReadsIn struct {
	Node     string `json:"node,omitempty"`       // who is asked
	Level    string `json:"level,omitempty"`      // session or stale
	MinIndex uint64 `json:"min_index,omitempty"`  // that the answer must have reached
	MaxLag   int64  `json:"max_lag_ms,omitempty"` // that the answer may be behind; 0 is no bound
	Session  string `json:"session,omitempty"`    // of a read that must not go back behind the session's others
	Value    int64  `json:"value,omitempty"`      // to be written
}

// ReadsOut is what is answered. Version 0 is a key, or an agent, that was not found;
// an agent that was found has version 1.
type ReadsOut struct {
	Value   int64  `json:"value,omitempty"`
	Version uint64 `json:"version,omitempty"`
	Lag     int64  `json:"lag_ms"` // how far behind the leader the node may be, as it says itself
}

package model

// Append is the name of the workload that sends messages to mailboxes.
const Append = "append"

// Echoed is how many messages the agent of a mailbox takes and says again; what
// comes later stays in the mailbox.
const Echoed = 40

// ListOut is what an agent has said so far, in the order of the log.
type ListOut struct {
	Said []string `json:"said"`
}

// Repeat is the name of the workload that sends the same command again.
const Repeat = "repeat"

// RepeatIn names a command for ever: by an idempotency key, or by a session and a
// sequence.
type RepeatIn struct {
	Node     string `json:"node"` // whom this attempt went to
	Key      string `json:"key,omitempty"`
	Session  string `json:"session,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"`
}

package history

// Fault is something that was done to the cluster.
type Fault struct {
	ID     int            `json:"id"`
	Kind   string         `json:"kind"`            // as scenarios name it
	Nodes  []string       `json:"nodes,omitempty"` // whom it concerned
	Detail map[string]any `json:"detail,omitempty"`
	From   int64          `json:"from_ns"`            // when it began to be injected
	Took   int64          `json:"took_ns"`            // how long that was
	Until  int64          `json:"until_ns,omitempty"` // when it was healed; 0 while it was not
	Error  string         `json:"error,omitempty"`    // why it could not be injected, or healed
}

// Sight is what one node said of itself, or that it did not.
type Sight struct {
	At      int64  `json:"at_ns"`
	Node    string `json:"node"`
	Silent  bool   `json:"silent,omitempty"` // no answer
	Role    string `json:"role,omitempty"`
	Term    uint64 `json:"term,omitempty"`
	Applied uint64 `json:"applied,omitempty"`
	Commit  uint64 `json:"commit,omitempty"`
	BusSeq  uint64 `json:"bus_seq,omitempty"`
	Digest  string `json:"digest,omitempty"` // hex chain value at Applied
	Healthy bool   `json:"healthy,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Life is a turn in the life of a node's process.
type Life struct {
	At     int64  `json:"at_ns"`
	Node   string `json:"node"`
	What   string `json:"what"` // started, ready, killed, stopped, paused, resumed, ended
	Detail string `json:"detail,omitempty"`
	Wanted bool   `json:"wanted"` // false: it ended by itself
}

// Seen is what came over a stream: one record, or a few that came one right after the
// other.
type Seen struct {
	At         int64  `json:"at_ns"`      // when the last came
	Stream     string `json:"stream"`     // who watches
	Connection int    `json:"connection"` // its how many-th connection, from 1
	Node       string `json:"node,omitempty"`
	Seq        uint64 `json:"seq"`
	Index      uint64 `json:"index,omitempty"` // of the last
	Sum        string `json:"sum,omitempty"`   // of their content, so that it can be compared with the log's
	Last       uint64 `json:"last,omitempty"`  // of several: the busSeq of the last
	Count      int    `json:"count,omitempty"` // … and how many they are
}

// Through is the busSeq of the last record.
func (s *Seen) Through() uint64 { return max(s.Seq, s.Last) }

// Records is how many they are.
func (s *Seen) Records() int { return max(1, s.Count) }

// Hit is one request that the counting service got.
type Hit struct {
	At   int64  `json:"at_ns"`
	Key  string `json:"key"`            // the call's own, as the tool runner sends it
	Name string `json:"name,omitempty"` // which errand it was for
	Fate string `json:"fate,omitempty"` // what the service did: answered, late, dropped
	N    int64  `json:"n,omitempty"`    // the how many-th request it was: its answer says so
}

// Phase is a part of the run: everything from its beginning to the next one's.
type Phase struct {
	At   int64  `json:"at_ns"`
	Name string `json:"name"` // setup, calm, faults, heal, final
}

// The phases of a run, in order.
const (
	Setup  = "setup"
	Calm   = "calm"   // traffic and no fault: what the run's validity is judged by
	Faults = "faults" // traffic and faults
	Heal   = "heal"   // no fault any more; every node must come to serve
	Final  = "final"  // no traffic: what is left is read
)

// Line is one line of the file: one of its fields is set.
type Line struct {
	Op    *Op    `json:"op,omitempty"`
	Fault *Fault `json:"fault,omitempty"` // once when it was injected, and again when it was healed
	Sight *Sight `json:"sight,omitempty"`
	Life  *Life  `json:"life,omitempty"`
	Seen  *Seen  `json:"seen,omitempty"`
	Hit   *Hit   `json:"hit,omitempty"`
	Phase *Phase `json:"phase,omitempty"`
}

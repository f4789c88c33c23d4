package check

import (
	"context"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Evidence is what there is of a run.
type Evidence struct {
	*history.History
	Nodes []string     // all of the cluster
	Ends  []End        // one for each node, when all was over
	Log   []api.Record // all of it, as one node holds it; the Ends say that the others hold the same
	Dir   string       // where a checker may leave pictures
}

// End is what a node held when all was over.
type End struct {
	Node    string `json:"node"`
	Applied uint64 `json:"applied"`
	BusSeq  uint64 `json:"bus_seq"`
	Digest  string `json:"digest"`          // hex chain value at Applied
	Log     string `json:"log"`             // hex SHA-256 of its exported log, without the export's own head
	Audit   string `json:"audit,omitempty"` // what `omni log audit` had to say; empty when nothing
	Error   string `json:"error,omitempty"` // why this is not known
}

// Word is a verdict in a word.
type Word string

// The words. A run is good when all are Valid.
const (
	Valid   Word = "valid"
	Invalid Word = "invalid"
	Unclear Word = "unclear" // the search did not end, or there is too little evidence: not passed
)

// Verdict is what a checker found.
type Verdict struct {
	Checker  string           `json:"checker"`
	Word     Word             `json:"verdict"`
	Figures  map[string]int64 `json:"figures"` // what was looked at: operations, keys, unknown outcomes …
	Findings []Finding        `json:"findings,omitempty"`
	Files    []string         `json:"files,omitempty"` // pictures, relative to Evidence.Dir
	Millis   int64            `json:"took_ms"`
}

// Finding is one thing that must not be.
type Finding struct {
	Text string   `json:"text"`
	Ops  []uint64 `json:"ops,omitempty"` // the operations that show it
	At   int64    `json:"at_ns,omitempty"`
}

// MaxFindings bounds how many a checker lists; Figures count them all.
const MaxFindings = 20

// Checker judges one thing.
type Checker interface {
	Name() string
	Check(ctx context.Context, e *Evidence) Verdict
}

// Judge asks a checker. What it found in the log has the time of the operations
// that show it.
func Judge(ctx context.Context, c Checker, e *Evidence) Verdict {
	v := c.Check(ctx, e)
	for i := range v.Findings {
		if f := &v.Findings[i]; f.At == 0 && len(f.Ops) > 0 {
			at := slices.IndexFunc(e.Ops, func(op history.Op) bool { return op.ID == f.Ops[0] })
			if at >= 0 {
				f.At = e.Ops[at].Called
			}
		}
	}
	return v
}

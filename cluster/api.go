package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/cluster/capacity"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Peer is one node of the cluster, as every node is configured to know it.
type Peer struct {
	ID   string // "n1"
	Raft string // host:port of its Raft port
	API  string // base URL of its HTTP API, "http://127.0.0.1:7700"
}

// Verdict says whether a command happened (CL-2).
type Verdict uint8

// The verdicts.
const (
	Applied Verdict = iota + 1 // Outcome tells what came of it, a refusal included
	Refused                    // definite: it did not take effect and will not
	Unknown                    // it may have taken effect, or may yet
)

// Codes of commands that no kernel answered (CL-1, CL-2), and of reads that
// this node could not serve (CL-4).
const (
	CodeNotLeader      = "NOT_LEADER"      // definite; Leader says who is
	CodeNoLeader       = "NO_LEADER"       // definite: an election is going on, retry
	CodeQueueFull      = "QUEUE_FULL"      // definite: too much in flight, retry later
	CodeTooLarge       = "TOO_LARGE"       // definite
	CodeIntakeClosed   = "INTAKE_CLOSED"   // definite: this node takes no commands
	CodeTimeout        = "TIMEOUT"         // unknown once proposed
	CodeLeadershipLost = "LEADERSHIP_LOST" // unknown
	CodeShutdown       = "SHUTDOWN"        // unknown once proposed
	CodeNotCaughtUp    = "NOT_CAUGHT_UP"   // a read: the index or lag asked for is not reached
	CodeHistoryBehind  = "HISTORY_BEHIND"  // a log read: this node has no history below From
	CodeDiverged       = "REPLAY_DIVERGENCE"
	CodeVersionTooLow  = "VERSION_TOO_LOW" // definite: the command, or the node, is of another kernel version than the cluster is at (EV-9)
	CodeSafeMode       = "SAFE_MODE"       // definite: this node does nothing until an operator acts (EV-14)
)

// Answer to a command.
type Answer struct {
	Verdict Verdict
	Outcome event.Outcome // when Applied
	Code    string        // when not: one of the codes above
	Detail  string        // a sentence for people
	Leader  Peer          // with NOT_LEADER: whom to ask; zero when unknown
}

// Level of a read (CL-4).
type Level uint8

// The levels.
const (
	Linearizable Level = iota + 1 // as of some moment after the call began
	Session                       // at least MinIndex
	Stale                         // at once; MaxLag bounds it
)

// Consistency is what a read asks for.
type Consistency struct {
	Level    Level
	MinIndex uint64        // with any level: wait until it is applied
	MaxLag   time.Duration // with Stale: 0 is no bound
}

// View is a readable state with what every answer must carry (CL-4).
type View struct {
	*state.State
	Node string
	Lag  time.Duration // how far this node may be behind the leader; 0 on the leader
}

// ReadError is a read that this node could not serve.
type ReadError struct {
	Code    string
	Detail  string
	Applied uint64 // index this node has applied
	Leader  Peer
}

// Error is the sentence for people.
func (e *ReadError) Error() string { return e.Code + ": " + e.Detail }

// Role of a node in its Raft group.
type Role string

// The roles.
const (
	RoleLeader    Role = "leader"
	RoleFollower  Role = "follower"
	RoleCandidate Role = "candidate"
	RoleDown      Role = "unreachable"
	RoleSafeMode  Role = "safe_mode" // in no role: it takes no part (EV-14)
)

// NodeStatus is one node's account of itself, or the asker's of a node that
// does not answer.
type NodeStatus struct {
	ID           string `json:"id" cbor:"1,keyasint"`
	API          string `json:"api" cbor:"2,keyasint"`
	Raft         string `json:"raft" cbor:"3,keyasint"`
	Role         Role   `json:"role" cbor:"4,keyasint"`
	Term         uint64 `json:"term" cbor:"5,keyasint"`
	AppliedIndex uint64 `json:"applied_index" cbor:"6,keyasint"` // of the last event in the state
	CommitIndex  uint64 `json:"commit_index" cbor:"7,keyasint"`
	BusSeq       uint64 `json:"bus_seq" cbor:"8,keyasint"`
	Digest       string `json:"digest" cbor:"9,keyasint"` // hex chain value at AppliedIndex
	LagMillis    int64  `json:"lag_ms" cbor:"10,keyasint"`
	Agents       uint32 `json:"agents" cbor:"11,keyasint"`
	Healthy      bool   `json:"healthy" cbor:"12,keyasint"`
	Reason       string `json:"reason,omitempty" cbor:"13,keyasint,omitempty"` // why not healthy
	UptimeMillis int64  `json:"uptime_ms" cbor:"14,keyasint"`
	Version      string `json:"version" cbor:"15,keyasint"`

	SafeMode *SafeMode `json:"safe_mode,omitempty" cbor:"16,keyasint,omitempty"` // what holds it

	HistoryFrom uint64    `json:"history_from" cbor:"17,keyasint"`                 // first busSeq that can be read there; 0 while it is not known
	Backfill    *Backfill `json:"backfill,omitempty" cbor:"18,keyasint,omitempty"` // nil when its history is complete

	Backups *backups.Status `json:"backups,omitempty" cbor:"19,keyasint,omitempty"` // nil when it makes none by itself

	Stopped *Stop `json:"stopped,omitempty" cbor:"20,keyasint,omitempty"` // nil while the kernel runs, at AppliedIndex

	State nodestate.State `json:"state,omitempty" cbor:"21,keyasint,omitempty"` // where it stands in its lifecycle; empty when nobody knows

	KernelVersion uint32 `json:"kernel_version,omitempty" cbor:"22,keyasint,omitempty"` // that holds at AppliedIndex; 0 when it does not say
	KnowsVersion  uint32 `json:"knows_version,omitempty" cbor:"23,keyasint,omitempty"`  // the newest that it may be taken to (EV-9); 0: a binary of version 1
}

// Stop is the emergency stop that holds the whole cluster (NO-2).
type Stop struct {
	SinceMillis int64  `json:"since_ms" cbor:"1,keyasint"` // kernel clock, Unix milliseconds
	By          string `json:"by" cbor:"2,keyasint"`       // principal of who ordered it
	Reason      string `json:"reason" cbor:"3,keyasint"`
	BusSeq      uint64 `json:"bus_seq" cbor:"4,keyasint"` // of its record
}

// StopOf tells of the stop that holds in a state; nil for none.
func StopOf(s *state.State) *Stop {
	stop := s.Estop.Stop()
	if stop == nil {
		return nil
	}
	return &Stop{SinceMillis: stop.At, By: stop.By, Reason: stop.Reason, BusSeq: stop.Seq}
}

// SafeMode is the event that holds a node (EV-14). It is the error of a node
// that is held.
type SafeMode struct {
	Index   uint64 `json:"index" cbor:"1,keyasint"`  // Raft index of the event
	Digest  string `json:"digest" cbor:"2,keyasint"` // hex SHA-256 of the Raft entry
	Kind    string `json:"kind" cbor:"3,keyasint"`   // of the event; empty when the log does not have it
	Crashes int    `json:"crashes" cbor:"4,keyasint"`
	Hint    string `json:"hint" cbor:"5,keyasint"` // what an operator can do
}

// Error begins with the code.
func (s *SafeMode) Error() string { return CodeSafeMode + ": " + s.sentence() }

func (s *SafeMode) sentence() string {
	return fmt.Sprintf("applying the event at index %d (%s, digest %s) ended this node's process %d times",
		s.Index, cmp.Or(s.Kind, "kind unknown"), s.Digest, s.Crashes)
}

// Status of the cluster as one node sees it.
type Status struct {
	ClusterID string       `json:"cluster_id"`
	KernelID  string       `json:"kernel_id"`
	Leader    string       `json:"leader"` // node id; empty when none is known
	Term      uint64       `json:"term"`
	Nodes     []NodeStatus `json:"nodes"`

	Stopped *Stop `json:"stopped,omitempty"` // as the node knows that has applied most

	KernelVersion uint32 `json:"kernel_version,omitempty"` // likewise; 0 while nobody knows

	Near []capacity.Use `json:"near_limits,omitempty"` // limits of the cluster that are near or reached, as the asked node knows
}

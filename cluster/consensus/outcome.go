package consensus

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Verdict answers "did it happen?" (CL-2).
type Verdict uint8

// The three answers.
const (
	Unknown Verdict = iota // nobody can tell yet: it may still take effect
	Refused                // definite: it did not and will not take effect
	Applied                // definite: it is committed, and the state machine has answered
)

func (v Verdict) String() string { return [...]string{"unknown", "refused", "applied"}[v] }

// Code says why something was not done, or not known to be done.
type Code string

// Codes of refused and unknown proposals, and of reads. Timeout and Shutdown
// go with either verdict: a proposal that was still queued is refused.
const (
	NotLeader      Code = "NOT_LEADER"      // ask Outcome.Leader
	NoLeader       Code = "NO_LEADER"       // nobody leads at the moment: retry
	Transferring   Code = "TRANSFERRING"    // leadership is being handed over: retry
	QueueFull      Code = "QUEUE_FULL"      // too much is waiting: slow down
	TooLarge       Code = "TOO_LARGE"       // above Limits.EntryBytes
	Empty          Code = "EMPTY"           // no bytes
	Timeout        Code = "TIMEOUT"         // the caller's context ended
	Shutdown       Code = "SHUTDOWN"        // this node is stopping
	LeadershipLost Code = "LEADERSHIP_LOST" // always unknown
	StoreFailed    Code = "STORE_FAILED"    // always unknown: the entry may be on disk

	NotReady    Code = "NOT_READY"     // the leader's first event is not applied yet
	NoQuorum    Code = "NO_QUORUM"     // no majority answered in time
	NewerTerm   Code = "NEWER_TERM"    // another node leads or stands for election
	Unreachable Code = "UNREACHABLE"   // the leader could not be asked
	NotCaughtUp Code = "NOT_CAUGHT_UP" // this node, or that learner, is behind
)

// Outcome of a proposal.
type Outcome struct {
	Verdict  Verdict
	Code     Code   // empty when Applied
	Response any    // the state machine's answer, when Applied
	Index    uint64 // of the entry, when Applied
	Term     uint64 // of the entry, when Applied
	Leader   Member // with NotLeader: whom to ask
}

func refused(code Code) Outcome { return Outcome{Verdict: Refused, Code: code} }
func unknown(code Code) Outcome { return Outcome{Verdict: Unknown, Code: code} }

// outcomeOf reads a resolved future.
func outcomeOf(err error, response any) Outcome {
	if err == nil {
		if a, ok := response.(*applied); ok {
			return Outcome{Verdict: Applied, Response: a.response, Index: a.index, Term: a.term}
		}
		return unknown(StoreFailed) // a command always comes back through ApplyBatch
	}
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return refused(NotLeader)
	case errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return refused(Transferring)
	case errors.Is(err, raft.ErrEnqueueTimeout):
		return refused(QueueFull)
	case errors.Is(err, raft.ErrLeadershipLost), errors.Is(err, raft.ErrAbortedByRestore):
		return unknown(LeadershipLost)
	case errors.Is(err, raft.ErrRaftShutdown):
		return unknown(Shutdown)
	}
	// What is left is the log store's own error. The entry may have reached the
	// disk all the same, and come back after a restart.
	return unknown(StoreFailed)
}

// Refusal is the error of reads, transfers and membership changes.
type Refusal struct {
	Code   Code
	Detail string
	Leader Member // with NotLeader
}

func (r *Refusal) Error() string {
	if r.Detail == "" {
		return string(r.Code)
	}
	return fmt.Sprintf("%s: %s", r.Code, r.Detail)
}

func refusal(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Detail: fmt.Sprintf(format, args...)}
}

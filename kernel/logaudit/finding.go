package logaudit

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/identity"
)

// MaxFindings is how many findings a Report lists; the others are counted.
const MaxFindings = 1000

// Finding is one place where the log breaks a rule.
type Finding struct {
	Seq      uint64 // busSeq of the record; for a broken chain, of the first record that cannot be read
	Index    uint64 // Raft index of its event
	AtMillis int64  // kernel clock
	Kind     bus.Kind
	Agent    uint32      // number; 0 when no agent is concerned
	ID       identity.ID // zero when the agent is over, or was never defined
	Tick     uint64
	Rule     RuleID
	What     string // a sentence of ours
}

// Counts is what was read.
type Counts struct {
	Blocks      uint64
	Records     uint64
	Bytes       uint64 // of blocks
	Agents      uint64 // ever defined
	Transitions uint64
	Ticks       uint64 // runs of ticks, continuations included
	Steps       uint64
	Allowed     uint64
	Denied      uint64
	Escalated   uint64
	Requested   uint64 // calls that entered the outbox
	Dispatched  uint64
	Answered    uint64 // results delivered
	Accesses    uint64 // of memory
	Tokens      uint64
	Revoked     uint64 // tokens and grants
	Forks       uint64
	Reserved    uint64 // reservations in accounts
}

// Report is what an Auditor has come to.
type Report struct {
	Counts
	Alive    uint64    // agents that are not TERMINATED
	Open     uint64    // calls without an answer
	Findings []Finding // the first MaxFindings, in order
	Found    uint64    // all of them
	ByRule   [len(Rules)]uint64
}

// found notes a finding about the record that is being looked at.
func (a *Auditor) found(rule RuleID, format string, args ...any) {
	a.foundAt(a.seq, a.record, rule, format, args...)
}

func (a *Auditor) foundAt(seq uint64, r bus.Record, rule RuleID, format string, args ...any) {
	if a.report.count(rule) {
		a.report.Findings = append(a.report.Findings, a.finding(seq, r, rule, fmt.Sprintf(format, args...)))
	}
}

// count takes a finding into account, and tells whether it is to be listed.
func (r *Report) count(rule RuleID) (list bool) {
	for i := range Rules {
		if Rules[i].ID == rule {
			r.ByRule[i]++
		}
	}
	r.Found++
	return r.Found <= MaxFindings
}

// finding is one about a record of the block that is being read.
func (a *Auditor) finding(seq uint64, r bus.Record, rule RuleID, what string) Finding {
	f := Finding{Seq: seq, Index: a.index, AtMillis: a.now, Kind: r.Kind, Agent: r.Agent, Tick: r.Tick, Rule: rule, What: what}
	if held := a.holders.Agent(r.Agent); held != nil {
		f.ID = held.ID
	}
	return f
}

package show

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Audited is what an audit of a log came to.
type Audited struct {
	Origin    string `json:"origin"` // kind of file; of a live log too
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`

	Blocks      uint64 `json:"blocks"`
	Records     uint64 `json:"records"`
	Bytes       uint64 `json:"bytes"`
	LastIndex   uint64 `json:"last_index"`
	Chain       string `json:"chain"`
	Agents      uint64 `json:"agents"`
	Alive       uint64 `json:"alive"`
	Transitions uint64 `json:"transitions"`
	Runs        uint64 `json:"runs"`
	Steps       uint64 `json:"steps"`
	Allowed     uint64 `json:"allowed"`
	Denied      uint64 `json:"denied"`
	Escalated   uint64 `json:"escalated"`
	Requested   uint64 `json:"requested"`
	Dispatched  uint64 `json:"dispatched"`
	Answered    uint64 `json:"answered"`
	Open        uint64 `json:"open"`
	Accesses    uint64 `json:"accesses"`
	Tokens      uint64 `json:"tokens"`
	Revoked     uint64 `json:"revoked"`
	Reserved    uint64 `json:"reservations"`
	Forks       uint64 `json:"forks"`
	Unread      int    `json:"forks_not_compared"` // with their sources
	Millis      int64  `json:"millis"`

	Found    uint64    `json:"found"`    // findings, all of them
	Findings []Finding `json:"findings"` // the first of them
}

// Finding is one place where a log breaks a rule.
type Finding struct {
	BusSeq   uint64 `json:"bus_seq"`
	Index    uint64 `json:"index"`
	AtMillis int64  `json:"at_ms"`
	Kind     string `json:"kind,omitempty"`
	Agent    uint32 `json:"agent,omitempty"` // its number in the log
	AgentID  string `json:"agent_id,omitempty"`
	Tick     uint64 `json:"tick,omitempty"`
	Rule     string `json:"rule"`
	Sentence string `json:"sentence"`
	What     string `json:"what"`
}

// NewAudited makes it of a report, and of the point that the audit has come to.
func NewAudited(r logaudit.Report, at logging.Point) *Audited {
	a := &Audited{
		Blocks: r.Blocks, Records: r.Records, Bytes: r.Bytes, LastIndex: at.LastIndex, Chain: hex.EncodeToString(at.Chain[:]),
		Agents: r.Agents, Alive: r.Alive, Transitions: r.Transitions, Runs: r.Ticks, Steps: r.Steps,
		Allowed: r.Allowed, Denied: r.Denied, Escalated: r.Escalated, Requested: r.Requested, Dispatched: r.Dispatched,
		Answered: r.Answered, Open: r.Open, Accesses: r.Accesses, Tokens: r.Tokens, Revoked: r.Revoked, Forks: r.Forks,
		Reserved: r.Reserved, Found: r.Found,
		Findings: make([]Finding, 0, len(r.Findings)),
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		rule, _ := logaudit.RuleOf(f.Rule)
		one := Finding{
			BusSeq: f.Seq, Index: f.Index, AtMillis: f.AtMillis, Agent: f.Agent, Tick: f.Tick,
			Rule: string(f.Rule), Sentence: rule.Sentence, What: f.What,
		}
		if f.Kind != 0 {
			one.Kind = kernel.KindName(f.Kind)
		}
		if f.ID != (identity.ID{}) {
			one.AgentID = flows.FormatID(f.ID)
		}
		a.Findings = append(a.Findings, one)
	}
	return a
}

// LogAudit shows it.
func LogAudit(p *tell.Page, a *Audited) {
	verdict := p.Good("the log keeps to the rules")
	if a.Found > 0 {
		verdict = p.Bad("the log does not keep to the rules")
	}
	p.Line("%s: %d records in %d blocks, %s, up to index %d, in %s",
		verdict, a.Records, a.Blocks, Bytes(a.Bytes), a.LastIndex, (time.Duration(a.Millis) * time.Millisecond).String())
	p.Line("%d agents, %d alive: %d transitions, %d runs of ticks in %d steps; %d tokens, %d revocations",
		a.Agents, a.Alive, a.Transitions, a.Runs, a.Steps, a.Tokens, a.Revoked)
	p.Line("%d requests allowed, %d denied, %d escalated: %d calls, %d dispatched, %d uses of memory; %d answers, %d open",
		a.Allowed, a.Denied, a.Escalated, a.Requested, a.Dispatched, a.Accesses, a.Answered, a.Open)
	if a.Found == 0 {
		p.Line("proven: %d calls were allowed before they were made, %d dispatches used nothing that was revoked before, %d answers were on record before a tick saw them, %d reservations were within every budget",
			a.Requested, a.Dispatched, a.Answered, a.Reserved)
	}
	switch {
	case a.Unread > 0:
		p.Line("%d forks, of which %d were not compared with their sources: give a file, which can be read twice", a.Forks, a.Unread)
	case a.Forks > 0:
		p.Line("%d forks, each compared with its source", a.Forks)
	}
	p.Line("%s", p.Faint(a.Origin+" of "+a.ClusterID+"/"+a.KernelID+", chain "+a.Chain))
	for i := range a.Findings {
		finding(p, &a.Findings[i])
	}
	if more := a.Found - uint64(len(a.Findings)); more > 0 {
		p.Line("")
		p.Line("and %d more", more)
	}
}

// finding shows where it is, and then what is wrong.
func finding(p *tell.Page, f *Finding) {
	where := fmt.Sprintf("busSeq %d, index %d, %s", f.BusSeq, f.Index, when(f.AtMillis))
	if f.Kind != "" {
		where += ", " + f.Kind
	}
	if f.AgentID != "" {
		where += " of agent " + f.AgentID
	} else if f.Agent != 0 {
		where += fmt.Sprintf(" of agent number %d", f.Agent)
	}
	if f.Tick > 0 {
		where += fmt.Sprintf(", tick %d", f.Tick)
	}
	p.Line("")
	p.Line("%s %s", p.Bad(f.Rule+" ("+f.Sentence+")"), where)
	p.Line("  %s", f.What)
}

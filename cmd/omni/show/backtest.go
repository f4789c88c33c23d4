package show

import (
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/backtest"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Backtested is what other grants would have made of a log.
type Backtested struct {
	Origin    string `json:"origin"` // kind of file; of a live log too
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	AgentID   string `json:"agent_id,omitempty"` // whose grants were replaced; none: everybody's
	From      uint64 `json:"from,omitempty"`     // of the range, as asked for
	To        uint64 `json:"to,omitempty"`
	Records   uint64 `json:"records"`
	Millis    int64  `json:"millis"`

	Replaced uint64 `json:"replaced"` // agents whose grants were replaced
	Agents   uint64 `json:"agents"`   // … and who rested on them, as far as they asked for something
	Judged   uint64 `json:"judged"`
	Same     uint64 `json:"same"`
	Changed  uint64 `json:"changed"`
	After    uint64 `json:"after_first_change"`
	Differ   uint64 `json:"agents_changed"`
	Ticks    uint64 `json:"ticks_changed"`

	Totals  []ChangeTotal `json:"totals"`
	Changes []Change      `json:"changes"` // the first of them
}

// ChangeTotal counts the changes of one kind.
type ChangeTotal struct {
	Was   string `json:"was"`
	Would string `json:"would"`
	Count uint64 `json:"count"`
}

// Change is one request that would have been answered otherwise.
type Change struct {
	BusSeq   uint64    `json:"bus_seq"`
	Index    uint64    `json:"index"`
	AtMillis int64     `json:"at_ms"`
	AgentID  string    `json:"agent_id"`
	Name     string    `json:"name,omitempty"`
	Tick     uint64    `json:"tick"`
	Place    string    `json:"place"`
	Action   string    `json:"action"`
	Resource string    `json:"resource"`
	Was      DecidedBy `json:"was"`
	Would    WouldBe   `json:"would"`
}

// DecidedBy is an answer, and the grant that gives it.
type DecidedBy struct {
	Outcome string             `json:"outcome"`
	AgentID string             `json:"agent_id"` // whose grants decide
	Grant   int32              `json:"grant"`    // position; -1: none speaks of it
	Text    *permissions.Grant `json:"text,omitempty"`
}

// WouldBe is an answer that was never given.
type WouldBe struct {
	DecidedBy
	Given bool `json:"given,omitempty"` // the grant is one of those of the file
	Void  bool `json:"void,omitempty"`  // the token was not in force any more
}

// NewBacktested makes it of a report.
func NewBacktested(r backtest.Report) *Backtested {
	b := &Backtested{
		Records: r.Records, Replaced: r.Replaced, Agents: r.Agents, Judged: r.Judged, Same: r.Same, Changed: r.Changed,
		After: r.After, Differ: r.Differ, Ticks: r.Ticks, Totals: []ChangeTotal{}, Changes: make([]Change, 0, len(r.Changes)),
	}
	for was := range r.By {
		for would, count := range r.By[was] {
			if count > 0 {
				b.Totals = append(b.Totals, ChangeTotal{backtest.Outcome(was).String(), backtest.Outcome(would).String(), count})
			}
		}
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		b.Changes = append(b.Changes, Change{
			BusSeq: c.Seq, Index: c.Index, AtMillis: c.AtMillis, AgentID: flows.FormatID(c.ID), Name: c.Name, Tick: c.Tick,
			Place: c.Place.String(), Action: c.Action, Resource: c.Resource, Was: decidedBy(c.Was),
			Would: WouldBe{DecidedBy: decidedBy(c.Would), Given: c.Would.Given, Void: c.Would.Void},
		})
	}
	return b
}

func decidedBy(s backtest.Side) DecidedBy {
	return DecidedBy{Outcome: s.Outcome.String(), AgentID: flows.FormatID(s.Holder), Grant: s.Grant, Text: s.Text}
}

// Backtest shows it.
func Backtest(p *tell.Page, b *Backtested) {
	for i := range b.Changes {
		change(p, &b.Changes[i])
		p.Line("")
	}
	if more := b.Changed - uint64(len(b.Changes)); more > 0 {
		p.Line("and %d more changes", more)
		p.Line("")
	}
	verdict := p.Good("nothing would have been answered otherwise")
	if b.Changed > 0 {
		verdict = p.Warn(fmt.Sprintf("%d requests of %d agents would have been answered otherwise", b.Changed, b.Differ))
	}
	p.Line("%s: %d judged, %d as they were, in %s", verdict, b.Judged, b.Same, (time.Duration(b.Millis) * time.Millisecond).String())
	for _, t := range b.Totals {
		p.Line("  %d %s would be %s", t.Count, effect(p, t.Was), effect(p, t.Would))
	}
	if b.After > 0 {
		p.Line("%d requests came after the first change in their tick: what they would have been, the log cannot say", b.After)
	}
	whose := fmt.Sprintf("in the place of those of %d agents", b.Replaced)
	if b.AgentID != "" {
		whose = "in the place of those of agent " + b.AgentID
	}
	p.Line("%s", p.Faint(b.Origin+" of "+b.ClusterID+"/"+b.KernelID+", the grants "+whose))
}

// change shows a request, what it was answered, and what it would be.
func change(p *tell.Page, c *Change) {
	name := ""
	if c.Name != "" {
		name = " (" + c.Name + ")"
	}
	p.Line("busSeq %d %s agent %s%s, tick %d, at %s", c.BusSeq, p.Faint(when(c.AtMillis)), p.Accent(c.AgentID), name, c.Tick, c.Place)
	p.Line("  %s %s", c.Action, c.Resource)
	p.Line("  was      %s", because(p, c, &WouldBe{DecidedBy: c.Was}))
	p.Line("  would be %s", because(p, c, &c.Would))
}

// because says which grant decides, and whose it is.
func because(p *tell.Page, c *Change, d *WouldBe) string {
	whose := ""
	switch {
	case d.Given:
		whose = " of those given"
	case d.AgentID != c.AgentID:
		whose = " of agent " + d.AgentID + ", above it"
	}
	switch {
	case d.Void:
		return effect(p, d.Outcome) + ": the token was not in force any more"
	case d.Outcome == backtest.Accepted.String():
		return effect(p, d.Outcome) + ": the child's grants are contained in its parent's"
	case d.Outcome == backtest.Rejected.String():
		return effect(p, d.Outcome) + fmt.Sprintf(": the child's grant %d, %s, widens", d.Grant, grantText(d.Text))
	case d.Text == nil:
		return effect(p, d.Outcome) + ": no grant" + whose + " speaks of it"
	}
	return effect(p, d.Outcome) + fmt.Sprintf(": by grant %d%s, %s", d.Grant, whose, grantText(d.Text))
}

// grantText is a grant as a sentence.
func grantText(g *permissions.Grant) string {
	if g == nil {
		return "which the log does not have"
	}
	text := g.Effect.String() + " " + g.Action + " " + g.Resource
	if g.NotAfterMillis != 0 {
		text += " until " + when(g.NotAfterMillis)
	}
	return text
}

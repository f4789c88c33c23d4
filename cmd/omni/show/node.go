package show

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Node writes where a node stands.
func Node(p *tell.Page, n api.NodeState) {
	p.Line("node %s: %s since %s", p.Accent(n.Node), standing(p, n.State), moment(n.Since))
	if n.Cause != "" {
		p.Line("  %s: %s", cmp.Or(n.By, "unknown"), n.Cause)
	}
	p.Line("intake %s; start %d of its process, %d journal entries", intake(p, n.Intake), n.Boot, n.Seq)
	if n.Reason != "" {
		p.Line("%s: %s", p.Bad("unhealthy"), n.Reason)
	}
	if n.JournalError != "" {
		p.Line("%s: %s", p.Bad("not kept"), n.JournalError)
	}
	if n.RetryInMillis > 0 {
		p.Line("start %d failed; the next one in %v", n.Attempt, wait(n.RetryInMillis))
	}
	if s := n.Suspension; s != nil {
		kind := "paused"
		if s.Estop {
			kind = "stopped by an emergency stop"
		}
		p.Line("%s by %s at %s: %s", p.Warn(kind), cmp.Or(whose(s.By, s.Principal), "somebody"), moment(s.Since), cmp.Or(s.Reason, "no reason given"))
	}
	if b := n.Before; b != nil {
		how := p.Good("in order")
		if !b.Clean {
			how = p.Warn("not in order")
		}
		text := fmt.Sprintf("before: start %d ended %s, %s since %s", b.Boot, how, b.State, moment(b.Since))
		if b.Cause != "" {
			text += ": " + b.Cause
		}
		p.Line("%s", text)
	}
	if n.TLS != nil {
		nodeTLS(p, n.TLS)
	}
	if len(n.Components) > 0 {
		p.Line("")
		components(p, n.Components)
	}
}

func nodeTLS(p *tell.Page, t *api.NodeTLS) {
	for _, c := range t.Certificates {
		what := "certificate"
		if c.Role == "authority" {
			what = "trusts"
		}
		p.Line("%s %s, serial %s, until %s", what, c.Name, c.Serial, moment(c.NotAfter))
	}
	if t.Refused != "" {
		p.Line("%s: %s", p.Bad("new certificate refused"), t.Refused)
	}
}

func components(p *tell.Page, all []api.NodeComponent) {
	rows := make([][]string, 0, len(all))
	for _, c := range all {
		status := c.Status
		switch status {
		case "ok":
			status = p.Good(status)
		case "failed", "backoff", "failing":
			status = p.Bad(status)
		}
		if c.RetryInMillis > 0 {
			status += " for " + wait(c.RetryInMillis).String()
		}
		rows = append(rows, []string{c.Name, status, moment(c.LastOK), strconv.Itoa(c.RestartCount), c.LastError})
	}
	p.Table([]string{"COMPONENT", "STATUS", "LAST OK", "RESTARTS", "LAST ERROR"}, rows)
}

// whose says who caused something: the operator by name, where everybody has one.
func whose(by, principal string) string {
	if principal == "" || principal == "client" {
		return by
	}
	return principal
}

// NodeJournal writes entries of a node's journal.
func NodeJournal(p *tell.Page, j api.NodeJournal) {
	rows := make([][]string, 0, len(j.Entries))
	for _, e := range j.Entries {
		rows = append(rows, []string{
			strconv.FormatUint(e.Seq, 10), strconv.FormatUint(e.Boot, 10), e.Time.Format(time.RFC3339), entry(p, e), whose(e.By, e.Principal), cmp.Or(e.Rule, e.Cause),
		})
	}
	p.Table([]string{"SEQ", "START", "TIME", "WHAT", "BY", "WHY"}, rows)
	for _, d := range j.Damage {
		p.Line("%s", p.Bad(fmt.Sprintf("%s: offset %d: %s", d.File, d.Offset, d.What)))
	}
}

func entry(p *tell.Page, e api.JournalEntry) string {
	switch e.Kind {
	case "transition":
		return e.Trigger + ": " + e.From + " → " + standing(p, e.To)
	case "refusal":
		return p.Warn("refused") + " " + e.Trigger + ": stays " + e.From
	case "component":
		return e.Component + " is " + e.Status
	case "boot":
		if e.From == "" {
			return "the first process"
		}
		return "a process begins, after " + e.From
	}
	return p.Bad(e.Kind)
}

func standing(p *tell.Page, state string) string {
	switch state {
	case "Running":
		return p.Good(state)
	case "Crashed":
		return p.Bad(state)
	case "Created", "Starting":
		return state
	}
	return p.Warn(state)
}

func intake(p *tell.Page, word string) string {
	if word == "open" {
		return p.Good(word)
	}
	return p.Warn(word)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func wait(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// NodeOrdered writes what came of an order.
func NodeOrdered(p *tell.Page, o api.NodeOrdered) {
	if o.DryRun {
		p.Line("%s would take %s; it is %s, and nothing has changed", p.Accent(o.Node), o.Order, standing(p, o.State))
		if o.Leading {
			p.Line("  it leads: leadership would be handed over")
		}
		for _, kind := range o.Refused {
			p.Line("  refused from then on: %s", kind)
		}
	} else {
		p.Line("%s is %s", p.Accent(o.Node), standing(p, o.State))
		if o.Leading && o.State == "Suspended" {
			p.Line("  %s", p.Warn("it still leads: nobody has taken over yet, and the cluster takes no commands meanwhile"))
		}
		if o.NotOnRecord != "" {
			p.Line("  %s", p.Warn("the execution log may not have this order, only the node's journal: "+o.NotOnRecord))
		}
	}
	if u := o.UnderWay; u.Commands > 0 || u.Calls > 0 {
		p.Line("  under way: %d commands, %d tool calls", u.Commands, u.Calls)
	}
}

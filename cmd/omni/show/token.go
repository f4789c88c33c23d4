package show

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Tokens shows a list.
func Tokens(p *tell.Page, page api.TokenPage) {
	rows := make([][]string, 0, len(page.Tokens))
	for _, t := range page.Tokens {
		rows = append(rows, []string{
			t.TokenID, t.AgentID, t.Name, State(p.Style, t.State), strconv.FormatUint(uint64(t.Depth), 10), when(t.Expires), tokenIs(p, t), t.ParentID,
		})
	}
	if len(rows) > 0 {
		p.Table([]string{"TOKEN", "AGENT", "NAME", "STATE", "DEPTH", "EXPIRES", "TOKEN IS", "PARENT"}, rows)
	}
	ending(p, len(rows), "tokens", page.As, page.Next)
}

// Token shows one, with its grants.
func Token(p *tell.Page, t api.TokenAnswer) {
	p.Fields(
		[2]string{"token", p.Accent(t.TokenID)},
		[2]string{"is", tokenIs(p, t.Token)},
		[2]string{"agent", t.AgentID},
		[2]string{"name", t.Name},
		[2]string{"state", State(p.Style, t.State)},
		[2]string{"rests on", t.ParentToken},
		[2]string{"of agent", t.ParentID},
		[2]string{"depth", strconv.FormatUint(uint64(t.Depth), 10) + " levels may be delegated"},
		[2]string{"expires", when(t.Expires)},
		[2]string{"issued", "busSeq " + number(t.IssuedSeq)},
		[2]string{"as of", asOf(t.As)},
	)
	p.Line("")
	if len(t.Grants) == 0 {
		p.Line("no grants: everything is denied")
		return
	}
	rows := make([][]string, 0, len(t.Grants))
	for i, g := range t.Grants {
		rows = append(rows, grantRow(uint32(i), g))
	}
	p.Table([]string{"GRANT", "EFFECT", "ACTION", "RESOURCE", "UNTIL"}, rows)
}

// tokenIs says what a token is good for.
func tokenIs(p *tell.Page, t api.Token) string {
	if t.Revoked == "" && t.State == "TERMINATED" {
		return p.Faint("of an agent that has ended")
	}
	return inForce(p, t.Void)
}

func inForce(p *tell.Page, v api.Void) string {
	if v.Revoked == "" {
		return p.Good("in force")
	}
	return p.Bad(v.Revoked)
}

// Tree shows agents below each other.
func Tree(p *tell.Page, page api.TreePage) {
	for _, a := range page.Agents {
		line := strings.Repeat("  ", int(a.Level)) + p.Accent(a.AgentID) + " " + State(p.Style, a.State)
		if a.Fault != "" {
			line += " " + a.Fault
		}
		if a.Revoked != "" && a.State != "TERMINATED" {
			line += " " + p.Bad("token void: "+a.Revoked)
		}
		if a.Name != "" {
			line += " " + a.Name
		}
		p.Line("%s", line)
	}
	ending(p, len(page.Agents), "agents", page.As, page.Next)
}

// Faults shows what went wrong with an agent.
func Faults(p *tell.Page, page api.FaultPage) {
	rows := make([][]string, 0, len(page.Faults))
	for _, f := range page.Faults {
		tick := ""
		if f.Tick > 0 {
			tick = number(f.Tick)
		}
		rows = append(rows, []string{number(f.BusSeq), when(f.AtMillis), tick, happened(f), f.Code, f.Class, words(f)})
	}
	if len(rows) > 0 {
		p.Table([]string{"BUSSEQ", "AT", "TICK", "WHAT", "CODE", "CLASS", "WHY"}, rows)
	}
	p.Line("%s", p.Faint(fmt.Sprintf("%s is %s, %d faults, %s", page.AgentID, page.State, len(rows), asOf(page.As))))
}

func happened(f api.Fault) string {
	switch f.Kind {
	case "TICK_FAILED":
		return "tick failed"
	case "LIFECYCLE":
		return f.From + " to FAULTED"
	case "RETRY_SCHEDULED":
		return fmt.Sprintf("retry %d in %d ms", f.Retry, f.Backoff)
	case "FAULT_RECLASSIFIED":
		return "reclassified"
	case "TEARDOWN_INCOMPLETE":
		return "ended without its teardown"
	case "AUDIT":
		return "invariant kept by force"
	}
	return f.Kind
}

func words(f api.Fault) string {
	if f.Reason != "" {
		return f.Reason
	}
	if f.Line > 0 {
		return fmt.Sprintf("%s (instruction %d, line %d column %d)", f.Message, f.Instruction, f.Line, f.Column)
	}
	return f.Message
}

// Audit shows breaches of invariants.
func Audit(p *tell.Page, page api.AuditPage) {
	rows := make([][]string, 0, len(page.Entries))
	for _, e := range page.Entries {
		rows = append(rows, []string{number(e.BusSeq), when(e.AtMillis), p.Bad(e.Invariant), e.Kind, e.AgentID, e.RootID, e.Rule})
	}
	if len(rows) > 0 {
		p.Table([]string{"BUSSEQ", "AT", "INVARIANT", "RECORD", "AGENT", "ROOT", "RULE"}, rows)
	}
	p.Line("%s", p.Faint(fmt.Sprintf("%d breaches in all, %s", page.Count, asOf(page.As))))
}

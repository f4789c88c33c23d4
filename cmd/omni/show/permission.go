package show

import (
	"fmt"
	"strconv"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Verdict shows the answer, and why in a sentence.
func Verdict(p *tell.Page, x api.Explanation) {
	p.Line("%s: %s", effect(p, x.Verdict), x.Reason)
}

// Explanation shows every level and the grants that it considers.
func Explanation(p *tell.Page, x api.Explanation) {
	p.Fields(
		[2]string{"agent", p.Accent(x.AgentID)},
		[2]string{"action", x.Action},
		[2]string{"resource", x.Resource},
		[2]string{"verdict", effect(p, x.Verdict)},
		[2]string{"why", x.Reason},
		[2]string{"as of", asOf(x.As)},
	)
	for i, level := range x.Levels {
		p.Line("")
		whose := "its own grants"
		if i > 0 {
			whose = fmt.Sprintf("grants of %s, %d above", level.AgentID, i)
			if level.Name != "" {
				whose += " (" + level.Name + ")"
			}
		}
		if level.Resource != x.Resource {
			whose += ", where it is " + level.Resource
		}
		says := ""
		if level.Decides {
			says = ", which decides"
		}
		p.Line("%s: %s%s", whose, effect(p, level.Verdict), says)
		if len(level.Considered) == 0 {
			p.Line("  none speaks of %s", x.Action)
			continue
		}
		considered(p, level)
	}
}

func considered(p *tell.Page, level api.PermissionLevel) {
	rows := make([][]string, 0, len(level.Considered))
	for _, c := range level.Considered {
		why := "does not match"
		switch {
		case c.Matched && c.Expired:
			why = "matches, its time is over"
		case int32(c.Position) == level.Grant:
			why = "decides here"
		case c.Matched:
			why = "matches"
		}
		rows = append(rows, append(grantRow(c.Position, c.Grant), why))
	}
	p.Table([]string{"GRANT", "EFFECT", "ACTION", "RESOURCE", "UNTIL", ""}, rows)
}

func grantRow(position uint32, g permissions.Grant) []string {
	return []string{strconv.FormatUint(uint64(position), 10), g.Effect.String(), g.Action, g.Resource, when(g.NotAfterMillis)}
}

func effect(p *tell.Page, name string) string {
	switch name {
	case "ALLOW", "ACCEPTED":
		return p.Good(name)
	case "ESCALATE":
		return p.Warn(name)
	}
	return p.Bad(name)
}

// Escalations shows what waits for a decision.
func Escalations(p *tell.Page, page api.EscalationPage) {
	rows := make([][]string, 0, len(page.Escalations))
	for _, e := range page.Escalations {
		rows = append(rows, []string{number(e.Escalation), e.AgentID, e.Name, e.Action, e.Resource, when(e.Deadline), decider(&e)})
	}
	if len(rows) > 0 {
		p.Table([]string{"ID", "AGENT", "NAME", "ACTION", "RESOURCE", "UNTIL", "WHOSE"}, rows)
	}
	next := ""
	if page.Next != 0 {
		next = number(page.Next)
	}
	ending(p, len(rows), "requests", page.As, next)
}

// Escalation shows one of them.
func Escalation(p *tell.Page, e api.EscalationAnswer) {
	by := ""
	if e.Grant != nil {
		by = fmt.Sprintf("grant %d of %s: %s %s on %s", e.Position, e.LevelID, e.Grant.Effect, e.Grant.Action, e.Grant.Resource)
	}
	p.Fields(
		[2]string{"escalation", p.Accent(number(e.Escalation))},
		[2]string{"agent", e.AgentID},
		[2]string{"name", e.Name},
		[2]string{"call", fmt.Sprintf("%d of tick %d", e.Call, e.Tick)},
		[2]string{"tool", e.Tool},
		[2]string{"args", compact(e.Args)},
		[2]string{"action", e.Action},
		[2]string{"resource", e.Resource},
		[2]string{"because of", by},
		[2]string{"whose", decider(&e.OpenEscalation)},
		[2]string{"until", when(e.Deadline)},
		[2]string{"as of", asOf(e.As)},
	)
	p.Line("")
	p.Line("omni escalation approve %d", e.Escalation)
	p.Line("omni escalation deny %d", e.Escalation)
}

// decider says who is to decide. Operators always may.
func decider(e *api.OpenEscalation) string {
	switch {
	case e.HandlerID == "":
		return "operators"
	case e.Offered:
		return "its parent, which is looking at it"
	}
	return "its parent"
}

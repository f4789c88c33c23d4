package show

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Budget shows the accounts that an agent draws on, the lowest first.
func Budget(p *tell.Page, a api.Agent) {
	if len(a.Accounts) == 0 {
		p.Line("%s has no budget: nothing limits what it spends", p.Accent(a.AgentID))
		p.Line("%s", p.Faint(asOf(a.As)))
		return
	}
	for _, account := range a.Accounts {
		whose := "held by " + account.AgentID
		if account.AgentID == a.AgentID {
			whose = "its own"
		}
		p.Fields(
			[2]string{"account", p.Accent(whose)},
			[2]string{"tokens", spent(account.Tokens, plainly)},
			[2]string{"US dollars", spent(account.USDMicros, dollars)},
			[2]string{"time at work", worked(account.Wall)},
			[2]string{"waiting", count(account.Waiting)},
		)
		p.Line("")
	}
	p.Line("%s", p.Faint(asOf(a.As)))
}

// budget is the line of an agent's page.
func budget(a api.Agent) string {
	if len(a.Accounts) == 0 {
		return ""
	}
	account, parts := a.Accounts[0], []string(nil)
	for _, one := range [...]string{spent(account.Tokens, plainly), spent(account.USDMicros, dollars), worked(account.Wall)} {
		if one != "" {
			parts = append(parts, one)
		}
	}
	if account.AgentID != a.AgentID {
		parts = append(parts, "in the account of "+account.AgentID)
	}
	return strings.Join(parts, "\n")
}

func plainly(n uint64) string { return fmt.Sprintf("%d tokens", n) }

// dollars writes micro-dollars, exactly, with two places at least.
func dollars(micros uint64) string {
	text := fmt.Sprintf("$%d.%06d", micros/1_000_000, micros%1_000_000)
	for range 4 {
		text = strings.TrimSuffix(text, "0")
	}
	return text
}

// spent says how much of a limit is used; nothing where there is neither.
func spent(s api.Spent, write func(uint64) string) string {
	if s.Limit == 0 && s.Settled == 0 && s.Reserved == 0 {
		return ""
	}
	text := write(s.Settled)
	if s.Limit > 0 {
		text += fmt.Sprintf(" of %s, %d %%", write(s.Limit), percent(s.Settled, s.Limit))
	}
	if s.Reserved > 0 {
		text += ", and " + write(s.Reserved) + " reserved"
	}
	if s.Overrun > 0 {
		text += ", of it " + write(s.Overrun) + " beyond what calls had declared"
	}
	if s.Exceeded {
		text += ": EXCEEDED"
	}
	return text
}

func percent(part, whole uint64) uint64 {
	if part > 1<<56 {
		return part / (whole/100 + 1)
	}
	return part * 100 / whole
}

func worked(s api.SpentTime) string {
	if s.Limit == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s", span(s.Used), span(s.Limit))
	switch {
	case s.Exceeded:
		text += ": EXCEEDED"
	case !s.Running:
		text += ", standing still"
	}
	return text
}

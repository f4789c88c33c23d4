package show

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Done tells that a command took effect.
func Done(p *tell.Page, what string, d api.Done) {
	again := ""
	if d.Repeated {
		again = " (before: this is the first answer again)"
	}
	p.Line("%s %s%s", what, p.Accent(d.AgentID), again)
	p.Line("%s", p.Faint(fmt.Sprintf("%s as of index %d, busSeq %d, answered by %s", d.State, d.Index, d.BusSeq, d.Node)))
}

// forked says where a fork started from.
func forked(f *api.Forked) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s, after busSeq %d", f.AgentID, f.At)
}

// Agent shows everything about one agent.
func Agent(p *tell.Page, a api.Agent) {
	p.Fields(
		[2]string{"agent", p.Accent(a.AgentID)},
		[2]string{"name", a.Name},
		[2]string{"state", State(p.Style, a.State)},
		[2]string{"fault", fault(a)},
		[2]string{"result", compact(a.Result)},
		[2]string{"failure", failure(a.Failure)},
		[2]string{"tick", tick(a.Tick)},
		[2]string{"waits for", waits(a.Waits)},
		[2]string{"queued", count(a.Queued)},
		[2]string{"mailbox", count(a.Mailbox)},
		[2]string{"memory", memory(a.Memory)},
		[2]string{"log", logSize(p.Style, a)},
		[2]string{"emitted", count(a.Emitted)},
		[2]string{"fork of", forked(a.Forked)},
		[2]string{"parent", a.ParentID},
		[2]string{"children", count(a.Children)},
		[2]string{"token", held(p, a.Token)},
		[2]string{"budget", budget(a)},
		[2]string{"mode", a.Mode + ", " + a.Evaluator},
		[2]string{"labels", pairs(a.Labels)},
		[2]string{"env", pairs(a.Env)},
		[2]string{"defined", when(a.DefinedAt) + fmt.Sprintf(", busSeq %d", a.DefinedSeq)},
		[2]string{"as of", asOf(a.As)},
	)
	if len(a.Transitions) == 0 {
		return
	}
	p.Line("")
	if int(a.Count) > len(a.Transitions) {
		p.Line("the last %d of %d transitions:", len(a.Transitions), a.Count)
	}
	transitions(p, a.Transitions)
}

// logSize is an agent's part of the log; it is empty while nothing is counted.
func logSize(style tell.Style, a api.Agent) string {
	if a.LogBytes == 0 {
		return ""
	}
	text := size(a.LogBytes)
	switch a.LogLimit {
	case "exceeded":
		return text + ", " + style.Bad("as much as it may be: its ticks fail")
	case "warned":
		return text + ", " + style.Warn("more than log_warn_bytes")
	}
	return text
}

// Result shows what an agent came to: its result alone when it has one, so
// that text can be piped too.
func Result(p *tell.Page, a api.Agent) {
	if a.Failure == nil && a.Result != nil {
		p.Line("%s", compact(a.Result))
		return
	}
	Agent(p, a)
}

// Agents shows a list.
func Agents(p *tell.Page, page api.AgentPage) {
	rows := make([][]string, 0, len(page.Agents))
	for _, a := range page.Agents {
		rows = append(rows, []string{a.AgentID, State(p.Style, a.State), a.Mode, when(a.DefinedAt), a.Name, pairs(a.Labels)})
	}
	if len(rows) > 0 {
		p.Table([]string{"AGENT", "STATE", "MODE", "DEFINED", "NAME", "LABELS"}, rows)
	}
	p.Line("%s", p.Faint(fmt.Sprintf("%d agents, %s", len(rows), asOf(page.As))))
	if page.Next != "" {
		p.Line("%s", p.Faint("more: add --after "+page.Next))
	}
}

// History shows an agent's transitions.
func History(p *tell.Page, h api.HistoryPage) {
	transitions(p, h.Transitions)
	p.Line("%s", p.Faint(fmt.Sprintf("%s is %s, %s", h.AgentID, h.State, asOf(h.As))))
}

func transitions(p *tell.Page, all []api.Transition) {
	rows := make([][]string, 0, len(all))
	for _, t := range all {
		why := t.Reason
		if t.Code != "" {
			why = strings.TrimSpace(t.Code + " " + why)
		}
		rows = append(rows, []string{
			strconv.FormatUint(t.BusSeq, 10), strconv.FormatUint(t.Index, 10), when(t.AtMillis),
			t.From, t.Trigger, State(p.Style, t.To), t.Caller, why,
		})
	}
	p.Table([]string{"BUSSEQ", "INDEX", "AT", "FROM", "TRIGGER", "TO", "BY", "WHY"}, rows)
}

// State dresses the name of a lifecycle state.
func State(s tell.Style, name string) string {
	switch name {
	case "FAULTED":
		return s.Bad(name)
	case "ACTIVE", "COMPLETING":
		return s.Good(name)
	case "WAITING", "RESUMABLE", "RECOVERING":
		return s.Warn(name)
	case "TERMINATED":
		return s.Faint(name)
	}
	return name
}

func failure(f *api.TickFailure) string {
	if f == nil {
		return ""
	}
	text := f.Code + ": " + f.Message + fmt.Sprintf("\nin tick %d, instruction %d", f.Tick, f.Instruction)
	if f.Line > 0 {
		text += fmt.Sprintf(", line %d column %d of its expression", f.Line, f.Column)
	}
	if f.Class != "" {
		text += " (" + f.Class + ")"
	}
	return text
}

func tick(t *api.Tick) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("%d, %s, %d steps, %d calls", t.Seq, t.Phase, t.Steps, t.Calls)
	if t.Tool != "" {
		text += ", waiting for " + t.Tool
	}
	return text
}

// fault says why an agent is FAULTED, and whether the kernel will do something
// about it.
func fault(a api.Agent) string {
	text := a.FaultClass
	if a.FaultCode != "" {
		text += " " + a.FaultCode
	}
	if a.RetryAt > 0 {
		text += fmt.Sprintf("\nretry %d at %s", a.Retries, when(a.RetryAt))
	} else if text != "" && a.Retries > 0 {
		text += fmt.Sprintf(", after %d retries", a.Retries)
	}
	return text
}

func waits(all []api.Wait) string {
	lines := make([]string, 0, len(all))
	for _, w := range all {
		var line string
		switch w.For {
		case "call":
			line = "an answer of " + w.Tool
		case "escalation":
			line = fmt.Sprintf("a decision about %s: omni escalation show %d", w.Tool, w.Escalation)
		case "children":
			line = fmt.Sprintf("%d children", w.Open)
		case "message":
			line = "a message"
		case "room":
			line = "room in a budget, for " + w.Tool
		default:
			line = "time to pass"
		}
		if w.Deadline > 0 {
			line += ", until " + when(w.Deadline)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func memory(m *api.MemorySize) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%d keys, %d bytes", m.Keys, m.Bytes)
}

func held(p *tell.Page, t *api.HeldToken) string {
	if t == nil {
		return ""
	}
	text := t.TokenID + ", " + inForce(p, t.Void) + ", depth " + strconv.FormatUint(uint64(t.Depth), 10)
	if t.Expires > 0 {
		text += ", until " + when(t.Expires)
	}
	return text
}

func count(n uint32) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

func pairs(m map[string]string) string {
	words := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		words = append(words, k+"="+m[k])
	}
	return strings.Join(words, " ")
}

func compact(raw value.Raw) string {
	if len(raw) == 0 {
		return ""
	}
	return string(raw.AppendJSON(nil))
}

// when is kernel time for people.
func when(millis int64) string {
	if millis == 0 {
		return ""
	}
	return time.UnixMilli(millis).UTC().Format("2006-01-02T15:04:05.000Z")
}

func asOf(as api.As) string {
	text := fmt.Sprintf("index %d on %s", as.Index, as.Node)
	if as.LagMillis > 0 {
		text += fmt.Sprintf(", up to %d ms behind", as.LagMillis)
	}
	return text
}

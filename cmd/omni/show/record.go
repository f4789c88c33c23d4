package show

import (
	"encoding/json"
	"fmt"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// maxBody is how much of a record's body a line shows.
const maxBody = 160

// Record shows one record of the log as a line.
func Record(p *tell.Page, r api.Record) {
	place := ""
	if r.AgentID != "" {
		place = " " + p.Accent(r.AgentID)
	}
	if r.Tick > 0 {
		place += fmt.Sprintf(" tick %d", r.Tick)
	}
	if r.Step > 0 {
		place += fmt.Sprintf(" step %d", r.Step)
	}
	if value, ok := progress(r); ok {
		p.Line("%d %s %s%s %s", r.BusSeq, p.Faint(when(r.AtMillis)), p.Good(r.Kind), place, clip(value))
		return
	}
	p.Line("%d %s %s%s%s %s", r.BusSeq, p.Faint(when(r.AtMillis)), p.Bold(kind(r)), place, notes(r.Notes), p.Faint(clip(string(r.Body))))
}

// notes are what the node found out about the record's numbers.
func notes(n *api.Notes) string {
	switch {
	case n == nil:
		return ""
	case n.DecidedBy != nil:
		return fmt.Sprintf(" by %s %s on %s", n.DecidedBy.Effect, n.DecidedBy.Action, n.DecidedBy.Resource)
	}
	return " " + n.Instruction
}

// progress is what a program emitted, alone: it was meant to be read.
func progress(r api.Record) (string, bool) {
	var body struct{ Value json.RawMessage }
	if r.Kind != "EMITTED" || json.Unmarshal(r.Body, &body) != nil {
		return "", false
	}
	return string(body.Value), true
}

// kind of a record; of an event, which one.
func kind(r api.Record) string {
	var body struct{ Event string }
	if r.Kind == "EVENT" && json.Unmarshal(r.Body, &body) == nil {
		return r.Kind + " " + body.Event
	}
	return r.Kind
}

// clip cuts text for a line, at a rune's boundary.
func clip(text string) string {
	if len(text) <= maxBody {
		return text
	}
	cut := maxBody
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

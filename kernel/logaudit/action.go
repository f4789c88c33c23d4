package logaudit

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// missing notes that a record is about a call that is not open: it had its
// answer before, or nobody made it.
func (a *Auditor) missing(g *agent, no uint32, what string) {
	t := &g.tick
	if a.record.Tick < t.seq || a.record.Tick == t.seq && no > 0 && no <= t.calls {
		a.found(Twice, "call %d of tick %d %s, and its answer was delivered before", no, a.record.Tick, what)
		return
	}
	a.found(Unasked, "call %d of tick %d %s, and no tick has asked for it", no, a.record.Tick, what)
}

// requested looks at CALL_REQUESTED: from here on a runner may call the tool.
func (a *Auditor) requested(g *agent, b *tools.RequestedBody) {
	a.report.Requested++
	c := g.call(a.record.Tick, b.Call)
	if c == nil {
		a.missing(g, b.Call, "enters the outbox")
		return
	}
	switch force := a.force(g); {
	case c.requested:
		a.found(Dispatch, "call %d enters the outbox a second time", c.no)
	case c.ended:
		a.found(Twice, "call %d enters the outbox after its answer", c.no)
	case c.verdict != allowed:
		a.found(Unjudged, "call %d, of %s, enters the outbox, and no ALLOW for it comes before", c.no, b.Tool)
	case !c.sameAs(g.no, a.record.Tick, b):
		a.found(Unjudged, "call %d enters the outbox as another call than was asked for and judged", c.no)
	case force.lost:
		a.found(Authority, "call %d enters the outbox on %s", c.no, a.why(g, force))
	}
	a.sameTool(c, b)
	c.requested, c.verdict = true, allowed
}

// dispatched looks at CALL_DISPATCHED: a runner was told to go ahead. Authority
// is tested where it is used.
func (a *Auditor) dispatched(g *agent, b *tools.DispatchedBody) {
	a.report.Dispatched++
	c := g.call(a.record.Tick, b.Call)
	if c == nil {
		a.found(Dispatch, "call %d of tick %d is dispatched, and is not in the outbox", b.Call, a.record.Tick)
		return
	}
	switch force := a.force(g); {
	case !c.requested || c.ended:
		a.found(Dispatch, "call %d is dispatched, and is not in the outbox", c.no)
	case c.dispatched:
		a.found(Dispatch, "call %d is dispatched a second time", c.no)
	case !a.handedOut(g) || a.hand.Call != c.no:
		a.found(Dispatch, "call %d is dispatched in an event that does not ask for that", c.no)
	case force.lost:
		a.found(Authority, "call %d is dispatched on %s", c.no, a.why(g, force))
	default:
		answer := a.holders.Judge(g.holds, c.action, c.resources[0], a.now, authority.Instead{})
		if answer.Effect == permissions.Deny {
			a.found(Authority, "call %d is dispatched, and by then %s", c.no, a.told(answer))
		}
	}
	c.dispatched = true
}

// action looks at ACTION_EXECUTED and ACTION_FAILED: what came of a call.
func (a *Auditor) action(g *agent, b *tools.ActionBody) {
	done := a.record.Kind == bus.ActionExecuted
	c := g.call(a.record.Tick, b.Call)
	if c == nil {
		a.missing(g, b.Call, "has an answer")
		return
	}
	switch {
	case c.ended:
		a.found(Twice, "call %d has a second answer", c.no)
	case !done:
	case c.verdict != allowed:
		a.found(Unjudged, "call %d, of %s, was done, and no ALLOW for it comes before", c.no, b.Tool)
	case c.external && !c.requested:
		a.found(Dispatch, "call %d was done by a tool, and never entered the outbox", c.no)
	case c.external && (!a.handsIn(g, c) || !a.result.OK):
		a.found(Result, "call %d was done, and this event does not bring its result", c.no)
	case c.external && c.asks != (a.event.Kind == event.TaskAnswer):
		a.found(Result, "call %d, of %s, was done by a %s", c.no, b.Tool, a.doer())
	case c.tool == execution.Delegate && (!c.accepted || !c.detached && c.children > 0):
		a.found(Result, "call %d, a delegation, was done, and %d of its children have not ended", c.no, c.children)
	}
	c.ended, c.done = true, done
	if c.delivered {
		g.drop(func(c *call) bool { return c.ended && c.delivered })
	}
}

// doer says who brings the event's result, where somebody else was to.
func (a *Auditor) doer() string {
	if a.event.Kind == event.TaskAnswer {
		return "person, and is a node's to make"
	}
	return "node, and is a person's to answer"
}

// handsIn tells whether the event brings the call's result.
func (a *Auditor) handsIn(g *agent, c *call) bool {
	r := a.result
	if r == nil {
		return false
	}
	mine := r.Agent == g.no
	if a.event.Kind == event.TaskAnswer {
		mine = g.holds.ID == a.answerer
	}
	return mine && r.Tick == g.tick.seq && r.Call == c.no
}

// answered takes a person's answer as the result that it is (TO-12).
func (a *Auditor) answered(e *event.Event) {
	body, ok := event.DecodeBody[event.AnswerTask](e.Body)
	if !ok {
		return
	}
	id, ok := named(body.Agent)
	if !ok {
		return
	}
	a.answerer = id
	a.result = &event.Result{Tick: body.Tick, Call: body.Call, OK: !body.Reject, Value: body.Result}
}

// named reads the id of an agent that a command names.
func named(text string) (id identity.ID, ok bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(id) {
		return id, false
	}
	copy(id[:], raw)
	return id, true
}

// delivered looks at RESULT_DELIVERED: what the tick will see.
func (a *Auditor) delivered(g *agent, b *execution.Answer) {
	a.report.Answered++
	c := g.call(a.record.Tick, b.Call)
	if c == nil {
		a.missing(g, b.Call, "has its answer delivered")
		return
	}
	switch {
	case c.delivered:
		a.found(Twice, "the answer of call %d is delivered a second time", c.no)
	case g.tick.phase != pending || c.no < g.tick.first || c.no-g.tick.first >= g.tick.count:
		a.found(Result, "the answer of call %d is delivered to a tick that does not wait for it", c.no)
	case !c.ended:
		a.found(Result, "the tick is given the answer of call %d before it is recorded", c.no)
	case c.done != b.OK:
		a.found(Result, "call %d is delivered as another outcome than was recorded", c.no)
	case c.external && b.OK && a.handsIn(g, c) && !sameValue(a.result.Value, b.Value):
		a.found(Result, "the value that is delivered is not the one that the event brought")
	}
	c.delivered = true
	g.answer()
	if c.ended {
		g.drop(func(c *call) bool { return c.ended && c.delivered })
	}
}

// sameValue compares a result as it was handed in with what is delivered.
func sameValue(handed, delivered value.Raw) bool {
	if len(handed) == 0 {
		handed = value.Null
	}
	return bytes.Equal(handed, delivered)
}

package logaudit

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// evaluation looks at ALLOW and DENY: what is judged must be what the tick asks
// for, and the verdict what the grants say.
func (a *Auditor) evaluation(g *agent, b *permissions.Evaluation) {
	allow := a.record.Kind == bus.Allow
	if allow {
		a.report.Allowed++
	} else {
		a.report.Denied++
	}
	c, atDispatch := a.judged(g, b.Action, b.Resource)
	if c == nil {
		a.found(Unasked, "%s on %s is judged, and the tick has not asked for it, or it was judged before", b.Action, b.Resource)
		if c = g.asks(b.Action, b.Resource); c != nil && allow {
			c.verdict = allowed
		}
		return
	}
	a.compare(g, c, b, atDispatch)
	switch {
	case !allow:
		c.verdict = denied
	case len(c.left) == 0 && c.verdict != denied:
		c.verdict = allowed
	}
}

// judged finds the call that an evaluation is about. A call of the outbox is
// judged again when it is handed to a runner, and that is recorded when it is
// denied (TO-5); one that waited for room in a budget is when it finds it.
func (a *Auditor) judged(g *agent, action, resource string) (c *call, atDispatch bool) {
	if a.handedOut(g) && a.record.Kind == bus.Deny {
		c := g.call(a.record.Tick, a.hand.Call)
		if c != nil && c.requested && !c.ended && action == toolCall && resource == c.resources[0] {
			return c, true
		}
	}
	if a.record.Tick != g.tick.seq || g.tick.phase != pending {
		return nil, false
	}
	for i := range g.calls {
		if c := &g.calls[i]; c.takes(action, resource) {
			return c, c.roomless
		}
	}
	return nil, false
}

// handedOut tells whether the event hands a call of the agent's tick to a runner.
func (a *Auditor) handedOut(g *agent) bool {
	return a.hand != nil && a.hand.Agent == g.no && a.hand.Tick == a.record.Tick
}

// compare holds an evaluation to what the grants in force say.
func (a *Auditor) compare(g *agent, c *call, b *permissions.Evaluation, atDispatch bool) {
	answer := a.holders.Judge(g.holds, b.Action, b.Resource, a.now, authority.Instead{})
	ok := false
	switch {
	case a.record.Kind == bus.Allow:
		ok = answer.Effect == permissions.Allow || answer.Effect == permissions.Escalate && (c.approved || c.granted)
	case answer.Effect == permissions.Deny:
		ok = true
	case atDispatch:
		inForce, _, _ := g.holds.InForce(a.now)
		ok = !inForce
	default: // where nobody could wait, or is asked, ESCALATE is DENY (PE-3)
		ok = answer.Effect == permissions.Escalate && (g.state() == lifecycle.Completing || a.full() || c.verdict == denied)
	}
	if !ok {
		a.found(Verdict, "%s on %s is judged otherwise than recorded: %s", b.Action, b.Resource, a.told(answer))
		return
	}
	a.decides(b.Grants, b.Grant, b.Level, answer)
}

// decides holds a record to the grant that decides.
func (a *Auditor) decides(list uint32, grant int32, level uint32, answer authority.Answer) {
	if list != answer.List || grant != answer.Grant || level != answer.Level {
		a.found(Verdict, "grant %d of list %d at level %d is said to decide, and %s", grant, list, level, a.told(answer))
	}
}

// told is what the grants say, in words.
func (a *Auditor) told(answer authority.Answer) string {
	whose := "the agent's own grants"
	if answer.Level != 0 {
		whose = fmt.Sprintf("the grants of agent %d, above it", answer.Level)
	}
	if answer.Grant == permissions.DefaultDeny {
		return fmt.Sprintf("%s (list %d) do not speak of it, which is DENY", whose, answer.List)
	}
	return fmt.Sprintf("%s (list %d) say %s, by grant %d", whose, answer.List, answer.Effect, answer.Grant)
}

// full tells whether as many requests wait for a decision as may.
func (a *Auditor) full() bool {
	return a.config != nil && uint64(len(a.waiting)) >= uint64(a.config.MaxEscalations)
}

// force is whether an agent's token is in force. That one is used although it
// is not is told once, and not again for everything that rests on it.
type force struct {
	lost   bool
	code   failure.Code
	holder *authority.Agent
}

func (a *Auditor) force(g *agent) force {
	ok, code, holder := g.holds.InForce(a.now)
	return force{lost: !ok && !a.account(g, holder).outlaw, code: code, holder: holder}
}

// account is the agent on whose account a token is not in force, if it lives.
func (a *Auditor) account(g *agent, holder *authority.Agent) *agent {
	if h := a.agents[holder.No]; h != nil {
		return h
	}
	return g
}

// why says it.
func (a *Auditor) why(g *agent, f force) string {
	a.account(g, f.holder).outlaw = true
	if f.holder == g.holds {
		return fmt.Sprintf("a token that is not in force any more: %s", f.code)
	}
	return fmt.Sprintf("a token that rests on agent %d's, which is not in force any more: %s", f.holder.No, f.code)
}

// escalated looks at ESCALATED: the grants must say so, and the decision is
// bound to this very call (PE-3).
func (a *Auditor) escalated(g *agent, b *permissions.Escalated) {
	a.report.Escalated++
	c, _ := a.judged(g, b.Action, b.Resource)
	answer := a.holders.Judge(g.holds, b.Action, b.Resource, a.now, authority.Instead{})
	tick := a.record.Tick
	switch {
	case c == nil:
		a.found(Unasked, "%s on %s is escalated, and the tick has not asked for it", b.Action, b.Resource)
	case answer.Effect != permissions.Escalate:
		a.found(Verdict, "%s on %s is escalated: %s", b.Action, b.Resource, a.told(answer))
	case b.Call != c.no || b.Digest != permissions.CallDigest(g.no, tick, c.no, c.tool, c.args):
		a.found(Escalation, "the request is bound to another call than was made")
	case b.Handler != 0 && b.Handler != g.holds.Parent():
		a.found(Escalation, "agent %d is to decide, and is not the parent", b.Handler)
	case g.state() == lifecycle.Completing:
		a.found(Escalation, "a teardown waits for a decision")
	default:
		a.decides(b.Grants, b.Grant, b.Level, answer)
	}
	a.waiting[a.seq] = &escalation{agent: g.no, call: b.Call}
	if c != nil {
		c.verdict, c.digest = undecided, b.Digest
	}
}

// offered looks at ESCALATION_OFFERED.
func (a *Auditor) offered(b *permissions.EscalationOffered) {
	if e := a.waiting[b.ID]; e == nil || e.agent != a.record.Agent {
		a.found(Escalation, "request %d is offered to agent %d, and does not wait", b.ID, b.Handler)
	}
}

// decided looks at ESCALATION_DECIDED; g is nil when the agent that asked is over.
func (a *Auditor) decided(g *agent) {
	b, ok := a.record.Body.(*permissions.EscalationDecided)
	if !ok {
		return
	}
	e := a.waiting[b.ID]
	if e == nil || e.agent != a.record.Agent {
		a.found(Escalation, "request %d is decided, and does not wait", b.ID)
		return
	}
	delete(a.waiting, b.ID)
	if g == nil {
		return
	}
	c := g.call(a.record.Tick, e.call)
	switch {
	case c == nil:
		a.found(Escalation, "request %d is decided, and its call %d is not open", b.ID, e.call)
	case b.Approved:
		c.again()
		c.approved = true
		a.touch(g)
	default:
		c.verdict = denied
	}
}

package backtest

import (
	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// toolCall is the action that a call in the outbox was judged as (PE-1).
const toolCall = "tool.call"

// recorded is what the log says that a request came to.
type recorded struct {
	outcome Outcome
	list    uint32
	grant   int32
	level   uint32
}

// concerned finds the agent of a record that the case asks about; nil otherwise.
func (t *Test) concerned(r *logging.Record) (held *authority.Agent, at *agent) {
	held, at = t.holders.Agent(r.Agent), t.agents[r.Agent]
	if held == nil || at == nil || !t.of.asks(r.Seq) || !t.of.concerns(held) {
		return nil, nil
	}
	if !at.asked {
		at.asked = true
		t.report.Agents++
	}
	return held, at
}

// judge puts a recorded evaluation to the grants of the case.
func (t *Test) judge(r *logging.Record, action, resource string, was recorded) {
	held, at := t.concerned(r)
	if held == nil {
		return
	}
	place := AtRequest
	switch {
	case t.hand != nil && t.hand.Agent == r.Agent && t.hand.Tick == r.Tick:
		place = AtDispatch
	case at.approved == t.index:
		place = AtApproval
	}
	answer := t.holders.Judge(held, action, resource, t.now, t.instead)
	would := Side{Outcome: t.would(held, at, place, action, answer.Effect)}
	if place == AtDispatch {
		ok, _, _ := held.InForce(t.now)
		would.Void = !ok
		if would.Void {
			would.Outcome = Deny
		}
	}
	t.side(&would, held, answer)
	t.compare(r, held, at, &Change{Place: place, Action: action, Resource: resource, Was: t.was(held, was), Would: would})
}

// would is what the effect of the grants comes to, where the request is judged.
func (t *Test) would(held *authority.Agent, at *agent, place Place, action string, effect permissions.Effect) Outcome {
	switch {
	case effect == permissions.Allow:
		return Allow
	case effect != permissions.Escalate:
		if action == execution.Delegate {
			at.denied = t.index
		}
		return Deny
	case place != AtRequest: // somebody has said yes
		return Allow
	case held.State == lifecycle.Completing, t.most > 0 && t.waiting >= t.most, action == execution.Delegate && at.denied == t.index:
		return Deny // nobody could wait, or would be asked (PE-3)
	}
	return Escalate
}

// dispatched judges a call again that was handed to a runner: then the log has
// no evaluation, for it was not denied (TO-5).
func (t *Test) dispatched(r *logging.Record, call uint32) {
	held, at := t.concerned(r)
	resource, known := t.calls[tools.Key{Agent: r.Agent, Tick: r.Tick, Call: call}]
	if held == nil || !known {
		return
	}
	before := t.holders.Judge(held, toolCall, resource, t.now, authority.Instead{})
	answer := t.holders.Judge(held, toolCall, resource, t.now, t.instead)
	was, would := Side{}, Side{Outcome: t.would(held, at, AtDispatch, toolCall, answer.Effect)}
	t.side(&was, held, before)
	t.side(&would, held, answer)
	t.compare(r, held, at, &Change{Place: AtDispatch, Action: toolCall, Resource: resource, Was: was, Would: would})
}

// delegated compares a child's grants with the ones that its parent would have
// (DE-1). The child's own are what the parent's program gives it: where those
// are replaced too, nothing is known about it.
func (t *Test) delegated(r *logging.Record, b *delegation.TokenIssued) {
	parent, at := t.holders.Agent(b.Parent), t.agents[b.Parent]
	child := t.holders.Agent(r.Agent)
	if parent == nil || at == nil || child == nil || !t.of.asks(r.Seq) || !t.instead.For(parent) || t.instead.For(child) {
		return
	}
	inner, known := t.holders.Set(b.Grants)
	if !known {
		return
	}
	name := child.Name
	if name == "" {
		name = "unnamed"
	}
	change := &Change{
		Place: AtDelegation, Action: execution.Delegate, Resource: "agent/" + name,
		Was:   Side{Outcome: Accepted, Holder: parent.ID, Grant: permissions.DefaultDeny},
		Would: Side{Outcome: Accepted, Holder: parent.ID, Grant: permissions.DefaultDeny, Given: true},
	}
	if widens, does := t.of.Grants.Widens(inner); does {
		change.Would.Outcome, change.Would.Grant = Rejected, widens
		change.Would.Text = &inner.Grants()[widens]
	}
	asker := *r
	asker.Agent, asker.Tick = parent.No, b.Tick
	t.compare(&asker, parent, at, change)
}

// was names the grant that the log says decided.
func (t *Test) was(held *authority.Agent, was recorded) Side {
	side := Side{Outcome: was.outcome, Grant: was.grant, Holder: above(held, was.level).ID}
	if set, _ := t.holders.Set(was.list); was.grant >= 0 {
		if grants := set.Grants(); int64(was.grant) < int64(len(grants)) {
			side.Text = &grants[was.grant]
		}
	}
	return side
}

// above finds the agent of a level on the way up; the agent itself for 0.
func above(held *authority.Agent, level uint32) *authority.Agent {
	for at := held; at != nil; at = at.Above {
		if at.No == level {
			return at
		}
	}
	return held
}

// side names the grant that decides.
func (t *Test) side(into *Side, held *authority.Agent, answer authority.Answer) {
	holder := above(held, answer.Level)
	into.Grant, into.Holder, into.Given = answer.Grant, holder.ID, answer.List == 0 && t.instead.For(holder)
	if answer.Grant >= 0 {
		into.Text = &answer.Set.Grants()[answer.Grant]
	}
}

// compare counts a request, and lists it when it would be answered otherwise.
// What a tick asks for at once was asked for before any of the answers.
func (t *Test) compare(r *logging.Record, held *authority.Agent, at *agent, c *Change) {
	known := at.changedRun == at.run && at.changedIndex == t.index
	if at.changed && at.changedTick == r.Tick && !known {
		t.report.After++
		return
	}
	t.report.Judged++
	if c.Was.Outcome == c.Would.Outcome {
		t.report.Same++
		return
	}
	t.report.Changed++
	t.report.By[c.Was.Outcome][c.Would.Outcome]++
	if !at.changed {
		t.report.Differ++
	}
	if !at.changed || at.changedTick != r.Tick {
		t.report.Ticks++
	}
	at.changed, at.changedTick, at.changedRun, at.changedIndex = true, r.Tick, at.run, t.index
	if uint64(len(t.report.Changes)) >= t.of.Limit {
		return
	}
	c.Seq, c.Index, c.AtMillis = r.Seq, t.index, t.now
	c.Agent, c.ID, c.Name, c.Tick = held.No, held.ID, held.Name, r.Tick
	t.report.Changes = append(t.report.Changes, *c)
}

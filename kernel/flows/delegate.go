package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// plan is a request for children that was checked and found good: what is left
// is to record it. All of it, or none (DE-3).
type plan struct {
	spec     *children
	children []planned
	deadline int64
}

type planned struct {
	*definition
	input   value.Raw
	depth   uint32
	expires int64
}

// judgeDelegation asks for the right to delegate, once a child, and then
// checks the request itself while the agent is ACTIVE (LC-6). Somebody decides
// about the call as a whole: it is escalated once, and with an approval each
// child is judged again. Where a child is denied nobody is asked, and what
// wanted a decision is a DENY too (PE-3).
func (g *gate) judgeDelegation(j *judgement) {
	spec, f := parseChildren(j.request.Args)
	if f != nil {
		j.refused = f
		return
	}
	var asked []permissions.Evaluation
	for i := range spec.list {
		resource := "agent/" + orDefault(spec.list[i].define.Name, "unnamed")
		effect, evaluation := g.v.authority(g.t.No, execution.Delegate, resource)
		switch effect {
		case permissions.Allow:
			g.add(bus.Allow, &evaluation)
		case permissions.Escalate:
			asked = append(asked, evaluation)
		default:
			g.add(bus.Deny, &evaluation)
			j.refused = denied(execution.Delegate, resource)
		}
	}
	switch {
	case j.refused != nil:
		for i := range asked {
			g.add(bus.Deny, &asked[i])
		}
	case len(asked) > 0:
		g.escalate(j, asked[0])
	default:
		g.planChildren(j, spec)
	}
}

// planChildren holds the rules of DE-1 and DE-2. A request that breaks one is
// a result with code REJECTED that names the rule.
func (g *gate) planChildren(j *judgement, spec *children) {
	p, refusal := g.v.plan(g.t, g.tick, j.call, spec, j.request.Timeout)
	if refusal == nil {
		j.children = p
		return
	}
	g.add(bus.DelegationRejected, &delegation.DelegationRejected{Call: j.call, Code: refusal.Code, Field: refusal.Field, Rule: refusal.Rule})
	message := refusal.Rule
	if refusal.Field != "" {
		message = refusal.Field + ": " + message
	}
	j.refused = &failure.Failure{Code: failure.Rejected, Message: failure.Clip(message)}
}

func (v View) plan(t Target, tick uint64, call uint32, spec *children, timeout int64) (*plan, *Refusal) {
	if code, void := v.void(t.No); void { // INV-13
		return nil, refuse(code, "", "the agent has no token in force")
	}
	if uint32(len(spec.list)) > v.Config.MaxChildren {
		return nil, refuse(failure.LimitReached, "children", "more children than the kernel's max_children")
	}
	if v.Running.Reserved+uint32(len(spec.list)) > v.Config.GlobalQueue {
		return nil, queueFull()
	}
	p := &plan{spec: spec, children: make([]planned, 0, len(spec.list))}
	df := v.definer()
	df.in.made = make(map[interning.Digest]uint32)
	for i := range spec.list {
		field := "children[" + strconv.Itoa(i) + "]."
		child, refusal := v.planChild(df, t, &spec.list[i], field, derived(t.Row.Identity.ID, tick, uint64(call), uint64(i)))
		if refusal != nil {
			return nil, refusal
		}
		p.children = append(p.children, child)
	}
	if refusal := df.room(); refusal != nil {
		return nil, refusal
	}
	if timeout <= 0 {
		timeout = v.Config.DelegationMillis
	}
	p.deadline = v.Clock + min(timeout, v.Config.MaxWaitMillis)
	return p, nil
}

func (v View) planChild(df *definer, t Target, c *child, field string, id identity.ID) (planned, *Refusal) {
	own := &t.Row.Delegation
	if refusal := v.attenuates(t, c.define.Grants, field); refusal != nil {
		return planned{}, refusal
	}
	if c.define.MaxDepth >= own.Depth {
		return planned{}, refuse(failure.Rejected, field+"max_depth", "must be below the parent's remaining depth, which is "+strconv.FormatUint(uint64(own.Depth), 10))
	}
	expires := own.Expires
	if c.define.TTLMillis > 0 {
		expires = v.Clock + c.define.TTLMillis
		if own.Expires != 0 && expires > own.Expires {
			return planned{}, refuse(failure.Rejected, field+"ttl_ms", "must not go beyond the parent's own token")
		}
	}
	if len(c.define.Program) == 0 {
		return planned{}, refuse(failure.NoInstruction, field+"program", "a child starts at once and needs a program")
	}
	if refusal := v.checkRun(c.input, ""); refusal != nil {
		refusal.Field = field + refusal.Field
		return planned{}, refusal
	}
	d, refusal := df.define(&c.define, field, id)
	if refusal != nil {
		return planned{}, refusal
	}
	if d.account != nil {
		d.account.Above = v.Account(t.No)
	}
	return planned{definition: d, input: c.input, depth: c.define.MaxDepth, expires: expires}, nil
}

// attenuates checks that a child gets a strict subset of its parent's grants
// (DE-1, INV-06). Its depth is below its parent's in any case, so the parent
// always keeps something: the right to delegate further.
func (v View) attenuates(t Target, grants []permissions.Grant, field string) *Refusal {
	set, bad := permissions.Compile(grants)
	if bad != nil {
		bad.Field = field + bad.Field
		return &Refusal{Refusal: *bad}
	}
	if at, widens := v.Compiled.Grants(t.Row.Permissions.Grants).Widens(set); widens {
		return refuse(failure.Rejected, field+"grants["+strconv.Itoa(int(at))+"]", "widens: no one ALLOW of the parent contains it")
	}
	return nil
}

// delegate records what was planned: the children are defined, given their
// tokens, spawned and activated, all in this event.
func (g *gate) delegate(j *judgement) {
	p, spec := j.children, j.children.spec
	first := p.children[0].no
	accepted := &delegation.DelegationAccepted{
		Call: j.call, First: first, Count: uint32(len(p.children)),
		FailFast: spec.failFast, Handler: spec.handler, Detached: spec.detach,
	}
	if !spec.detach {
		timer := g.setTimer(timers.Timer{Deadline: p.deadline, Purpose: timers.DelegationOver, Call: j.call})
		accepted.Deadline, accepted.Timer = p.deadline, timerID(timer)
		g.add(bus.DelegationAccepted, accepted)
		g.out.Add(timer)
	} else {
		g.add(bus.DelegationAccepted, accepted)
	}
	for i := range p.children {
		g.birth(j.call, uint32(i), &p.children[i])
	}
	if spec.detach {
		g.succeed(j.call, j.request.Tool, p.names())
	}
}

func (g *gate) birth(call, position uint32, c *planned) {
	t := Target{No: c.no}
	c.publish(g.out)
	token := tokenOf(c.body.ID, c.body.Grants, c.depth, c.expires)
	token.Parent, token.Tick, token.Call, token.Position = g.t.No, g.tick, call, position
	why := cause{}
	g.timers = g.v.spawnWith(t, token, lifecycle.Kernel, why, g.timers, g.out)
	g.out.Add(instruction(t, c.body.Program, c.input))
	g.out.Add(transition(t, lifecycle.Spawned, lifecycle.Activate, lifecycle.Kernel, why))
}

// names is the answer of a detached delegation: who there is now.
func (p *plan) names() value.Raw {
	raw := value.AppendListHeader(nil, uint64(len(p.children)))
	for i := range p.children {
		id := p.children[i].body.ID
		raw = value.AppendMapHeader(raw, 2)
		raw = value.AppendString(value.AppendString(raw, "agent_id"), FormatID(id))
		raw = value.AppendString(value.AppendString(raw, "token_id"), FormatID(TokenID(id)))
	}
	return raw
}

// waitAgain is a parent whose handler decided an escalation: it waits for its
// children again (PE-3). What happened meanwhile is taken up at once.
func (g *gate) waitAgain(d *execution.Decision) {
	g.transition(lifecycle.Active, lifecycle.Yield, lifecycle.Kernel)
	e, ok := g.v.Escalations.Get(d.Escalation)
	if !ok || e.Handler != g.t.No {
		g.add(bus.StaleResult, &tools.StaleBody{OK: d.Approve})
		return
	}
	g.v.decide(e, d.Approve, "parent", d.Reason, g.out)
}

// Waits reacts to Lifecycle: a parent that is WAITING for children takes up
// what they came to, or ask for, while it was busy.
func Waits(v View, made bus.Record, out *bus.Batch) {
	t := Target{made.Agent, v.Agents.Get(made.Agent)}
	body, ok := made.Body.(*lifecycle.Event)
	if !ok || body.Trigger != lifecycle.Yield || t.Row.Lifecycle.State != lifecycle.Waiting {
		return
	}
	tick := t.Row.Execution.Current
	if tick == nil {
		return
	}
	if open, ok := v.Delegation.Get(t.No, tick.Seq, tick.First); ok && open.Open == 0 {
		v.join(t, open, out)
		return
	}
	v.offer(t, out)
}

package kerneltest

import (
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// gate judges the calls of an exit, all of them, and then answers those that
// can be answered (TO-3, LC-6).
func (n *Naive) gate(a *agent) {
	waits := a.tick.waits
	if a.state == lifecycle.Completing { // memory is read and flushed, and nothing else
		for _, c := range waits {
			switch c.tool {
			case "memory.read", "memory.list", "memory.write", "shared.read", "shared.list", "shared.write":
				then := n.judge(a, c, len(waits))
				then()
			default:
				n.fails(a, c, failure.PermissionDenied)
			}
		}
		return
	}
	var then []func()
	for _, c := range waits {
		then = append(then, n.judge(a, c, len(waits)))
	}
	a.move(lifecycle.Waiting, lifecycle.AwaitTool, "")
	for _, do := range then {
		do()
	}
	for _, e := range slices.Clone(n.escalations) {
		if e.agent == a && e.handler != nil {
			n.offer(e.handler)
		}
	}
}

// judge says what is to be done about a call.
func (n *Naive) judge(a *agent, c *call, of int) (then func()) {
	refuse := func(code failure.Code) func() { return func() { n.fails(a, c, code) } }
	tool, known := n.toolOf(c.tool)
	c.revision = tool.Revision
	switch {
	case !known:
		return refuse(failure.ToolUnknown)
	case tool.Kernel && of > 1:
		return refuse(failure.ToolArgsInvalid)
	}
	asked, broken := n.resources(a, c)
	if broken {
		return refuse(failure.ToolArgsInvalid)
	}
	verdict, escalated := permissions.Allow, ""
	for _, resource := range asked {
		says := n.may(a, action(c.tool), resource)
		if verdict = stricter(verdict, says); says == permissions.Escalate && escalated == "" {
			escalated = resource
		}
	}
	switch {
	case verdict == permissions.Deny, verdict == permissions.Escalate && !n.escalate(a, c, action(c.tool), escalated):
		return refuse(failure.PermissionDenied)
	case verdict == permissions.Escalate:
		return func() {}
	}
	return func() {
		if atOnce(c) { // its place comes before those of whom it wakes
			n.place(a)
		}
		n.do(a, c)
	}
}

// atOnce tells of a call that concerns other agents whether it is answered in
// any case.
func atOnce(c *call) bool {
	detach, _ := members(c.args)["detach"].Bool()
	return c.tool == "agent.delegate" && detach || c.tool == "agent.resume" || c.tool == "agent.suspend"
}

// action is what a tool's call is judged as (PE-1).
func action(tool string) string {
	if scope, op, _ := strings.Cut(tool, "."); scope == "memory" || scope == "shared" {
		if op == "list" {
			op = "read"
		}
		return scope + "." + op
	}
	if strings.HasPrefix(tool, "agent.") {
		return tool
	}
	return "tool.call"
}

// resources are what the call is about: one, or one for each child.
func (n *Naive) resources(a *agent, c *call) (asked []string, broken bool) {
	switch scope, _, _ := strings.Cut(c.tool, "."); {
	case c.tool == "agent.delegate":
		children, broken := parseChildren(c.args)
		for _, child := range children {
			asked = append(asked, "agent/"+child.named())
		}
		return asked, broken
	case scope == "agent":
		_, id, broken := n.child(a, c)
		return []string{"agent/" + id}, broken
	case scope == "memory" || scope == "shared":
		m, broken := parseMemory(c)
		return []string{m.resource()}, broken
	}
	tool, _ := n.toolOf(c.tool)
	resource, f := tool.Resource(c.args)
	c.resource = resource
	return []string{resource}, f != nil
}

// escalate opens a request for a decision; false where nobody could wait (PE-3).
func (n *Naive) escalate(a *agent, c *call, action, resource string) bool {
	if a.state == lifecycle.Completing || len(n.escalations) >= int(n.config.MaxEscalations) {
		return false
	}
	e := &escalation{agent: a, tick: a.tick.seq, call: c, action: action, resource: resource}
	if len(n.numbers) > 0 {
		e.number, n.numbers = n.numbers[0], n.numbers[1:]
	}
	if a.from != nil && !a.from.closed && a.from.handler {
		e.handler = a.from.parent
	}
	n.escalations = append(n.escalations, e)
	n.alarm(a, timers.EscalationOver, n.config.EscalationMillis, c.no)
	return true
}

// settle forgets an escalation.
func (n *Naive) settle(e *escalation) {
	n.escalations = slices.DeleteFunc(n.escalations, func(other *escalation) bool { return other == e })
	n.dropOf(e.agent, e.call.no, timers.EscalationOver)
}

// offer resumes a parent that waits and decides what its children ask (PE-3).
func (n *Naive) offer(parent *agent) {
	if parent.state != lifecycle.Waiting {
		return
	}
	for _, e := range n.escalations {
		if e.handler != parent || e.offered || e.agent.from.tick != parent.tick.seq || parent.waiting(e.agent.from.call) == nil {
			continue
		}
		e.offered = true
		parent.tick.event = e.event(n)
		parent.tick.ready = true
		n.activate(parent, lifecycle.Resume)
		return
	}
}

// event is what the parent's handler sees.
func (e *escalation) event(n *Naive) value.Raw {
	args := e.call.args
	if len(args)+len(e.call.tool)+len(e.action)+len(e.resource)+256 > int(n.config.MaxValueBytes) {
		args = value.Null
	}
	return object(map[string]value.Raw{
		"args": args, "tool": textOf(e.call.tool), "action": textOf(e.action), "agent_id": textOf(IDOf(e.agent.id)),
		"resource": textOf(e.resource), "escalation": value.AppendInt(nil, int64(e.number)),
	})
}

// decided is somebody's word. An approval is judged again (PE-3).
func (n *Naive) decided(e *escalation, approve bool) {
	n.settle(e)
	a, c := e.agent, e.call
	code, void := n.void(a)
	if approve && !void && c.revision != 0 && n.tools[c.tool].No != c.revision { // TO-9
		n.fails(a, c, failure.ToolUnknown)
		return
	}
	if !approve {
		n.fails(a, c, failure.PermissionDenied)
		return
	}
	asked, broken := n.resources(a, c)
	denied := false
	for _, resource := range asked {
		denied = denied || n.may(a, e.action, resource) == permissions.Deny
	}
	switch {
	case approve && void:
		n.fails(a, c, code)
	case approve && broken:
		n.fails(a, c, failure.ToolArgsInvalid)
	case denied:
		n.fails(a, c, failure.PermissionDenied)
	default:
		n.do(a, c)
	}
}

// accept checks what a runner hands in (TO-6).
func (n *Naive) accept(ok bool, v value.Raw, code failure.Code) evaluator.Answer {
	switch {
	case !ok && !code.OfCall():
		return evaluator.Answer{Code: failure.ToolFailed}
	case !ok:
		return evaluator.Answer{Code: code}
	case len(v) == 0:
		return evaluator.Answer{OK: true, Value: value.Null}
	case len(v) > int(n.config.MaxValueBytes):
		return evaluator.Answer{Code: failure.ToolResultTooLarge}
	case value.Check(v, int(n.config.MaxValueBytes)) != nil:
		return evaluator.Answer{Code: failure.ToolResultInvalid}
	}
	return evaluator.Answer{OK: true, Value: v}
}

// object writes a map.
func object(members map[string]value.Raw) value.Raw {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { // canonical: shorter first
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	raw := value.AppendMapHeader(nil, uint64(len(names)))
	for _, name := range names {
		raw = append(value.AppendString(raw, name), members[name]...)
	}
	return raw
}

func textOf(s string) value.Raw { return value.AppendString(nil, s) }

func list(items []value.Raw) value.Raw {
	raw := value.AppendListHeader(nil, uint64(len(items)))
	for _, item := range items {
		raw = append(raw, item...)
	}
	return raw
}

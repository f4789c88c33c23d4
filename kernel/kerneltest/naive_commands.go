package kerneltest

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// rules collects the codes of the rules that a command breaks.
type rules []failure.Code

func (r *rules) must(ok bool, code failure.Code) {
	if !ok {
		*r = append(*r, code)
	}
}

func body[T any](e *event.Event) *T {
	b, _ := event.DecodeBody[T](e.Body)
	return b
}

// decide answers the event.
func (n *Naive) decide(e *event.Event, told Told) Answer {
	if n.stopped && !ends(e) {
		return Answer{Refusals: rules{failure.KernelSuspended}}
	}
	switch e.Kind {
	case event.KernelSuspend, event.KernelResume:
		return n.halt(e)
	case event.KernelBooted:
		if n.config != nil {
			return Answer{Refusals: rules{failure.AlreadyBooted}}
		}
		n.config = body[config.Config](e)
	case event.KernelUpgraded:
		return n.upgraded(body[event.Upgraded](e))
	case event.ClusterRestored:
		return n.restored(body[event.Restored](e), told.Before)
	case event.ToolResult:
		return n.resultOf(body[event.Result](e))
	case event.ToolDispatched:
		return n.dispatch(body[event.Dispatched](e))
	case event.AgentDefine:
		return n.define(body[event.Define](e))
	case event.AgentStart:
		return n.start(body[event.Start](e))
	case event.EscalationDecide:
		return n.settles(body[event.Decide](e))
	case event.RunPlan, event.RunStart, event.RunPause, event.RunResume, event.RunKill:
		return n.commandRun(e)
	case event.ToolRegister, event.ToolDeregister, event.SharedPut, event.SharedDelete:
		return n.aboutNobody(e)
	case event.AgentTrigger:
		b := body[event.Trigger](e)
		return n.on(b.Agent, b.Reason, b.Input, func(a *agent, r *rules) func() { return n.trigger(a, b, r) })
	case event.AgentKill:
		b := body[event.Kill](e)
		return n.on(b.Agent, b.Reason, nil, func(a *agent, r *rules) func() {
			r.must(a.state != lifecycle.Defined && a.state != lifecycle.Terminated, failure.InvalidTransition)
			return func() { n.end(a, failure.Killed) }
		})
	case event.AgentSubmit:
		b := body[event.Submit](e)
		return n.on(b.Agent, "", b.Input, func(a *agent, r *rules) func() { return n.submit(a, b, r) })
	case event.AgentSend:
		b := body[event.Send](e)
		return n.on(b.Agent, "", nil, func(a *agent, r *rules) func() { return n.send(a, b, r) })
	case event.AgentReclassify:
		b := body[event.Reclassify](e)
		return n.on(b.Agent, b.Reason, nil, func(a *agent, r *rules) func() {
			r.must(b.Reason != "" && (a.state != lifecycle.Faulted || a.fault == failure.Permanent), failure.InvalidArgument)
			r.must(a.state == lifecycle.Faulted, failure.InvalidState)
			return func() {
				a.fault = failure.Transient
				a.retries = make(map[uint64]uint32)
			}
		})
	case event.TokenRevoke:
		b := body[event.RevokeToken](e)
		return n.on(b.Agent, b.Reason, nil, func(a *agent, r *rules) func() {
			r.must(a.state != lifecycle.Defined && a.state != lifecycle.Terminated, failure.InvalidState)
			r.must(a.revoked == "", a.revoked)
			return func() { n.revoke(a, failure.TokenRevoked) }
		})
	case event.GrantRevoke:
		b := body[event.RevokeGrant](e)
		return n.on(b.Agent, b.Reason, nil, func(a *agent, r *rules) func() { return n.revokeGrant(a, b.Grant, r) })
	}
	return Answer{}
}

// aboutNobody are commands that are about no agent.
func (n *Naive) aboutNobody(e *event.Event) Answer {
	switch e.Kind {
	case event.ToolRegister:
		return n.register(&body[event.RegisterTool](e).Manifest)
	case event.ToolDeregister:
		return n.deregister(body[event.DeregisterTool](e))
	case event.SharedPut:
		b := body[event.PutShared](e)
		return n.shares(&wanted{op: "write", shared: true, namespace: b.Namespace, key: b.Key, value: b.Value, version: b.Version})
	}
	b := body[event.DeleteShared](e)
	return n.shares(&wanted{op: "delete", shared: true, namespace: b.Namespace, key: b.Key, version: b.Version})
}

// restored makes all of it another cluster's, if what was restored is what is here.
func (n *Naive) restored(b *event.Restored, before logging.Point) Answer {
	var r rules
	r.must(b.From == n.config.ClusterID && b.To != b.From && b.To != "" && len(b.To) <= 64, failure.InvalidArgument)
	r.must(b.Index == before.LastIndex && b.Chain == before.Chain, failure.InvalidArgument)
	if len(r) == 0 {
		n.config.ClusterID = b.To
	}
	return Answer{Refusals: r}
}

func (n *Naive) upgraded(b *event.Upgraded) Answer {
	var r rules
	r.must(b.Version == n.config.Version+1, failure.InvalidArgument)
	r.must(b.LogWarnBytes > 0 && b.LogErrorBytes >= b.LogWarnBytes, failure.InvalidArgument)
	if len(r) == 0 {
		n.config.Version, n.config.LogWarnBytes, n.config.LogErrorBytes = b.Version, b.LogWarnBytes, b.LogErrorBytes
	}
	return Answer{Refusals: r}
}

// on finds the agent that a command is for, and carries the command out if it
// breaks no rule.
func (n *Naive) on(id, reason string, input value.Raw, command func(*agent, *rules) func()) Answer {
	a := n.find(id)
	if a == nil {
		return Answer{Refusals: rules{failure.NotFound, failure.InvalidArgument}}
	}
	var r rules
	r.must(goodReason(reason), failure.InvalidArgument)
	r.must(n.good(input), failure.InvalidValue)
	do := command(a, &r)
	if len(r) == 0 {
		do()
	}
	return Answer{Refusals: r, Agent: &a.id, State: a.state}
}

func (n *Naive) find(id string) *agent {
	for _, a := range n.agents {
		if IDOf(a.id) == id {
			return a
		}
	}
	return nil
}

func goodReason(reason string) bool {
	return len(reason) <= 256 && !strings.ContainsFunc(reason, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

func (n *Naive) good(v value.Raw) bool {
	return len(v) == 0 || value.Check(v, int(n.config.MaxValueBytes)) == nil
}

// refuses holds the rules of a definition.
func (n *Naive) refuses(d *event.Define) (r rules) {
	eval, known := n.lookup(evaluatorOf(d))
	r.must(known, failure.InvalidArgument)
	r.must(d.Mode == "" || d.Mode == "task" || d.Mode == "service", failure.InvalidArgument)
	_, broken := permissions.Compile(d.Grants)
	r.must(broken == nil, failure.InvalidArgument)
	for _, program := range [...]value.Raw{d.Program, d.Teardown} {
		if known && len(program) > 0 {
			_, refusal := eval.Compile(program)
			r.must(refusal == nil && len(program) <= int(n.config.MaxProgramBytes), failure.InvalidProgram)
		}
	}
	r.must(len(d.Input) == 0 || len(d.Program) > 0, failure.InvalidArgument)
	r.must(len(n.agents) < int(n.config.MaxAgents), failure.LimitReached)
	return r
}

func evaluatorOf(d *event.Define) string {
	if d.Evaluator == "" {
		return "std/1"
	}
	return d.Evaluator
}

// definition is refuses, and the rules of a client's own choice of an id.
func (n *Naive) definition(d *event.Define) (id identity.ID, r rules) {
	r = n.refuses(d)
	id = derivedID(n.kernelID(), uint64(len(n.agents)+1))
	if d.ID != "" {
		for i, digits := range strings.Split(d.ID, "-") {
			r.must(len(digits) == [...]int{8, 4, 4, 4, 12, 0}[min(i, 5)], failure.InvalidArgument)
		}
		if len(d.ID) != 36 {
			return id, append(r, failure.InvalidArgument)
		}
		id = parseHex(d.ID)
	}
	r.must(n.find(IDOf(id)) == nil, failure.AlreadyExists)
	return id, r
}

// add makes an agent, DEFINED.
func (n *Naive) add(d *event.Define, id identity.ID) *agent {
	a := &agent{
		no: uint32(len(n.agents) + 1), id: id, name: d.Name, evaluator: evaluatorOf(d), service: d.Mode == "service",
		program: d.Program, teardown: d.Teardown, grants: d.Grants, maxDepth: d.MaxDepth, ttl: d.TTLMillis,
		retries: make(map[uint64]uint32), memory: make(map[string]stored), env: value.EmptyMap,
	}
	if a.maxDepth == 0 {
		a.maxDepth = n.config.MaxDepth
	}
	if len(d.Env) > 0 {
		env := make(map[string]value.Raw)
		for k, v := range d.Env {
			env[k] = textOf(v)
		}
		a.env = object(env)
	}
	n.agents = append(n.agents, a)
	return a
}

func (n *Naive) define(d *event.Define) Answer {
	id, r := n.definition(d)
	if len(r) > 0 {
		return Answer{Refusals: r}
	}
	a := n.add(d, id)
	return Answer{Agent: &a.id, State: a.state}
}

// start is define, spawn and activate: all of it or nothing.
func (n *Naive) start(s *event.Start) Answer {
	id, r := n.definition(&s.Define)
	r.must(len(s.Define.Program) > 0, failure.NoInstruction)
	r.must(n.good(s.Input), failure.InvalidValue)
	r.must(goodReason(s.Reason), failure.InvalidArgument)
	r.must(n.alive() < int(n.config.GlobalQueue), failure.QueueFull)
	if len(r) > 0 {
		return Answer{Refusals: r}
	}
	a := n.add(&s.Define, id)
	n.root(a)
	a.instructions = []instruction{{a.program, orNull(s.Input)}}
	n.activate(a, lifecycle.Activate)
	return Answer{Agent: &a.id, State: a.state}
}

// root spawns an agent that nobody delegated to (DE-1).
func (n *Naive) root(a *agent) {
	a.depth = a.maxDepth
	if a.ttl > 0 {
		a.expires = n.clock + a.ttl
	}
	n.spawn(a)
}

// spawn is row 1: the token, its end, a place.
func (n *Naive) spawn(a *agent) {
	a.token = true
	a.move(lifecycle.Spawned, lifecycle.Spawn, "")
	if a.expires > 0 {
		n.alarm(a, timers.TokenOver, a.expires-n.clock, 0)
	}
}

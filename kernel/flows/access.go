package flows

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Access is what a request wants to do, in the words of roles' grants (AU-5).
type Access struct {
	Action   string
	Resource string
}

// Nothing stands in a resource for what a command leaves out, or what cannot be told
// because there is no such thing.
const Nothing = "_"

// access says what one kind of command wants: how its body is read, and the action
// and resource that it comes to.
type access struct {
	read func(raw []byte) (any, bool)
	of   func(s *state.State, body any) Access
}

// want makes a line of the table.
func want[T any](of func(s *state.State, c *T) Access) access {
	return access{
		read: func(raw []byte) (any, bool) {
			c, ok := event.DecodeBody[T](raw)
			return c, ok
		},
		of: func(s *state.State, body any) Access { return of(s, body.(*T)) },
	}
}

// onAgent makes the line of a command about one agent that there is.
func onAgent[T any](action string, id func(c *T) string) access {
	return want(func(s *state.State, c *T) Access { return Access{action, AgentResource(s, id(c))} })
}

// named makes the line of a command about something that has a name.
func named[T any](action string, of func(c *T) string) access {
	return want(func(_ *state.State, c *T) Access { return Access{action, segment(of(c))} })
}

// accesses is the table of what commands want, by kind: every command there is has a
// line, and a kind without one is denied to everybody.
var accesses = map[event.Kind]access{
	event.AgentDefine: want(func(_ *state.State, c *event.Define) Access { return Access{"agent.define", newAgent(c)} }),
	event.AgentStart:  want(func(_ *state.State, c *event.Start) Access { return Access{"agent.start", newAgent(&c.Define)} }),
	event.AgentFork:   onAgent("agent.fork", func(c *event.Fork) string { return c.Source }), // and agent.define for what it makes: AuthorizeCommand
	event.AgentTrigger: want(func(s *state.State, c *event.Trigger) Access {
		action := "agent.trigger"
		if trigger, ok := lifecycle.ParseTrigger(c.Trigger); ok {
			action = "agent." + trigger.String()
		}
		return Access{action, AgentResource(s, c.Agent)}
	}),
	event.AgentKill:       onAgent("agent.kill", func(c *event.Kill) string { return c.Agent }),
	event.AgentSubmit:     onAgent("agent.submit", func(c *event.Submit) string { return c.Agent }),
	event.AgentSend:       onAgent("agent.send", func(c *event.Send) string { return c.Agent }),
	event.AgentReclassify: onAgent("agent.reclassify", func(c *event.Reclassify) string { return c.Agent }),
	event.TokenRevoke:     onAgent("agent.revoke", func(c *event.RevokeToken) string { return c.Agent }),
	event.GrantRevoke:     onAgent("agent.revoke", func(c *event.RevokeGrant) string { return c.Agent }),
	event.BudgetSet:       onAgent("agent.budget", func(c *event.SetBudget) string { return c.Agent }),
	event.EscalationDecide: want(func(s *state.State, c *event.Decide) Access {
		return Access{"escalation.decide", EscalationResource(s, c.Escalation)}
	}),
	event.TaskAnswer: onAgent("task.answer", func(c *event.AnswerTask) string { return c.Agent }),

	event.SharedPut: want(func(_ *state.State, c *event.PutShared) Access {
		return Access{"shared.write", SharedResource(c.Namespace, c.Key)}
	}),
	event.SharedDelete: want(func(_ *state.State, c *event.DeleteShared) Access {
		return Access{"shared.write", SharedResource(c.Namespace, c.Key)}
	}),

	event.RunPlan:   want(func(_ *state.State, c *event.PlanRun) Access { return Access{"run.plan", newAgent(&c.Agent)} }),
	event.RunStart:  onAgent("run.start", func(c *event.StartRun) string { return c.Run }),
	event.RunPause:  onAgent("run.pause", func(c *event.PauseRun) string { return c.Run }),
	event.RunResume: onAgent("run.resume", func(c *event.ResumeRun) string { return c.Run }),
	event.RunKill:   onAgent("run.kill", func(c *event.KillRun) string { return c.Run }),

	event.ToolRegister:   named("tool.register", func(c *event.RegisterTool) string { return c.Manifest.Name }),
	event.ToolDeregister: named("tool.deregister", func(c *event.DeregisterTool) string { return c.Name }),

	event.LogArchive:    want(func(*state.State, *event.ArchiveLog) Access { return Access{"log.archive", Nothing} }),
	event.KernelSuspend: want(func(*state.State, *event.SuspendKernel) Access { return Access{"cluster.suspend", Nothing} }),
	event.KernelResume:  want(func(*state.State, *event.ResumeKernel) Access { return Access{"cluster.resume", Nothing} }),

	event.OperatorOrder: want(func(_ *state.State, c *event.Order) Access { return Access{c.Action, c.Resource} }),

	event.AuthBootstrap:   want(func(*state.State, *event.BootstrapAuth) Access { return Access{"auth.bootstrap", Nothing} }),
	event.PrincipalPut:    named("auth.principal", func(c *event.PutPrincipal) string { return c.Name }),
	event.PrincipalDelete: named("auth.principal", func(c *event.DeletePrincipal) string { return c.Name }),
	event.RolePut:         named("auth.role", func(c *event.PutRole) string { return c.Name }),
	event.RoleDelete:      named("auth.role", func(c *event.DeleteRole) string { return c.Name }),
	event.CredentialPut:   named("auth.token", func(c *event.PutCredential) string { return c.Principal }),
	event.CredentialRevoke: want(func(s *state.State, c *event.RevokeCredential) Access {
		if row := s.Principals.Credential(c.ID); row != nil && row.Principal != "" {
			return Access{"auth.token", segment(row.Principal)}
		}
		return Access{"auth.token", Nothing}
	}),
}

// AccessOf says what a command wants; body points to the body of its kind.
func AccessOf(s *state.State, kind event.Kind, body any) (Access, bool) {
	line, ok := accesses[kind]
	if !ok {
		return Access{}, false
	}
	return line.of(s, body), true
}

// ReadCommand reads a command's body, for AccessOf; false when it does not decode or
// the kind is no command.
func ReadCommand(e *event.Event) (any, bool) {
	line, ok := accesses[e.Kind]
	if !ok {
		return nil, false
	}
	return line.read(e.Body)
}

// AgentResource is the resource of an agent that there is: its name and its id. One
// without a name, or that is not there, has Nothing instead.
func AgentResource(s *state.State, id string) string {
	uuid, ok := ParseID(id)
	if !ok {
		return Nothing + "/" + Nothing
	}
	_, row := s.Find(uuid)
	if row == nil {
		return Nothing + "/" + FormatID(uuid)
	}
	return rowResource(&row.Identity)
}

func rowResource(r *identity.Row) string { return segment(r.Name) + "/" + FormatID(r.ID) }

// EscalationResource is the resource of the agent whose request waits for a decision.
func EscalationResource(s *state.State, number uint64) string {
	if e, ok := s.Escalations.Get(number); ok {
		if row := s.Agents.Get(e.Agent); row != nil {
			return rowResource(&row.Identity)
		}
	}
	return Nothing + "/" + Nothing
}

// SharedResource is the resource of a key of shared memory, as agents' grants have it.
func SharedResource(namespace, key string) string {
	if memory.CheckNamespace(namespace) != "" || memory.CheckKey(key) != "" {
		return Nothing + "/" + Nothing
	}
	return namespace + "/" + key
}

// newAgent is the resource of an agent that is to be made.
func newAgent(c *event.Define) string {
	if _, ok := ParseID(c.ID); !ok {
		return segment(c.Name) + "/" + Nothing
	}
	return segment(c.Name) + "/" + c.ID
}

// segment makes one segment of a resource out of a name: what would be another
// segment, or a wildcard, is escaped.
func segment(s string) string {
	switch {
	case s == "":
		return Nothing
	case !strings.ContainsAny(s, "/%*"):
		return s
	}
	s = strings.ReplaceAll(s, "%", "%25")
	return strings.ReplaceAll(strings.ReplaceAll(s, "/", "%2F"), "*", "%2A")
}

// Named is the resource of something that has a name.
func Named(name string) string { return segment(name) }

// Authorize says whether whoever is in an event may ask for it (AU-3 … AU-5); nil if
// so. body is what ReadCommand gave. A node may change who may do what, so that a
// cluster whose administrators have all lost their tokens is not lost (AU-8); of
// everything else it proposes only what is no command.
func Authorize(s *state.State, e *event.Event, body any) *failure.Refusal {
	if !s.Principals.On() {
		return nil
	}
	caller := principals.ParseCaller(e.Principal)
	if !e.Kind.IsCommand() {
		if caller.Node() || caller.Survivor() && e.Kind == event.LeaderStarted {
			return nil
		}
		return principals.Forbidden(caller.Name, "cluster.propose", e.Kind.String(), "only nodes propose it")
	}
	return AuthorizeCommand(s, caller, e.Kind, body)
}

// AuthorizeCommand is Authorize for a command of which the body is at hand.
func AuthorizeCommand(s *state.State, caller principals.Caller, kind event.Kind, body any) *failure.Refusal {
	if !s.Principals.On() {
		return nil
	}
	wanted, ok := AccessOf(s, kind, body)
	if !ok {
		return principals.Forbidden(caller.Name, "unknown", kind.String(), "")
	}
	refusal := AuthorizeAccess(s, caller, wanted, s.Clock)
	if fork, ok := body.(*event.Fork); ok && refusal == nil { // it makes an agent, too
		refusal = AuthorizeAccess(s, caller, Access{"agent.define", newAgent(&fork.Define)}, s.Clock)
	}
	return refusal
}

// AuthorizeAccess says whether somebody may do what it wants in a state, at nowMillis;
// nil if so.
func AuthorizeAccess(s *state.State, caller principals.Caller, wanted Access, nowMillis int64) *failure.Refusal {
	if !s.Principals.On() {
		return nil
	}
	if refusal := s.Principals.Admit(caller, nowMillis); refusal != nil {
		return refusal
	}
	if caller.Node() {
		if strings.HasPrefix(wanted.Action, "auth.") {
			return nil
		}
		return principals.Forbidden(caller.Name, wanted.Action, wanted.Resource, "a node's certificate is for repairing who may do what, and for nothing else")
	}
	return s.Principals.May(caller.Name, wanted.Action, wanted.Resource, nowMillis)
}

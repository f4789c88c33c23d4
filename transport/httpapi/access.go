package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// access is what a route wants, in the words of roles' grants (AU-5). A route that the
// table does not have is denied to everybody, and fails a test.
type access struct {
	rule     rule
	action   string
	resource func(s *state.State, r *http.Request) string // nil: flows.Nothing
}

// rule says how a route is judged.
type rule uint8

const (
	denied    rule = iota
	open           // by nobody: whether the node lives, and what the API is
	anybody        // whoever has a credential that is in force
	byCommand      // as anybody, and each command by the kernel's own table, when it is decoded
	byAction       // by the action and the resource
	byOrder        // as byCommand, of an order that is judged when its body is read; and as byNode
	byNode         // … and they are the node's own: where nobody can tell who may, whoever is on its machine
)

// of says what a request wants.
func (a *access) of(s *state.State, r *http.Request) flows.Access {
	wanted := flows.Access{Action: a.action, Resource: flows.Nothing}
	if a.resource != nil {
		wanted.Resource = a.resource(s, r)
	}
	return wanted
}

func to(action string) access { return access{rule: byAction, action: action} }

func on(action string, resource func(s *state.State, r *http.Request) string) access {
	return access{rule: byAction, action: action, resource: resource}
}

// agentInPath is the agent that the address names.
func agentInPath(s *state.State, r *http.Request) string {
	return flows.AgentResource(s, r.PathValue("id"))
}

// subjectOf is the one agent, or the one run, that the query names.
func subjectOf(s *state.State, r *http.Request) string {
	query := r.URL.Query()
	agent, run := query.Get("agent"), query.Get("run")
	switch {
	case agent != "" && run == "":
		return flows.AgentResource(s, agent)
	case run != "" && agent == "":
		return flows.AgentResource(s, run)
	}
	return flows.Nothing
}

func sharedList(_ *state.State, r *http.Request) string {
	return flows.SharedResource(r.PathValue("namespace"), flows.Nothing)
}

func sharedKey(_ *state.State, r *http.Request) string {
	return flows.SharedResource(r.PathValue("namespace"), r.URL.Query().Get("key"))
}

func nameInPath(_ *state.State, r *http.Request) string { return flows.Named(r.PathValue("name")) }

func escalationInPath(s *state.State, r *http.Request) string {
	number, e := inAddress("escalation", r.PathValue("escalation"), 1, mostSeq)
	if e != nil {
		return flows.Nothing + "/" + flows.Nothing
	}
	return flows.EscalationResource(s, number)
}

func taskInPath(s *state.State, r *http.Request) string {
	id, ok := parseTask(r.PathValue("task"))
	if !ok {
		return flows.Nothing + "/" + flows.Nothing
	}
	return flows.AgentResource(s, flows.FormatID(id.agent))
}

// accesses is the table, by the ids of routes.
func (s *Server) accesses() map[string]access {
	thisNode := func(action string) access {
		return access{rule: byNode, action: action, resource: func(*state.State, *http.Request) string { return flows.Named(s.node.ID()) }}
	}
	lease := on("worker.work", func(_ *state.State, r *http.Request) string { return s.toolOfLease(r.PathValue("lease")) })
	table := map[string]access{
		"healthz": {rule: open}, "readyz": {rule: open},
		"open-session": {rule: anybody}, "auth-whoami": {rule: anybody},

		"get-agent": on("agent.read", agentInPath), "get-history": on("agent.read", agentInPath), "get-tree": on("agent.read", agentInPath),
		"get-faults": on("agent.read", agentInPath), "list-memory": on("agent.read", agentInPath), "get-memory": on("agent.read", agentInPath),
		"explain-permission": on("agent.read", agentInPath), "export-agent": on("agent.read", agentInPath),
		"list-agents": to("agent.list"), "list-tokens": to("agent.list"), "get-token": {rule: anybody}, // and the agent that holds it: getToken
		"get-run": on("run.read", agentInPath), "export-ledger": on("run.read", agentInPath), "list-runs": to("run.list"),
		"get-log": on("log.read", subjectOf), "watch-log": on("log.read", subjectOf),
		"list-segments": to("log.read"), "prove-record": to("log.read"), "export-log": to("log.read"), "get-audit": to("log.read"),
		"backup":      to("backup.create"),
		"list-shared": on("shared.read", sharedList), "get-shared": on("shared.read", sharedKey),
		"list-tools": to("tool.read"), "get-tool": on("tool.read", nameInPath),
		"list-escalations": on("escalation.read", subjectOf), "get-escalation": on("escalation.read", escalationInPath),
		"list-tasks": on("task.read", subjectOf), "get-task": on("task.read", taskInPath),

		"list-work": to("worker.read"), "poll-work": {rule: anybody}, // and each tool that it asks for: pollWork
		"heartbeat": lease, "complete-call": lease, "fail-call": lease,

		"cluster-status": {rule: byNode, action: "cluster.read"}, "transfer-leadership": {rule: byNode, action: "cluster.transfer"},
		"list-members": {rule: byNode, action: "cluster.read"}, "add-member": {rule: byOrder}, "promote-member": {rule: byOrder},
		"demote-member": {rule: byOrder}, "remove-member": {rule: byOrder},
		"node-state": thisNode("node.read"), "node-journal": thisNode("node.read"),
		"pause-node": thisNode("node.pause"), "estop-node": thisNode("node.estop"), "resume-node": thisNode("node.resume"), "restart-node": thisNode("node.restart"),

		"metrics": {rule: byNode, action: "metrics.read"},

		"auth-status": {rule: open}, // whether authorization is on: a client must be told before it has a token
		"list-roles":  to("auth.read"), "get-role": on("auth.read", nameInPath), "list-principals": to("auth.read"),
		"get-principal": on("auth.read", nameInPath), "list-credentials": to("auth.read"),
	}
	for _, id := range [...]string{
		"define-agent", "start-agent", "trigger-agent", "kill-agent", "submit-instruction", "send-message", "reclassify-fault", "revoke-token", "revoke-grant",
		"set-budget", "decide-escalation", "put-shared", "delete-shared", "archive-log", "fork-agent", "suspend-kernel", "resume-kernel", "batch",
		"plan-run", "start-run", "pause-run", "resume-run", "kill-run", "register-tool", "deregister-tool", "complete-task", "reject-task",
		"put-principal", "delete-principal", "put-role", "delete-role", "create-credential", "revoke-credential",
	} {
		table[id] = access{rule: byCommand}
	}
	table["bootstrap-auth"] = access{rule: open} // the kernel takes one, ever
	return table
}

// toolOfLease is the tool of the call that a lease is of.
func (s *Server) toolOfLease(lease string) string { return flows.Named(s.node.Lending().ToolOf(lease)) }

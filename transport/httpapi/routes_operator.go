package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

// operatorCommands are what operators do to agents, tokens, grants, requests
// and shared memory.
func (s *Server) operatorCommands() []*route {
	post := func(path, id, summary, about string, making making) *route {
		return &route{
			method: http.MethodPost, path: kernelPath + path, id: id, tag: "commands", summary: summary, about: about,
			command: true, status: http.StatusOK, answer: typeOf[api.Done](), handle: s.command(http.StatusOK, api.MaxBodyBytes, making),
		}
	}
	send := post("/agents/{id}/messages", "send-message", "Put a message into an agent's mailbox",
		"An agent that waits for one gets it at once.", s.makeSend)
	send.body, send.noBody = typeOf[api.SendBody](), true
	reclassify := post("/agents/{id}/reclassify", "reclassify-fault", "Call a FAULTED agent's PERMANENT fault TRANSIENT",
		"After that it can be recovered.", s.makeReclassify)
	reclassify.body = typeOf[api.ReclassifyBody]()
	revoke := post("/tokens/{token}/revoke", "revoke-token", "Revoke an agent's token, and with it everything below the agent",
		"The address names the token or the agent that holds it.", s.makeRevokeToken)
	revoke.body, revoke.noBody = typeOf[api.RevokeBody](), true
	grant := post("/agents/{id}/grants/{grant}/revoke", "revoke-grant", "Take one ALLOW away from an agent, and from whatever was delegated from it",
		"Grants keep their positions.", s.makeRevokeGrant)
	grant.body, grant.noBody = typeOf[api.RevokeBody](), true
	budget := post("/agents/{id}/budget", "set-budget", "Give the account that an agent holds other limits",
		"What is left out stays as it is; 0 takes a limit away. None may be below what is spent and reserved. Calls that wait for room are looked at again.", s.makeSetBudget)
	budget.body = typeOf[api.BudgetBody]()
	decide := post("/escalations/{escalation}/decide", "decide-escalation", "Approve or deny a request that waits for a decision",
		"An approval is judged again under the grants of the moment.", s.makeDecide)
	decide.body = typeOf[api.DecideBody]()
	put := post("/shared/{namespace}/put", "put-shared", "Write one key of shared memory",
		"With version it is a compare-and-set. The answer tells the version that the key got.", s.makePutShared)
	put.body = typeOf[api.PutBody]()
	remove := post("/shared/{namespace}/delete", "delete-shared", "Delete one key of shared memory",
		"With version it is a compare-and-set.", s.makeDeleteShared)
	remove.body = typeOf[api.DeleteBody]()
	archive := post("/log/archive", "archive-log", "Move what no living agent needs of the log's oldest segments to the archive",
		"Which blocks move is a function of the state at this event, the same on every node; their digests stay, so the chain still verifies.", s.makeArchive)
	archive.body, archive.noBody = typeOf[api.ArchiveBody](), true
	fork := post("/agents/{id}/fork", "fork-agent", "Make a new agent that starts from a recorded point of this one's history",
		"It has the programs, the memory, the messages and the tick of that point, with the results on record; what was open then is asked for anew, under its own grants. The source is left as it is.", s.makeFork)
	fork.body, fork.status = typeOf[api.ForkBody](), http.StatusCreated
	fork.handle = s.command(http.StatusCreated, api.MaxBodyBytes, s.makeFork)
	suspend := post("/suspend", "suspend-kernel", "The emergency stop of the whole cluster",
		"From this event on no tick runs, no deadline rings and no call is dispatched, and whatever starts or advances work is refused with KERNEL_SUSPENDED, until it is resumed. What ends or limits is taken: kill, suspend, expire, abandon, revoke, deny, archive. Calls that are under way end, and their results are kept.", s.makeSuspend)
	suspend.body = typeOf[api.SuspendKernelBody]()
	resume := post("/resume", "resume-kernel", "The end of the emergency stop",
		"Ticks that waited run, and deadlines that have passed ring after them.", s.makeResume)
	resume.body, resume.noBody = typeOf[api.ResumeKernelBody](), true
	return []*route{fork, send, reclassify, revoke, grant, budget, decide, put, remove, archive, suspend, resume, s.batchRoute()}
}

func (s *Server) batchRoute() *route {
	return &route{
		method: http.MethodPost, path: kernelPath + "/batch", id: "batch", tag: "commands",
		summary: "Send many commands", about: "They are proposed in order, each as its own log entry with its own outcome. With a session, each has its own sequence in the body.",
		body: typeOf[api.Batch](), status: http.StatusOK, answer: typeOf[api.BatchDone](), handle: s.batch,
	}
}

var (
	keyParam    = parameter{name: "key", about: "the key, 1 to 256 bytes", schema: "string"}
	prefixParam = parameter{name: "prefix", about: "only keys that begin with these segments", schema: "string"}
	afterKey    = parameter{name: "after", about: "the key to start after", schema: "string"}
	afterAgent  = parameter{name: "after", about: "id of the agent to start after", schema: "string"}
)

// memoryReads show what is stored.
func (s *Server) memoryReads() []*route {
	return []*route{
		s.reader(&route{
			path: kernelPath + "/agents/{id}/memory", id: "list-memory", tag: "reads", summary: "Keys of an agent's persistent memory",
			query: with(prefixParam, afterKey, limitParam), answer: typeOf[api.MemoryPage](),
		}, s.listMemory),
		s.reader(&route{
			path: kernelPath + "/agents/{id}/memory/value", id: "get-memory", tag: "reads", summary: "One value of an agent's persistent memory",
			query: with(keyParam), answer: typeOf[api.MemoryValue](),
		}, s.getMemoryValue),
		s.reader(&route{
			path: kernelPath + "/shared/{namespace}", id: "list-shared", tag: "reads", summary: "Keys of a namespace of shared memory",
			query: with(prefixParam, afterKey, limitParam), answer: typeOf[api.MemoryPage](),
		}, s.listShared),
		s.reader(&route{
			path: kernelPath + "/shared/{namespace}/value", id: "get-shared", tag: "reads", summary: "One value of shared memory",
			query: with(keyParam), answer: typeOf[api.MemoryValue](),
		}, s.getSharedValue),
	}
}

// authorityReads show who may do what, on whose account, and what went wrong.
func (s *Server) authorityReads() []*route {
	return []*route{
		s.reader(&route{
			path: kernelPath + "/agents/{id}/permission", id: "explain-permission", tag: "reads", summary: "May the agent do this, and why?",
			about: "What the kernel would answer now: the agent's own grants, then those of everybody above it; the strictest answer holds.",
			query: with(
				parameter{name: "action", about: "such as tool.call or shared.write", schema: "string"},
				parameter{name: "resource", about: "such as http.request/GET/api.example.com/v1, self/notes, NAMESPACE/key", schema: "string"},
			),
			answer: typeOf[api.Explanation](),
		}, s.explain),
		s.reader(&route{
			path: kernelPath + "/escalations", id: "list-escalations", tag: "reads", summary: "Requests that wait for a decision, oldest first",
			query:  with(agentParam, parameter{name: "after", about: "number of the escalation to start after", schema: "integer"}, limitParam),
			answer: typeOf[api.EscalationPage](),
		}, s.listEscalations),
		s.reader(&route{
			path: kernelPath + "/escalations/{escalation}", id: "get-escalation", tag: "reads", summary: "One request that waits for a decision",
			query: with(), answer: typeOf[api.EscalationAnswer](),
		}, s.getEscalation),
		s.reader(&route{
			path: kernelPath + "/agents/{id}/tree", id: "get-tree", tag: "reads", summary: "An agent and everything below it, depth first",
			query: with(afterAgent, limitParam), answer: typeOf[api.TreePage](),
		}, s.getTree),
		s.reader(&route{
			path: kernelPath + "/tokens", id: "list-tokens", tag: "reads", summary: "Tokens, in order of their agents' ids",
			about: "A page may be short, even empty, and still have a next.",
			query: with(parameter{name: "in_force", about: "true: only those that are, of agents that have not ended", schema: "boolean"}, afterAgent, limitParam), answer: typeOf[api.TokenPage](),
		}, s.listTokens),
		s.reader(&route{
			path: kernelPath + "/tokens/{token}", id: "get-token", tag: "reads", summary: "One token, with its grants",
			about: "The address names the token or the agent that holds it.",
			query: with(), answer: typeOf[api.TokenAnswer](),
		}, s.getToken),
		s.reader(&route{
			path: kernelPath + "/agents/{id}/faults", id: "get-faults", tag: "reads", summary: "What went wrong with an agent, and what was done about it",
			query: with(parameter{name: "from", about: "lowest busSeq wanted", schema: "integer"}, limitParam), answer: typeOf[api.FaultPage](),
		}, s.getFaults),
		s.reader(&route{
			path: kernelPath + "/audit", id: "get-audit", tag: "reads", summary: "The newest breaches of invariants",
			query: with(limitParam), answer: typeOf[api.AuditPage](),
		}, s.getAudit),
	}
}

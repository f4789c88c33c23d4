package httpapi

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
)

// route is one line of the table: what the handler needs to know of it, and
// what the document says.
type route struct {
	method, path string
	id, summary  string
	about        string
	tag          string
	query        []parameter
	command      bool         // takes the headers of a command
	body         reflect.Type // nil when there is none
	noBody       bool         // the body may be left out
	status       int          // of the answer that was asked for
	answer       reflect.Type // of its JSON; nil for a stream
	contentType  string       // of a stream

	handle http.HandlerFunc
}

// parameter of the query.
type parameter struct {
	name, about string
	schema      string   // integer, string, boolean
	words       []string // the values that there are
	many        bool     // may be repeated
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// The parameters of reads (CL-4), and of pages.
var (
	consistencyParams = []parameter{
		{name: "consistency", about: "how fresh the answer must be; linearizable when it is not given", schema: "string", words: api.Levels[:]},
		{name: "min_index", about: "wait until this Raft index is applied", schema: "integer"},
		{name: "max_lag_ms", about: "with stale: refuse when the node may be further behind the leader", schema: "integer"},
	}
	limitParam = parameter{name: "limit", about: "how many, 1 to 1,000; 100 when it is not given", schema: "integer"}
	agentParam = parameter{name: "agent", about: "only what names this agent", schema: "string"}
	runParam   = parameter{name: "run", about: "only what is this run's: its agents' records, and the events that they came of", schema: "string"}
	notesParam = parameter{name: "notes", about: "whether records come with notes: what their numbers stand for, where the node finds it", schema: "boolean"}
)

func with(params ...parameter) []parameter {
	return append(append([]parameter(nil), params...), consistencyParams...)
}

const kernelPath = "/v1/kernels/{kernel}"

// table is every route there is.
func (s *Server) table() []*route {
	return slices.Concat(
		s.commandRoutes(), s.operatorCommands(), s.runRoutes(), s.toolRoutes(), s.workerRoutes(), s.taskRoutes(), s.readRoutes(), s.memoryReads(), s.authorityReads(), s.clusterRoutes(), s.memberRoutes(), s.nodeRoutes(), s.orderRoutes(), s.metricsRoutes(), s.authRoutes(),
	)
}

func (s *Server) commandRoutes() []*route {
	return []*route{
		{
			method: http.MethodPost, path: kernelPath + "/sessions", id: "open-session", tag: "commands",
			summary: "Get a session id", about: "Makes no log entry. The session opens with its first command, which must come within five minutes of kernel time.",
			noBody: true, status: http.StatusCreated, answer: typeOf[api.Session](), handle: s.mintSession,
		},
		{
			method: http.MethodPost, path: kernelPath + "/agents", id: "define-agent", tag: "commands",
			summary: "Define an agent", about: "The agent exists from then on, DEFINED.",
			command: true, body: typeOf[event.Define](), status: http.StatusCreated, answer: typeOf[api.Done](),
			handle: s.command(http.StatusCreated, api.MaxBodyBytes, s.makeDefine),
		},
		{
			method: http.MethodPost, path: kernelPath + "/agents/start", id: "start-agent", tag: "commands",
			summary: "Define, spawn and activate an agent", about: "One command: all of it or nothing.",
			command: true, body: typeOf[event.Start](), status: http.StatusCreated, answer: typeOf[api.Done](),
			handle: s.command(http.StatusCreated, api.MaxBodyBytes, s.makeStart),
		},
		{
			method: http.MethodPost, path: kernelPath + "/agents/{id}/triggers/{trigger}", id: "trigger-agent", tag: "commands",
			summary: "Cause one transition of an agent", about: "A client may cause spawn, activate, suspend, resume, expire, recover and abandon, each where the lifecycle table has a row for it.",
			command: true, body: typeOf[api.TriggerBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.Done](),
			handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeTrigger),
		},
		{
			method: http.MethodPost, path: kernelPath + "/agents/{id}/kill", id: "kill-agent", tag: "commands",
			summary: "End an agent whatever it is doing",
			command: true, body: typeOf[api.KillBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.Done](),
			handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeKill),
		},
		{
			method: http.MethodPost, path: kernelPath + "/agents/{id}/instructions", id: "submit-instruction", tag: "commands",
			summary: "Add an instruction to an agent's queue",
			command: true, body: typeOf[api.SubmitBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.Done](),
			handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeSubmit),
		},
	}
}

func (s *Server) readRoutes() []*route {
	routes := []*route{
		s.reader(&route{
			path: kernelPath + "/agents/{id}", id: "get-agent", tag: "reads", summary: "One agent",
			query: with(), answer: typeOf[api.Agent](),
		}, s.getAgent),
		s.reader(&route{
			path: kernelPath + "/agents", id: "list-agents", tag: "reads", summary: "Agents, in order of their ids",
			about: "A page may be short, even empty, and still have a next.",
			query: with(
				parameter{name: "state", about: "only agents in this lifecycle state", schema: "string"},
				parameter{name: "label", about: "key=value; only agents with this label; may be repeated", schema: "string", many: true},
				parameter{name: "after", about: "id of the agent to start after", schema: "string"},
				limitParam,
			),
			answer: typeOf[api.AgentPage](),
		}, s.listAgents),
		s.reader(&route{
			path: kernelPath + "/agents/{id}/history", id: "get-history", tag: "reads", summary: "An agent's transitions, oldest first",
			query:  with(parameter{name: "from", about: "lowest busSeq wanted", schema: "integer"}, limitParam),
			answer: typeOf[api.HistoryPage](),
		}, s.getHistory),
		s.reader(&route{
			path: kernelPath + "/log", id: "get-log", tag: "log", summary: "Records of the execution log, in order",
			query:  with(parameter{name: "from", about: "first busSeq wanted; 1 when it is not given", schema: "integer"}, agentParam, runParam, notesParam, limitParam),
			answer: typeOf[api.LogPage](),
		}, s.getLog),
		s.reader(&route{
			path: kernelPath + "/log/segments", id: "list-segments", tag: "log", summary: "The log's sealed segments",
			about:  "The manifest as this node's state has it: ranges and chain values, in order. Equal logs have equal manifests.",
			query:  with(parameter{name: "from", about: "only segments that end at this busSeq or later", schema: "integer"}, limitParam),
			answer: typeOf[api.LogSegments](),
		}, s.getSegments),
		s.reader(&route{
			path: kernelPath + "/log/proof", id: "prove-record", tag: "log", summary: "A proof that one record is in the log",
			about: "It is checked without a cluster: omni log check. A record is covered by the first Checkpoint after it, which comes within seconds.",
			query: with(parameter{name: "seq", about: "busSeq of the record", schema: "integer"}), answer: typeOf[logproof.Proof](),
		}, s.getProof),
	}
	return append(routes, s.streamRoutes()...)
}

// streamRoutes are the reads that answer with a stream.
func (s *Server) streamRoutes() []*route {
	watch := &route{
		method: http.MethodGet, path: kernelPath + "/watch", id: "watch-log", tag: "log", summary: "Records as they come",
		about: "Server-Sent Events: open once, then record with the busSeq as id; error ends the stream. Go on at any node with Last-Event-ID. Comments and ids without data are signs of life.",
		query: []parameter{
			{name: "from", about: "first busSeq wanted; the next record to come when it is not given", schema: "integer"},
			agentParam,
			runParam,
			{name: "kinds", about: "only these kinds of records, with commas between", schema: "string"},
			{name: "runs", about: "whether all records of agents that work for a run come, too, beside those of kinds", schema: "boolean"},
			notesParam,
		},
		status: http.StatusOK, contentType: "text/event-stream",
	}
	watch.handle = s.watch(watch)
	export := &route{
		method: http.MethodGet, path: kernelPath + "/log/export", id: "export-log", tag: "log", summary: "Blocks of the execution log, to be verified offline",
		query:  with(parameter{name: "from", about: "first busSeq wanted; 1 when it is not given", schema: "integer"}),
		status: http.StatusOK, contentType: logexport.ContentType,
	}
	export.handle = s.export(export)
	save := &route{
		method: http.MethodGet, path: kernelPath + "/backup", id: "backup", tag: "log", summary: "A backup: the state, and the whole log up to it",
		about: "One stream that is consistent, checksummed and complete, from any node that holds the log from its beginning; omni backup verify and restore read it.",
		query: with(), status: http.StatusOK, contentType: backup.ContentType,
	}
	save.handle = s.backup(save)
	agent := &route{
		method: http.MethodGet, path: kernelPath + "/agents/{id}/export", id: "export-agent", tag: "log", summary: "Blocks of one agent's history, to be replayed offline",
		about:  "The blocks that touch the agent, and those that hold the programs, grants and environments that its records name.",
		query:  with(),
		status: http.StatusOK, contentType: logexport.AgentContentType,
	}
	agent.handle = s.exportAgent(agent)
	ledger := &route{
		method: http.MethodGet, path: kernelPath + "/runs/{id}/ledger", id: "export-ledger", tag: "runs", summary: "A run's provenance ledger, to be verified and replayed offline",
		about:  "The blocks that touch the run's root agent or an agent below it, chained, and those that hold the programs, grants and environments that their records name.",
		query:  with(),
		status: http.StatusOK, contentType: logexport.LedgerContentType,
	}
	ledger.handle = s.exportRun(ledger)
	return []*route{watch, export, save, agent, ledger}
}

func (s *Server) clusterRoutes() []*route {
	return []*route{
		s.reader(&route{
			path: "/v1/cluster/status", id: "cluster-status", tag: "cluster", summary: "The cluster as this node sees it",
			query:  []parameter{{name: "alone", about: "true: only what the node says of itself; the others are not asked", schema: "boolean"}},
			answer: typeOf[api.Status](),
		}, s.getStatus),
		{
			method: http.MethodPost, path: "/v1/cluster/transfer", id: "transfer-leadership", tag: "cluster",
			summary: "Hand leadership over", body: typeOf[api.TransferBody](), noBody: true,
			status: http.StatusOK, answer: typeOf[api.Transferred](), handle: s.transfer,
		},
		{
			method: http.MethodGet, path: "/healthz", id: "healthz", tag: "cluster", summary: "Is the process able to do its part?",
			status: http.StatusOK, answer: typeOf[api.Health](), handle: s.healthz,
		},
		{
			method: http.MethodGet, path: "/readyz", id: "readyz", tag: "cluster", summary: "Is the node worth asking?",
			status: http.StatusOK, answer: typeOf[api.Health](), handle: s.readyz,
		},
	}
}

func (s *Server) reader(rt *route, handle reading) *route {
	rt.method, rt.status = http.MethodGet, http.StatusOK
	rt.handle = s.reads(rt, handle)
	return rt
}

package mcpserver

// catalog lists the tools, in the order of docs/mcp.md.
func catalog() []*tool {
	return []*tool{
		adding("agent_start", "Define an agent and let it run: all of it or nothing. Give a program (an instruction) or a script (Starlark). "+
			"It may do what its grants allow, and nothing else. With wait_ms the answer tells how it stands after that time, or as soon as it has come to rest.", startAgent),
		adding("agent_define", "Make an agent known without running it. Everything is checked as for agent_start.", defineAgent),
		reading("agent_list", "List agents, in order of their ids.", listAgents),
		reading("agent_get", "Everything about one agent now: its state, result or failure, what it waits for, budget, last transitions.", getAgent),
		reading("agent_wait", "Wait until an agent has come to rest: ended, faulted, a service with nothing to do, or in need of a decision about an escalation, or of an answer to a task. "+
			"When the time is over first, the answer says so and tells how it stands.", waitAgent),
		reading("agent_history", "An agent's transitions between lifecycle states, oldest first, each with its place in the log.", readHistory),
		reading("agent_tree", "An agent and all that it delegated to, parents before their children.", readTree),
		reading("agent_tools", "The tools that an agent's own grants speak of, with their effects, and the calls that it waits for.", readAgentTools),
		adding("agent_submit", "Add an instruction to a living agent's queue: a program or a script, or its own program once more with another input.", submitAgent),
		adding("agent_send", "Put a message into an agent's mailbox. It takes messages out with RECEIVE, oldest first.", sendAgent),
		changing("agent_suspend", "Hold an agent until agent_resume. One that waits for tools is held when it has their answers; with force those calls are withdrawn.", suspendAgent),
		changing("agent_resume", "Let a suspended agent go on.", resumeAgent),
		changing("agent_kill", "End an agent whatever it is doing, and all that it delegated to. It cannot be undone.", killAgent),

		reading("escalation_list", "Calls of agents that wait for somebody's decision, oldest first: who asks, for which tool, with which arguments.", listEscalations),
		changing("escalation_approve", "Let exactly this call through, once. Ask a person first.", approve),
		changing("escalation_deny", "Deny the call: the agent's program gets PERMISSION_DENIED and the reason.", deny),
		reading("task_list", "Calls of agents that wait for a person's answer, by agent: what is asked, with which arguments, and until when.", listTasks),
		changing("task_complete", "Answer such a call, for a person: the agent gets the answer as the tool's result. Ask the person first.", completeTask),
		changing("task_reject", "Say that nobody will answer: the agent's program gets TASK_REJECTED and the reason.", rejectTask),
		reading("permission_explain", "What the kernel would answer if an agent asked now for an action on a resource, and which grants say so.", explain),

		reading("run_list", "List runs: goals with a plan of tasks and an agent that carries it out.", listRuns),
		reading("run_get", "Everything about one run: its tasks and their results, its budget, why it is paused.", getRun),

		reading("tool_list", "List the tools that agents can call, by name. built_in names those that need no manifest.", listTools),
		reading("tool_get", "One registered tool with its manifest: what it takes and gives, what a call may cost.", getTool),
		changing("tool_call", "Call a tool of the cluster once. An agent is started that may do nothing else, so that the call is judged, budgeted and on record like every other.", callTool),

		reading("memory_list", "List the keys of an agent's memory, or of a namespace of shared memory.", listMemory),
		reading("memory_get", "One value of an agent's memory, or of shared memory.", getMemory),
		reading("log_read", "Records of the execution log from a place on, oldest first: all, or one agent's, or one run's.", readLog),
		reading("cluster_status", "Who leads, how each node is, and whether an emergency stop holds.", clusterStatus),
	}
}

// keyed is what every tool takes that changes something.
type keyed struct {
	Key string `json:"idempotency_key,omitempty" jsonschema:"makes the call one that takes effect once however often it is sent, for ten minutes: at most 256 printable ASCII characters. Repeat a call whose outcome is unknown with the same one"`
}

// paging is what every list takes.
type paging struct {
	Limit int `json:"limit,omitempty" jsonschema:"at most so many items, 20 when left out; a page may have fewer and still have a next" min:"1" max:"200"`
}

// limit is what to ask for.
func (p paging) limit() int {
	if p.Limit == 0 {
		return 20
	}
	return p.Limit
}

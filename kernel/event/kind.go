package event

// Kind numbers what an event asks for. Part of the log format: append only,
// never reuse (EV-2).
type Kind uint16

// The golden list of event kinds.
const (
	KernelBooted  Kind = 1 // the cluster's first event fixes its limits (EV-8)
	LeaderStarted Kind = 2 // first event of a term: what it applies is committed
	Pulse         Kind = 3 // nothing happened but time (EV-7)
	Checkpoint    Kind = 4 // the voters' chain values at one index (LO-3)

	ClusterRestored Kind = 5 // the state and its log belong to another cluster from here on (EV-17)
	KernelUpgraded  Kind = 6 // every node's binary knows the next kernel version: it holds from here on (EV-9)

	AgentDefine  Kind = 10
	AgentStart   Kind = 11 // define, spawn and activate in one
	AgentTrigger Kind = 12 // spawn, activate, suspend, resume, expire, recover, abandon …
	AgentKill    Kind = 13 // the composite of LC-4
	AgentSubmit  Kind = 14

	AgentSend        Kind = 15 // one message into the agent's mailbox
	AgentReclassify  Kind = 16 // an operator calls a fault TRANSIENT (FA-2)
	TokenRevoke      Kind = 17 // an agent's token, and with it its subtree (LC-10)
	GrantRevoke      Kind = 18 // one grant of an agent
	EscalationDecide Kind = 19 // an operator approves or denies (PE-3)

	ToolDispatched Kind = 20 // a runner is about to call (TO-4)
	ToolResult     Kind = 21 // … and this is what came of it (TO-2)

	SharedPut    Kind = 30 // an operator writes shared memory
	SharedDelete Kind = 31
	LogArchive   Kind = 32 // sealed segments keep only what living agents need (INV-07)
	AgentFork    Kind = 33 // a new agent that starts from a recorded point of another (LO-13)

	KernelSuspend Kind = 34 // the emergency stop of the whole cluster (NO-2)
	KernelResume  Kind = 35 // … and its end
	BudgetSet     Kind = 36 // an operator gives an agent's account other limits (RU-3)
	OperatorOrder Kind = 37 // what nodes are about to do in an operator's name, and the kernel does not (AU-10)

	RunPlan   Kind = 40 // a goal, a plan or who makes it, and the agent that carries it out (RU-1)
	RunStart  Kind = 41
	RunPause  Kind = 42
	RunResume Kind = 43
	RunKill   Kind = 44

	ToolRegister   Kind = 50 // a tool that programs can call from here on, or another revision of one (TO-9)
	ToolDeregister Kind = 51 // … and cannot any more
	TaskAnswer     Kind = 52 // a person answers a call that waits for one (TO-12)

	AuthBootstrap    Kind = 60 // from here on everybody is judged, and this is the first who may do everything (AU-2)
	PrincipalPut     Kind = 61
	PrincipalDelete  Kind = 62
	RolePut          Kind = 63
	RoleDelete       Kind = 64
	CredentialPut    Kind = 65 // a token, of which the hash is told
	CredentialRevoke Kind = 66
)

var kindNames = map[Kind]string{
	KernelBooted: "KERNEL_BOOTED", LeaderStarted: "LEADER_STARTED", Pulse: "PULSE", Checkpoint: "CHECKPOINT",
	ClusterRestored: "CLUSTER_RESTORED", KernelUpgraded: "KERNEL_UPGRADED",
	AgentDefine: "AGENT_DEFINE", AgentStart: "AGENT_START", AgentTrigger: "AGENT_TRIGGER", AgentKill: "AGENT_KILL",
	AgentSubmit: "AGENT_SUBMIT", AgentSend: "AGENT_SEND", AgentReclassify: "AGENT_RECLASSIFY", TokenRevoke: "TOKEN_REVOKE",
	GrantRevoke: "GRANT_REVOKE", EscalationDecide: "ESCALATION_DECIDE", SharedPut: "SHARED_PUT", SharedDelete: "SHARED_DELETE",
	LogArchive: "LOG_ARCHIVE", AgentFork: "AGENT_FORK", BudgetSet: "BUDGET_SET", OperatorOrder: "OPERATOR_ORDER",
	KernelSuspend: "KERNEL_SUSPEND", KernelResume: "KERNEL_RESUME",
	RunPlan: "RUN_PLAN", RunStart: "RUN_START", RunPause: "RUN_PAUSE", RunResume: "RUN_RESUME", RunKill: "RUN_KILL",
	ToolDispatched: "TOOL_DISPATCHED", ToolResult: "TOOL_RESULT", ToolRegister: "TOOL_REGISTER", ToolDeregister: "TOOL_DEREGISTER",
	TaskAnswer: "TASK_ANSWER", AuthBootstrap: "AUTH_BOOTSTRAP", PrincipalPut: "PRINCIPAL_PUT", PrincipalDelete: "PRINCIPAL_DELETE",
	RolePut: "ROLE_PUT", RoleDelete: "ROLE_DELETE", CredentialPut: "CREDENTIAL_PUT", CredentialRevoke: "CREDENTIAL_REVOKE",
}

// String names the kind.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return "UNKNOWN_EVENT"
}

// Known reports whether this binary can apply the kind.
func (k Kind) Known() bool {
	_, ok := kindNames[k]
	return ok
}

// since is the kernel version that brought a kind; those of version 1 are not here.
var since = map[Kind]uint32{
	OperatorOrder: 2,
	AuthBootstrap: 2, PrincipalPut: 2, PrincipalDelete: 2, RolePut: 2, RoleDelete: 2, CredentialPut: 2, CredentialRevoke: 2,
}

// Since is the kernel version from which on there are events of the kind (EV-9). A
// binary that does not know that version stops at one, so nobody proposes it before
// the cluster has come there. KernelUpgraded is what takes it there.
func (k Kind) Since() uint32 {
	if v, ok := since[k]; ok {
		return v
	}
	return 1
}

// IsAuth reports whether it is about who may do what.
func (k Kind) IsAuth() bool { return k >= AuthBootstrap && k <= lastCommand }

// lastCommand is the highest number that is kept for commands.
const lastCommand Kind = 69

// IsCommand reports whether a client sent it and is answered.
func (k Kind) IsCommand() bool {
	return k >= AgentDefine && k <= EscalationDecide || k >= SharedPut && k <= lastCommand
}

package bus

// Kind numbers what a record tells. Numbers are part of the log's format:
// append only, never reuse (EV-11). Gaps between groups leave room for
// neighbours.
type Kind uint16

// The golden list of record kinds.
const (
	// The log's own.
	Event        Kind = 1 // the committed event itself, first in every block
	Outcome      Kind = 2 // what the command's client was answered
	Duplicate    Kind = 3 // a command that was answered before
	KernelBooted Kind = 4
	Quarantine   Kind = 5 // an event that operators keep from running
	TreeHead     Kind = 6 // the root over all blocks before this one, at every Checkpoint
	LogArchived  Kind = 7 // sealed segments keep only what living agents need (INV-07)

	ClusterRestored Kind = 8 // a backup was restored: from here on it is another cluster's log (EV-17)
	KernelUpgraded  Kind = 9 // from here on the kernel behaves as its next version does (EV-9)

	// Interned bodies.
	Interned Kind = 10 // programs, grants, labels, environments gained a user
	Released Kind = 11 // … or lost one

	// Identity and lifecycle.
	AgentDefined      Kind = 20
	Lifecycle         Kind = 21 // LifecycleEvent: one transition
	InvalidTransition Kind = 22
	AgentArchived     Kind = 23 // a TERMINATED agent's row shrank to a tombstone
	FaultReclassified Kind = 24 // an operator calls a PERMANENT fault TRANSIENT (FA-2)
	RetryScheduled    Kind = 25 // a TRANSIENT fault will be recovered after its backoff (FA-1)
	SuspendRequested  Kind = 26 // a WAITING agent will be suspended right after row 7 (LC-13)
	SnapshotTaken     Kind = 27 // suspend: checksum over memory and the frozen tick (ME-3)
	SnapshotDropped   Kind = 28 // … verified by resume, or gone with the agent
	TeardownFailed    Kind = 29 // the agent ended without its teardown (LC-5): teardown_incomplete

	// Execution.
	InstructionQueued     Kind = 30
	TickScheduled         Kind = 31 // a place in the global queue was taken
	TickFrozen            Kind = 32 // … and given back because the agent left ACTIVE
	TickStarted           Kind = 33
	Step                  Kind = 34
	TickCompleted         Kind = 35
	TickPendingTool       Kind = 36
	TickPendingDelegation Kind = 37
	TickFailed            Kind = 38
	TickOverflow          Kind = 39
	ResultDelivered       Kind = 40 // the answer that a continuation tick will see
	TickRestored          Kind = 41 // recovery put the tick back to its checkpoint
	QueueReleased         Kind = 42 // a terminated agent's place and instructions were given back
	QueueAllocated        Kind = 43 // a spawned agent reserved its place in the global queue
	Emitted               Kind = 45 // a program's EMIT
	EventDelivered        Kind = 46 // an EscalationEvent that a parent's tick will see (PE-3)
	MessageQueued         Kind = 47 // a message entered the mailbox
	MessageTaken          Kind = 48 // … and left it
	ReceiveStarted        Kind = 49 // the agent waits for a message

	// Permissions.
	GrantsAssigned    Kind = 50
	Allow             Kind = 51
	Deny              Kind = 52
	Escalated         Kind = 53 // judged ESCALATE: the request waits for somebody's decision (PE-3)
	EscalationOffered Kind = 54 // … the parent's, whose program declares a handler
	EscalationDecided Kind = 55
	GrantRevoked      Kind = 56

	// Tools.
	CallRequested  Kind = 60 // an authorised external call entered the outbox
	CallDispatched Kind = 61 // a runner is about to call the adapter
	ActionExecuted Kind = 62
	ActionFailed   Kind = 63
	StaleResult    Kind = 64

	// Timers.
	TimerSet     Kind = 70
	TimerCleared Kind = 71

	// Delegation.
	TokenIssued        Kind = 80 // with the whole token
	TokenRevoked       Kind = 81 // … also when the revocation of an ancestor reached it
	ChildrenRevoked    Kind = 82 // every token below the agent is void (LC-10)
	DelegationAccepted Kind = 83
	DelegationRejected Kind = 84
	ChildResult        Kind = 85 // a child of a request is TERMINATED
	ChildFailure       Kind = 86 // … ChildFailureEvent, by a failure
	DelegationOver     Kind = 87 // a request has its answer, or nobody wants it any more
	ParentTerminated   Kind = 88 // ParentTerminatedEvent
	RequestCancelled   Kind = 89 // what still runs of a request is to end
	CascadeMoved       Kind = 90 // a cascade passed an agent that it does not concern, or is through

	// Memory.
	MemoryAccess   Kind = 100 // MemoryAccessEvent: every access, reads included (ME-1)
	MemoryRestored Kind = 101 // recovery put persistent memory back (FA-1)
	MemoryReleased Kind = 102

	// Audit.
	Audit            Kind = 110 // an invariant was about to be broken (FA-4)
	AgentLogWarning  Kind = 111 // the agent's part of the log has come to log_warn_bytes (LS-1)
	AgentLogExceeded Kind = 112 // … and to log_error_bytes: its ticks fail from here on

	// Forks: what an agent brings that starts from a recorded point (LO-13).
	Forked       Kind = 120 // … of whom, and of when
	TickForked   Kind = 121 // … the tick that was in progress, with the answers it had
	MemoryForked Kind = 122 // … its persistent memory

	// The emergency stop of the whole cluster (NO-2).
	KernelSuspended Kind = 130
	KernelResumed   Kind = 131
	// Budgets (RU-3).
	BudgetOpened   Kind = 160 // the agent holds an account
	BudgetChanged  Kind = 161 // an operator gave it other limits
	BudgetReserved Kind = 162 // a call may come to so much
	BudgetWaiting  Kind = 163 // a call waits until there is room for it
	BudgetBlocked  Kind = 164 // … and there is none yet
	BudgetSettled  Kind = 165 // a call came to so much
	BudgetOutlived Kind = 166 // nobody waits for a call any more that may have been made
	BudgetOverrun  Kind = 167 // a call came to more than it had declared
	BudgetWarning  Kind = 168 // a limit is used up so far
	BudgetExceeded Kind = 169 // … or beyond, or a call would be
	BudgetClock    Kind = 170 // the agent's time at work goes on, or stops
)

// Runs. Their records are the root agent's.
const (
	RunDefined           Kind = 140 // a run: what for, and who plans it
	RunPlanned           Kind = 141 // its tasks
	RunTransition        Kind = 142 // one edge of the run's state machine (RU-1)
	InvalidRunTransition Kind = 143 // … that was asked for and is none
	RunTaskStarted       Kind = 144
	RunTaskCompleted     Kind = 145
	RunTaskFailed        Kind = 146
	RunPauseRequested    Kind = 147 // a pause that takes effect when the running task has ended (RU-2)
	RunArchived          Kind = 148 // its row shrank to a tombstone, with its agent's
)

// The registry of tools (TO-9).
const (
	ToolRegistered   Kind = 180 // with the whole manifest: its busSeq is the revision
	ToolDeregistered Kind = 181
)

// Principals, roles and credentials (AU-1).
const (
	AuthBootstrapped     Kind = 200 // from here on everybody is judged
	PrincipalPut         Kind = 201
	PrincipalDeleted     Kind = 202 // … and its tokens with it
	RolePut              Kind = 203
	RoleDeleted          Kind = 204
	CredentialPut        Kind = 205
	CredentialRevoked    Kind = 206
	CredentialsForgotten Kind = 207 // that were over, to make room
	OperatorOrdered      Kind = 208 // what nodes do next in an operator's name (AU-10)
)

// Last is the highest number a kind may have; the routing table is an array
// of that length.
const Last = 223

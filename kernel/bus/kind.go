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

	// Interned bodies.
	Interned Kind = 10 // programs, grants, labels, environments gained a user
	Released Kind = 11 // … or lost one

	// Identity and lifecycle.
	AgentDefined      Kind = 20
	Lifecycle         Kind = 21 // LifecycleEvent: one transition
	InvalidTransition Kind = 22
	AgentArchived     Kind = 23 // a TERMINATED agent's row shrank to a tombstone

	// Execution.
	InstructionQueued Kind = 30
	TickScheduled     Kind = 31 // a place in the global queue was taken
	TickFrozen        Kind = 32 // … and given back because the agent left ACTIVE
	TickStarted       Kind = 33
	Step              Kind = 34
	TickCompleted     Kind = 35
	TickPendingTool   Kind = 36
	TickFailed        Kind = 38
	TickOverflow      Kind = 39
	ResultDelivered   Kind = 40 // the answer that a continuation tick will see
	TickRestored      Kind = 41 // recovery put the tick back to its checkpoint
	QueueReleased     Kind = 42 // a terminated agent's place and instructions were given back
	QueueAllocated    Kind = 43 // a spawned agent reserved its place in the global queue

	// Permissions.
	GrantsAssigned Kind = 50
	Allow          Kind = 51
	Deny           Kind = 52

	// Tools.
	CallRequested  Kind = 60 // an authorised external call entered the outbox
	CallDispatched Kind = 61 // a runner is about to call the adapter
	ActionExecuted Kind = 62
	ActionFailed   Kind = 63
	StaleResult    Kind = 64

	// Timers.
	TimerSet     Kind = 70
	TimerCleared Kind = 71
)

// Last is the highest number a kind may have; the routing table is an array
// of that length.
const Last = 127

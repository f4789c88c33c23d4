package failure

// Code names one thing that can go wrong. Codes are part of the API and of
// the log: append, never rename.
type Code string

// Codes that end a tick or answer a call (FA-5).
const (
	InvalidState       Code = "INVALID_STATE"
	EvalFailure        Code = "EVAL_FAILURE"
	EvalPanic          Code = "EVAL_PANIC"
	TickOverflow       Code = "TICK_OVERFLOW"
	CallOverflow       Code = "CALL_OVERFLOW"
	ValueTooLarge      Code = "VALUE_TOO_LARGE"
	WorkExceeded       Code = "WORK_EXCEEDED"
	CheckpointInvalid  Code = "CHECKPOINT_INVALID"
	PermissionDenied   Code = "PERMISSION_DENIED"
	Killed             Code = "KILLED"
	WaitTimeout        Code = "WAIT_TIMEOUT"
	OutcomeUnknown     Code = "OUTCOME_UNKNOWN"
	Withdrawn          Code = "WITHDRAWN"
	ToolUnknown        Code = "TOOL_UNKNOWN"
	ToolArgsInvalid    Code = "TOOL_ARGS_INVALID"
	ToolTimeout        Code = "TOOL_TIMEOUT"
	ToolUnreachable    Code = "TOOL_UNREACHABLE"
	ToolFailed         Code = "TOOL_FAILED"
	ToolCrashed        Code = "TOOL_CRASHED"
	ToolResultTooLarge Code = "TOOL_RESULT_TOO_LARGE"
	ToolResultInvalid  Code = "TOOL_RESULT_INVALID"
	ToolLimitExceeded  Code = "TOOL_LIMIT_EXCEEDED"
	InvariantBroken    Code = "INVARIANT_BREACH"
	Expired            Code = "EXPIRED"        // a suspended agent that nobody resumed in time
	ProgramFailed      Code = "PROGRAM_FAILED" // the program's own FAIL
	LoopOverflow       Code = "LOOP_OVERFLOW"
	VersionConflict    Code = "VERSION_CONFLICT" // a compare-and-set that lost
	MemoryFull         Code = "MEMORY_FULL"
	Rejected           Code = "REJECTED" // a delegation that breaks a rule
	TokenRevoked       Code = "TOKEN_REVOKED"
	TokenExpired       Code = "TOKEN_EXPIRED"
	BudgetExceeded     Code = "BUDGET_EXCEEDED"
	LogLimitExceeded   Code = "LOG_LIMIT_EXCEEDED" // the agent's part of the log is full; refuses commands, too
	InvalidPlan        Code = "INVALID_PLAN"       // what a run's planner came to is no list of tasks
	ReplayDivergence   Code = "REPLAY_DIVERGENCE"  // a script that asked for something else over the results it had
	TaskRejected       Code = "TASK_REJECTED"      // a person who was asked will not
)

// Codes that refuse a command. All of them are definite: the command did not
// take effect and will not.
const (
	InvalidArgument     Code = "INVALID_ARGUMENT"
	InvalidValue        Code = "INVALID_VALUE"
	InvalidProgram      Code = "INVALID_PROGRAM"
	InvalidTransition   Code = "INVALID_TRANSITION"
	InvalidRun          Code = "INVALID_RUN_TRANSITION"
	NotFound            Code = "NOT_FOUND"
	AlreadyExists       Code = "ALREADY_EXISTS"
	AlreadyBooted       Code = "ALREADY_BOOTED"
	NotBooted           Code = "NOT_BOOTED"
	NotRecoverable      Code = "NOT_RECOVERABLE"
	NoInstruction       Code = "NO_INSTRUCTION"
	QueueFull           Code = "QUEUE_FULL"
	LimitReached        Code = "LIMIT_REACHED"
	StaleResult         Code = "STALE_RESULT"
	SessionExpired      Code = "SESSION_EXPIRED"
	SessionsFull        Code = "SESSIONS_FULL"
	SequenceReused      Code = "SEQUENCE_REUSED"
	SequenceOutOfWindow Code = "SEQUENCE_OUT_OF_WINDOW"
	AlreadyAcknowledged Code = "ALREADY_ACKNOWLEDGED"
	Quarantined         Code = "QUARANTINED"
	KernelSuspended     Code = "KERNEL_SUSPENDED" // the emergency stop holds (NO-2)
	VersionTooLow       Code = "VERSION_TOO_LOW"  // the cluster's kernel version has no such command yet (EV-9)
	Unauthenticated     Code = "UNAUTHENTICATED"  // no credential, or none that is in force (AU-3)
	Forbidden           Code = "FORBIDDEN"        // no role of the principal allows it, or one denies it (AU-4)
)

// classes is the one table of FA-5. A code that is missing here only ever
// refuses commands and has no class.
var classes = map[Code]Class{
	InvalidState:       Unclassified,
	EvalFailure:        Permanent,
	EvalPanic:          Permanent,
	TickOverflow:       Permanent,
	CallOverflow:       Permanent,
	ValueTooLarge:      Permanent,
	WorkExceeded:       Permanent,
	CheckpointInvalid:  Permanent,
	PermissionDenied:   PolicyViolation,
	Killed:             Permanent,
	WaitTimeout:        Transient,
	OutcomeUnknown:     Permanent,
	Withdrawn:          Permanent,
	ToolUnknown:        Permanent,
	ToolArgsInvalid:    Permanent,
	ToolTimeout:        Transient,
	ToolUnreachable:    Transient,
	ToolFailed:         Permanent,
	ToolCrashed:        Permanent,
	ToolResultTooLarge: Permanent,
	ToolResultInvalid:  Permanent,
	ToolLimitExceeded:  Permanent,
	InvariantBroken:    InvariantBreach,
	Expired:            Permanent,
	ProgramFailed:      Permanent,
	LoopOverflow:       Permanent,
	VersionConflict:    Permanent,
	MemoryFull:         Permanent,
	Rejected:           PolicyViolation,
	TokenRevoked:       Permanent,
	TokenExpired:       Permanent,
	BudgetExceeded:     Permanent,
	LogLimitExceeded:   Permanent,
	InvalidPlan:        Permanent,
	ReplayDivergence:   Permanent,
	TaskRejected:       Permanent,
}

// ClassOf returns the class of a code; Permanent for one that the table does
// not know, so that nothing unknown is ever retried.
func ClassOf(c Code) Class {
	if class, ok := classes[c]; ok {
		return class
	}
	return Permanent
}

// NeverCalled reports whether a call that ends with the code was certainly not
// made (RU-3).
func (c Code) NeverCalled() bool {
	switch c {
	case ToolUnknown, ToolArgsInvalid, ToolUnreachable:
		return true
	}
	return false
}

// LeavesOpen reports whether a call that ends with the code may still tell what it
// came to (RU-3).
func (c Code) LeavesOpen() bool {
	switch c {
	case Withdrawn, WaitTimeout, OutcomeUnknown:
		return true
	}
	return false
}

// OfCall reports whether an external call can come to the code, as its runner
// may say (TO-6).
func (c Code) OfCall() bool {
	switch c {
	case ToolUnknown, ToolArgsInvalid, ToolTimeout, ToolUnreachable, ToolFailed, ToolCrashed, ToolResultTooLarge,
		ToolResultInvalid, ToolLimitExceeded, OutcomeUnknown, Withdrawn:
		return true
	}
	return false
}

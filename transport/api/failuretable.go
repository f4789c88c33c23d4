package api

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// FailureInfo is what a failure's code means (FA-5): how a tick, a call or an
// agent ended. Commands are answered with the codes of Codes.
type FailureInfo struct {
	Code  string
	Class string // TRANSIENT, PERMANENT, POLICY_VIOLATION, INVARIANT_BREACH; empty for none
	Text  string // one paragraph
}

// Failures lists the table, in order of the codes.
func Failures() []FailureInfo { return slices.Clone(failures[:]) }

func fails(code failure.Code, text string) FailureInfo {
	return FailureInfo{Code: string(code), Class: failure.ClassOf(code).String(), Text: text}
}

var failures = [...]FailureInfo{
	fails(failure.BudgetExceeded, "The call may come to more than is left of a budget, or the agent's time is over; the message names the figures."),
	fails(failure.CallOverflow, "The tick made more calls than the kernel's max_calls_per_tick."),
	fails(failure.CheckpointInvalid, "The tick's checkpoint cannot be restored."),
	fails(failure.EvalFailure, "An expression failed, or a field's value has the wrong kind."),
	fails(failure.EvalPanic, "A fault in the evaluator itself."),
	fails(failure.Expired, "Nobody resumed the suspended agent in time, or it was expired."),
	fails(failure.InvalidPlan, "What a run's planner came to is no plan; the run's last reason names the rule that it breaks."),
	fails(failure.InvalidState, "The agent was not ACTIVE when its tick came up."),
	fails(failure.InvariantBroken, "An invariant was about to be broken: the agent was ended, and the audit log says by what."),
	fails(failure.Killed, "Somebody ended the agent: an operator, its parent, or a request of which another child failed."),
	fails(failure.LogLimitExceeded, "The agent's part of the log is as large as the cluster's log_error_bytes allows: its ticks fail."),
	fails(failure.LoopOverflow, "The condition of a LOOP was still true after its last round."),
	fails(failure.MemoryFull, "The memory has as many keys, or is as large, as it may be."),
	fails(failure.OutcomeUnknown, "The call was dispatched, its node was lost, and nobody can tell whether it took effect."),
	fails(failure.PermissionDenied, "No grant allows it, a grant denies it, or nobody approved it in time."),
	fails(failure.ProgramFailed, "The program's own FAIL."),
	fails(failure.Rejected, "The delegation breaks a rule, such as one that grants may not widen: the message names it."),
	fails(failure.ReplayDivergence, "A script did not ask for the same again over the results that it had."),
	fails(failure.TaskRejected, "A person who was asked for the answer will not give one; the message names the reason."),
	fails(failure.TickOverflow, "The tick made more steps than the kernel's max_steps_per_tick."),
	fails(failure.TokenExpired, "The time of the agent's token, or of one that it rests on, is over."),
	fails(failure.TokenRevoked, "The agent's token, or one that it rests on, was revoked."),
	fails(failure.ToolArgsInvalid, "The tool does not take these arguments."),
	fails(failure.ToolCrashed, "The tool's adapter failed in itself."),
	fails(failure.ToolFailed, "The tool says that it could not do it."),
	fails(failure.ToolLimitExceeded, "The tool used more CPU time, or larger files, than its manifest allows, and was ended."),
	fails(failure.ToolResultInvalid, "The tool's answer is not what its manifest promises."),
	fails(failure.ToolResultTooLarge, "The tool's answer is larger than the kernel's max_value_bytes."),
	fails(failure.ToolTimeout, "The tool did not answer within the call's time."),
	fails(failure.ToolUnknown, "There is no tool of this name."),
	fails(failure.ToolUnreachable, "The tool's service could not be reached, or the outbox is full."),
	fails(failure.ValueTooLarge, "A value, or what the tick has to remember, is larger than its bound."),
	fails(failure.VersionConflict, "The key does not have the version that the write expects; the message names the one that it has."),
	fails(failure.WaitTimeout, "The deadline of the wait has passed without an answer."),
	fails(failure.Withdrawn, "The call was taken back: its agent was suspended with force, or has ended."),
	fails(failure.WorkExceeded, "An instruction, or the tick as a whole, needs more work than it may."),
}

package kernel_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// LC-1, EX-2 … EX-4, LC-12, CL-3, LO-1: whatever comes, two replicas agree, the
// log folds to the state, replays with other batch cuts and from a snapshot at
// every index to the same bytes, every agent's history is a path of the table,
// every number agrees with what it counts, and every wait ends.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 2, 10, drawn{t})
		if rapid.IntRange(0, 2).Draw(t, "about runs") == 2 {
			h.AboutRuns()
		}
		published := make(map[[32]byte]*state.State)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			h.Step()
			published[kernel.Digest(h.State())] = h.State()
		}
		h.Check()
		for digest, then := range published {
			require.Equal(t, digest, kernel.Digest(then), "a published state has changed since (EV-1)")
		}
		h.Settle()
		h.CheckCounts()
	})
}

// One long history, the same on every machine: equal digests on 64 and 32 bit,
// under every version of Go. A change of these two values is a change of the
// log's or the state's format, or of behaviour that committed logs rely on.
// The first two are those of kernel version 1 and never change again (EV-9).
func TestGoldenHistory(t *testing.T) {
	var lines []string
	for version := uint32(1); version <= kernel.Version; version++ {
		h := kerneltest.NewHistoryOf(t, version, 400, kerneltest.NewSeeded(20))
		h.Run(800)
		h.Check()
		digest, chain := kernel.Digest(h.State()), h.State().Log.Chain
		lines = append(lines, "chain "+hex.EncodeToString(chain[:]), "digest "+hex.EncodeToString(digest[:]))
	}
	golden(t, "history.golden", lines)
}

// The generator reaches what it is there for: every kind of record, and every
// code that its commands, programs and limits can bring about.
func TestHistoriesReachEverything(t *testing.T) {
	kinds := make(map[bus.Kind]int)
	codes := make(map[failure.Code]int)
	for seed := range uint64(64) {
		h := kerneltest.NewHistory(t, 1, 200, kerneltest.NewSeeded(seed))
		h.Run(300)
		for _, r := range h.All() {
			kinds[bus.Kind(r.Kind)]++
			switch b := r.Content.(type) {
			case *event.Outcome:
				codes[b.Refusal.Code]++
			case *execution.FailedBody:
				codes[b.Failure.Code]++
			case *tools.ActionBody:
				codes[b.Code]++
			}
		}
	}
	for _, kind := range kernel.Kinds() {
		if kind < bus.AuthBootstrapped || kind > bus.OperatorOrdered { // TestGuardedHistoriesReachEverything
			assert.NotZero(t, kinds[kind], kernel.KindName(kind))
		}
	}
	for _, code := range []failure.Code{
		failure.CallOverflow, failure.Killed, failure.OutcomeUnknown, failure.PermissionDenied, failure.ProgramFailed,
		failure.TickOverflow, failure.ToolFailed, failure.ToolResultInvalid, failure.ToolResultTooLarge, failure.ToolUnknown,
		failure.ToolUnreachable, failure.ValueTooLarge, failure.WaitTimeout, failure.Withdrawn, failure.WorkExceeded,
		failure.CheckpointInvalid, failure.EvalPanic, failure.InvariantBroken, failure.LoopOverflow, failure.MemoryFull,
		failure.Rejected, failure.TokenExpired, failure.TokenRevoked, failure.ToolArgsInvalid, failure.VersionConflict,

		failure.InvalidArgument, failure.InvalidProgram, failure.InvalidState, failure.InvalidTransition, failure.InvalidValue,
		failure.NotFound, failure.AlreadyExists, failure.AlreadyBooted, failure.NotRecoverable, failure.NoInstruction,
		failure.QueueFull, failure.LimitReached, failure.StaleResult, failure.SessionExpired, failure.SessionsFull,
		failure.SequenceReused, failure.SequenceOutOfWindow, failure.AlreadyAcknowledged, failure.Quarantined,
		failure.KernelSuspended, failure.BudgetExceeded,
	} {
		assert.NotZero(t, codes[code], string(code))
	}
}

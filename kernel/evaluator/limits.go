package evaluator

import "github.com/omnikernel/omnikernel/kernel/evaluator/expr"

// Limits of std/1. A program that exceeds one at compile time is refused as
// INVALID_PROGRAM. They are part of the meaning of std/1: changing one makes
// another evaluator.
const (
	// MaxProgramBytes bounds a program, in bytes of its canonical form.
	MaxProgramBytes = 256 << 10
	// MaxNodes bounds the instructions of a program.
	MaxNodes = 4096
	// MaxNesting bounds how deep instructions stand inside each other, the root
	// being 1. Most levels take two levels of value.MaxDepth, so that 16 are
	// left for data in the innermost payload.
	MaxNesting = 24
	// MaxVariables bounds the distinct names that a program binds.
	MaxVariables = 256
	// MaxNameBytes bounds a variable's name.
	MaxNameBytes = 64
	// MaxToolBytes bounds the name of a tool in a CALL.
	MaxToolBytes = 128
	// MaxTimeoutMillis bounds timeout_ms, and ms of a WAIT: one day.
	MaxTimeoutMillis = 24 * 60 * 60 * 1000
	// MaxMapItems bounds the list that a MAP goes over. The steps of the tick
	// bound it too.
	MaxMapItems = 4096
	// MaxRounds bounds max of a LOOP. The steps of the tick bound it too.
	MaxRounds = 100_000
	// MaxClauses bounds the clauses of a TRY, and MaxCodes the codes of each.
	MaxClauses = 64
	MaxCodes   = 64
	// MaxCodeBytes bounds a code that a clause names.
	MaxCodeBytes = 128
	// MaxParallel bounds the calls of a PARALLEL.
	MaxParallel = 64
	// MaxChildren bounds the children of a DELEGATE.
	MaxChildren = 1000
	// MaxGenerations bounds how deep programs of children stand inside each
	// other, the outermost being 1.
	MaxGenerations = 8
)

// Bounds that hold where Context has none.
const (
	DefaultMaxValueBytes      = 64 << 10
	DefaultMaxCheckpointBytes = 256 << 10
)

// Budget of the expressions of one instruction, all of its fields together.
const (
	maxExpressionSteps = expr.DefaultSteps
	maxExpressionBytes = expr.DefaultBytes
)

// bytesPerWork is how many bytes of values make one work unit (EV-12).
const bytesPerWork = 64

// answerSlack is what the envelope of a handled answer may add to a value of
// full size: three keys, a code and a message of failure.MaxMessage bytes. What
// a clause of a TRY binds, and what stands around the arguments in an
// escalation, is within it too.
const answerSlack = 2048

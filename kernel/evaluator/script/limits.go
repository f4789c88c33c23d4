package script

import "github.com/omnikernel/omnikernel/kernel/evaluator/expr"

// Limits of script/1. They are part of it: changing one changes what a
// committed script does, so it makes another evaluator (EX-9).
const (
	// MaxSource bounds a script's source in bytes.
	MaxSource = 256 << 10
	// MaxFileName bounds the name that a script gives its source, in bytes.
	MaxFileName = 128
	// MaxTreeDepth bounds the syntax tree, left spines included: 1+1+1 has
	// depth 3, and each elif is one deeper than the one before.
	MaxTreeDepth = 200
	// MaxBrackets bounds how many brackets may be open at once.
	MaxBrackets = 100
	// MaxFunctions bounds def and lambda in a script, and with it how deep
	// calls go, since no function calls itself.
	MaxFunctions = 1000
	// MaxArgs bounds the arguments of one call.
	MaxArgs = 250

	// MaxSteps bounds one straight pass of a script: the interpreter's steps
	// and what the builtins charge.
	MaxSteps = 1_000_000
	// MaxTotalSteps bounds what all runs of a tick take together, those over
	// kept results included.
	MaxTotalSteps = 64_000_000
	// MaxMemory bounds what one run allocates, in bytes, whether it is still in
	// use or not.
	MaxMemory = 64 << 20
	// MaxValueBytes bounds every text that a script builds.
	MaxValueBytes = 1 << 20
	// MaxItems bounds the items of a list and the entries of a dict: 1 MiB of
	// them, 16 bytes each.
	MaxItems = 64 << 10
	// MaxDepth bounds lists and dicts inside each other, where they are looked
	// through.
	MaxDepth = expr.MaxDepth

	// MaxCalls bounds the calls of a tick.
	MaxCalls = 1000
	// MaxParallel bounds the calls of one gather.
	MaxParallel = 64
	// MaxChildren bounds the children of one delegate.
	MaxChildren = 1000
	// MaxToolBytes bounds the name of a tool.
	MaxToolBytes = 128
	// MaxTimeoutMillis bounds timeout_ms, and what sleep takes: one day.
	MaxTimeoutMillis = 24 * 60 * 60 * 1000
	// MaxEmits and MaxEmitBytes bound what one run publishes.
	MaxEmits     = 1000
	MaxEmitBytes = 1 << 20
)

// Bounds that hold where Context has none.
const (
	defaultMaxValueBytes      = 64 << 10
	defaultMaxCheckpointBytes = 256 << 10
)

// stepsPerWork is how many steps make one work unit (EV-12): a step of the
// interpreter is a few instructions of the machine.
const stepsPerWork = 4

// Charges in bytes of memory, the same on every architecture.
const (
	slotBytes  = 16  // one value in a list
	listBytes  = 64  // a list's head
	entryBytes = 128 // one entry of a dict, with its place in the index
	textBytes  = 16  // a text's head
)

// growFactor is what growing an array by doubling costs at most.
const growFactor = 3

// smallBody is how many nodes a function may have before each call of it is
// charged for the room that it takes.
const smallBody = 200

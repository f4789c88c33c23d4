package expr

// Bounds of the language. All of them are part of it: changing one changes
// what a committed program does, so it makes another evaluator version (EX-9).
const (
	// MaxSource bounds one expression's source in bytes.
	MaxSource = 4 << 10
	// MaxTreeDepth bounds the syntax tree, left spines included: 1+1+1 has
	// depth 3.
	MaxTreeDepth = 200
	// MaxBrackets bounds how many brackets may be open at once. It keeps the
	// parser's recursion far below the parser's own bound, so that no program
	// depends on that one.
	MaxBrackets = 50
	// MaxValueBytes bounds every value that an expression builds, text and
	// containers alike, by the size of its canonical encoding in bytes.
	// Values that come in from outside may be larger and pass through.
	MaxValueBytes = 64 << 10
	// MaxIntBits bounds integers inside an expression. What leaves it obeys
	// the model's 2^53 (EX-10).
	MaxIntBits = 4096
	// DefaultSteps and DefaultBytes are the budget of one evaluation that the
	// golden corpus is recorded with.
	DefaultSteps = 10_000
	DefaultBytes = 1 << 20
)

// Charges in bytes of memory, the same on every architecture.
const (
	slotBytes   = 16 // one value in a list or a variable
	boxBytes    = 16 // the head of text, of a float or of a small integer
	listBytes   = 48
	mapBytes    = 48
	memberBytes = 32 // one key and value in a map
	growFactor  = 3  // what growing an array by doubling costs at most
)

// Work per step: how much cheap work counts as one step.
const (
	bytesPerStep  = 64 // bytes scanned, compared or copied
	visitsPerStep = 8  // items looked at by a function
)

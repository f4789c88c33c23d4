package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Evaluator is one instruction set under a name and a version (EX-9). Programs
// of an agent are pinned to it: another language, another version of the
// expression library, another limit that programs can observe is another name.
type Evaluator interface {
	// Name is "std/1", "script/1" …
	Name() string
	// Compile checks a program completely and makes it ready to run. It is
	// pure: the door calls it to refuse early, Apply calls it again, once per
	// digest of the program; compiled forms are caches, never state.
	Compile(program value.Raw) (Program, *failure.Refusal)
}

// Program is a compiled program. It is immutable and holds nothing of any tick,
// so one Program serves all agents that run it.
type Program interface {
	// Start begins a tick with a fresh ephemeral store (EX-8).
	Start(ctx Context) Tick
	// Resume continues a tick whose ephemeral store is restored from a
	// checkpoint (EX-8). The instruction that left the tick is the next one.
	// With Answers it takes them. With an Escalation it decides it first, and
	// the tick waits on. With delivery nil, after a recovery (FA-1), it is
	// evaluated again and asks once more. A checkpoint that this program cannot
	// have written, or a delivery that does not fit the instruction, is
	// CHECKPOINT_INVALID.
	Resume(ctx Context, checkpoint []byte, delivery *Delivery) (Tick, *failure.Failure)
}

// Tick is one running tick. The caller counts and records the steps: At, then
// record, then Step, until a Result ends the tick or asks for a tool.
type Tick interface {
	// At is the instruction that the next Step evaluates.
	At() Position
	// Step evaluates exactly one instruction, or one stretch of a script between
	// two calls. It returns in bounded time and never panics (EX-11).
	Step() Result
	// AppendCheckpoint appends the ephemeral store in canonical form. It is
	// called only after a Step answered NeedsTool or NeedsDecision.
	AppendCheckpoint(dst []byte) []byte
}

// Context is what a tick may read besides its program. It is a snapshot taken
// at the start of the tick or of its continuation, and frozen (EX-1): nothing
// that a program does can change it.
type Context struct {
	AgentID   string // visible to programs as agent.id
	AgentName string // agent.name
	TickSeq   uint64 // agent.tick_seq
	BusSeqAt  uint64 // agent.bus_seq_at: busSeq when the context was taken

	Input value.Raw // the instruction's input, visible as input; nil is null
	Env   value.Raw // a map of texts, visible as env; nil is empty

	MaxValueBytes      uint32 // bound of every value that leaves; 0: DefaultMaxValueBytes
	MaxCheckpointBytes uint32 // bound of the ephemeral store; 0: DefaultMaxCheckpointBytes
}

// Position names an instruction: its number in preorder, the root being 0, and
// its kind.
type Position struct {
	Node uint32
	Kind string
}

// ResultKind says how a Step ended. The numbers are not part of any format.
type ResultKind uint8

// The kinds of a Result (execution-loop.md section 3, EvalResult).
const (
	PureValue       ResultKind = iota // the tick is done: Value
	NextInstruction                   // the tick goes on at At()
	NeedsTool                         // the tick waits for the answers to Calls
	Failed                            // the tick is over: Failure
	NeedsDecision                     // Decision; the tick waits on for the same call
)

// String returns the specification's name of the kind.
func (k ResultKind) String() string {
	switch k {
	case PureValue:
		return "PURE_VALUE"
	case NextInstruction:
		return "NEXT_INSTRUCTION"
	case NeedsTool:
		return "NEEDS_TOOL"
	case Failed:
		return "FAILURE"
	case NeedsDecision:
		return "NEEDS_DECISION"
	}
	return "UNKNOWN_RESULT"
}

// Result of one Step. Only the field that Kind names is set, and Emits, Again
// and Work.
type Result struct {
	Kind     ResultKind
	Value    value.Raw
	Calls    []Call    // one, or 2 to MaxParallel that are made at once
	Decision *Decision // of the Escalation that the tick was resumed with
	Failure  *failure.Failure
	// Emits is what the step has published, in order, each at most
	// MaxValueBytes. It stands beside any Kind and does not leave the tick: the
	// caller records it before it acts on Kind.
	Emits []value.Raw
	// Again, beside a PureValue, is what the same program is to run with again,
	// as if it had been submitted once more; nil if it is not.
	Again value.Raw
	// Work is what the step cost beyond the step itself, in work units (EV-12):
	// the expressions' steps, and bytes of values moved, divided by 64.
	Work uint32
}

// Call asks for a tool. The gate decides whether it may be called.
type Call struct {
	Tool          string
	Args          value.Raw
	TimeoutMillis int64 // 0: the tool's or the kernel's default
}

// Decision is what a program's handler says to an escalation of one of its
// children (PE-3).
type Decision struct {
	Escalation uint64 // which one: its member "escalation"
	Approve    bool
	Reason     string // at most failure.MaxMessage bytes, may be empty
}

// Delivery is what a waiting tick is resumed with. Exactly one field is set.
type Delivery struct {
	// Answers to Calls, as many, in their order.
	Answers []Answer
	// Escalation is what a child asks for, for a DELEGATE that has a handler: a
	// map, canonical, whose member "escalation" is its number, 0 to 2^53.
	Escalation value.Raw
}

// Answer is what a call came to. Value is null unless OK; Code and Message are
// empty if OK. Nil counts as null.
type Answer struct {
	OK      bool
	Value   value.Raw
	Code    failure.Code
	Message string
}

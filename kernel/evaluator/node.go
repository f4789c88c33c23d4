package evaluator

import "strings"

// opcode is the kind of an instruction.
type opcode uint8

const (
	opLiteral opcode = iota
	opLet
	opSeq
	opBranch
	opMap
	opCall
	opReturn
	opFail
	opLoop
	opTry
	opRead
	opWrite
	opShare
	opWait
	opReceive
	opEmit
	opParallel
	opDelegate
)

var kindNames = [...]string{
	"LITERAL", "LET", "SEQ", "BRANCH", "MAP", "CALL", "RETURN", "FAIL", "LOOP", "TRY",
	"READ", "WRITE", "SHARE", "WAIT", "RECEIVE", "EMIT", "PARALLEL", "DELEGATE",
}

// Kinds are the kinds of instructions of std/1, in order.
func Kinds() []string { return strings.Split(allKinds, ", ") }

// allKinds is for messages.
const allKinds = "BRANCH, CALL, DELEGATE, EMIT, FAIL, LET, LITERAL, LOOP, MAP, PARALLEL, READ, RECEIVE, RETURN, SEQ, SHARE, TRY, WAIT, WRITE"

func (op opcode) String() string {
	if int(op) < len(kindNames) {
		return kindNames[op]
	}
	return "UNKNOWN_KIND"
}

func opcodeOf(kind string) (opcode, bool) {
	for i, name := range kindNames {
		if name == kind {
			return opcode(i), true
		}
	}
	return 0, false
}

// leaves tells whether instructions of this kind leave the tick and are resumed.
func (op opcode) leaves() bool {
	switch op {
	case opCall, opRead, opWrite, opShare, opWait, opReceive, opParallel, opDelegate:
		return true
	}
	return false
}

// none stands for an absent node or variable.
const none int32 = -1

// node is one compiled instruction. Nodes stand in preorder in one array, so a
// node's first child, if it has one, is the node after it, and the frames that
// a running instruction stands in are the chain of its parents.
type node struct {
	op     opcode
	handle bool // what leaves the tick: a failing answer is a value

	parent int32
	next   int32 // the step after this one, if the parent is a SEQ
	body   int32 // the child that runs first: LET, RETURN, MAP, LOOP, TRY do; SEQ steps[0]; BRANCH then; DELEGATE on_escalation.do
	other  int32 // BRANCH else

	name  int32 // variable: LET name, MAP as, DELEGATE on_escalation.as
	index int32 // variable: MAP, LOOP index

	data    operand // LITERAL, LET, RETURN, EMIT value; BRANCH if; MAP over; LOOP while; CALL args; READ default; FAIL message
	label   operand // CALL tool; FAIL code
	timeout operand // CALL, DELEGATE timeout_ms

	rounds uint64 // LOOP max
	more   *more  // what only some kinds have
}

// more is what a compiled instruction of the rarer kinds consists of.
type more struct {
	tool    string  // READ, WRITE, SHARE, WAIT, RECEIVE: what they call
	fields  []field // and its arguments
	clauses []clause
	calls   []node // PARALLEL: CALLs that are no instructions of their own
	family  family // DELEGATE
}

// newNode is a node that refers to nothing.
func newNode() node {
	return node{parent: none, next: none, body: none, other: none, name: none, index: none}
}

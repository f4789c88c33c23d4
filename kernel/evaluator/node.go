package evaluator

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
)

var kindNames = [...]string{"LITERAL", "LET", "SEQ", "BRANCH", "MAP", "CALL", "RETURN", "FAIL"}

// allKinds is for messages.
const allKinds = "BRANCH, CALL, FAIL, LET, LITERAL, MAP, RETURN, SEQ"

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

// none stands for an absent node or variable.
const none int32 = -1

// node is one compiled instruction. Nodes stand in preorder in one array, so a
// node's first child, if it has one, is the node after it, and the frames that
// a running instruction stands in are the chain of its parents.
type node struct {
	op     opcode
	handle bool // CALL: a failing answer is a value

	parent int32
	next   int32 // the step after this one, if the parent is a SEQ
	body   int32 // the child that runs first: LET, RETURN, MAP do; SEQ steps[0]; BRANCH then
	other  int32 // BRANCH else

	name  int32 // variable: LET name, MAP as
	index int32 // variable: MAP index

	data    operand // LITERAL, LET, RETURN value; BRANCH if; MAP over; CALL args; FAIL message
	label   operand // CALL tool; FAIL code
	timeout operand // CALL timeout_ms
}

// newNode is a node that refers to nothing.
func newNode() node {
	return node{parent: none, next: none, body: none, other: none, name: none, index: none}
}

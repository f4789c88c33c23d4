package evaluator

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// rootPath is how refusals call the root instruction.
const rootPath = "program"

// compiler turns the tree of instructions into the array of nodes. Its
// recursion is bounded by MaxNesting.
type compiler struct {
	*program
	heads      int64 // what the frames around the instruction at hand add to a checkpoint
	generation int   // how deep this program stands in programs of parents, from 1
	handlers   int   // on_escalation around the instruction at hand
}

// instruction compiles one instruction with everything inside it and returns
// its number.
func (c *compiler) instruction(raw value.Raw, path string, parent int32, nesting int) (int32, *failure.Refusal) {
	if nesting > MaxNesting {
		return 0, invalid(path, "instructions are nested deeper than "+strconv.Itoa(MaxNesting), "")
	}
	if len(c.nodes) == MaxNodes {
		return 0, invalid(path, "a program has at most "+strconv.Itoa(MaxNodes)+" instructions", "")
	}
	whole, refusal := asObject(raw, path, "kind", "payload")
	if refusal != nil {
		return 0, refusal
	}
	op, refusal := whole.opcode()
	if refusal != nil {
		return 0, refusal
	}
	payload, given := whole.get("payload")
	if !given {
		payload = value.EmptyMap
	}
	at := int32(len(c.nodes))
	c.nodes = append(c.nodes, newNode()) // its place in preorder
	compiled, refusal := c.payload(op, payload, scope{path: path + ".payload", at: at, nesting: nesting})
	if refusal != nil {
		return 0, refusal
	}
	compiled.op, compiled.parent = op, parent
	c.nodes[at] = compiled
	return at, nil
}

// scope is where in the program a payload stands.
type scope struct {
	path    string
	at      int32 // number of the instruction
	nesting int
}

// payload compiles what is special to a kind of instruction.
func (c *compiler) payload(op opcode, raw value.Raw, s scope) (node, *failure.Refusal) {
	switch op {
	case opLiteral:
		return c.literal(raw, s)
	case opLet:
		return c.let(raw, s)
	case opSeq:
		return c.seq(raw, s)
	case opBranch:
		return c.branch(raw, s)
	case opMap:
		return c.mapOver(raw, s)
	case opCall:
		return c.call(raw, s)
	case opReturn:
		return c.ret(raw, s)
	case opFail:
		return c.fail(raw, s)
	case opLoop:
		return c.loop(raw, s)
	case opTry:
		return c.try(raw, s)
	case opRead:
		return c.read(raw, s)
	case opWrite:
		return c.write(raw, s)
	case opShare:
		return c.share(raw, s)
	case opWait:
		return c.wait(raw, s)
	case opReceive:
		return c.receive(raw, s)
	case opEmit:
		return c.emit(raw, s)
	case opParallel:
		return c.parallel(raw, s)
	case opDelegate:
		return c.delegate(raw, s)
	}
	panic("evaluator: opcode without a compiler")
}

// inside compiles a field that is an instruction.
func (c *compiler) inside(o object, field string, s scope) (int32, *failure.Refusal) {
	raw, given := o.get(field)
	if !given {
		return none, nil
	}
	return c.instruction(raw, o.path+"."+field, s.at, s.nesting+1)
}

// framed compiles the required field of an instruction that remembers
// something while it runs.
func (c *compiler) framed(o object, field string, s scope, heads int64) (int32, *failure.Refusal) {
	c.heads += heads
	c.frameHeads = max(c.frameHeads, c.heads)
	body, refusal := c.inside(o, field, s)
	c.heads -= heads
	if refusal == nil && body == none {
		refusal = o.missing(field)
	}
	return body, refusal
}

// variable returns the number of a variable that a field names.
func (c *compiler) variable(o object, field string) (int32, *failure.Refusal) {
	name, refusal := o.text(field)
	if refusal != nil {
		return none, refusal
	}
	path := o.path + "." + field
	if !validName(name) {
		return none, invalid(path, nameRule, "")
	}
	if reservedName(name) {
		return none, invalid(path, "the name "+name+" is reserved", "")
	}
	if slot, known := c.slots[name]; known {
		return slot, nil
	}
	if len(c.names) == MaxVariables {
		return none, invalid(path, "a program has at most "+strconv.Itoa(MaxVariables)+" variables", "")
	}
	slot := int32(len(c.names))
	c.names = append(c.names, name)
	c.slots[name] = slot
	return slot, nil
}

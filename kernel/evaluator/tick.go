package evaluator

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// tick is a running tick of std/1: a small-step machine. There is no stack of
// frames beside the program: the frames around the current instruction are its
// parents, and what they must remember is which child is running, which the
// current instruction tells. Few have more to remember; those have a frame on
// the stack frames. Nothing here recurses.
type tick struct {
	program *program
	ctx     Context
	at      int32
	ended   bool
	arrived *Delivery // for the instruction at hand, after Resume

	vars   []cell // by the program's numbers; an unset cell is unbound
	frames []frame

	input, env, agent cell // made from ctx when first looked at

	maxValue uint32
	maxStore int64
	store    int64 // bytes of values that a checkpoint would hold

	budget  expr.Meter // of the instruction at hand
	metered bool       // budget belongs to this step
	moved   uint32     // bytes of values that the step encoded or decoded
	scratch []byte     // encoding of the value at hand

	// Room for what most ticks need, so that they allocate nothing else.
	small [64]byte // where scratch begins
	few   [4]cell  // vars, unless there are more
}

func newTick(p *program, ctx Context) *tick {
	t := &tick{program: p, ctx: ctx, budget: *expr.NewMeter(maxExpressionSteps, maxExpressionBytes)}
	t.scratch = t.small[:0]
	if count := len(p.names); count <= len(t.few) {
		t.vars = t.few[:count]
	} else {
		t.vars = make([]cell, count)
	}
	t.maxValue = ctx.MaxValueBytes
	if t.maxValue == 0 {
		t.maxValue = DefaultMaxValueBytes
	}
	maxCheckpoint := ctx.MaxCheckpointBytes
	if maxCheckpoint == 0 {
		maxCheckpoint = DefaultMaxCheckpointBytes
	}
	t.maxStore = int64(maxCheckpoint) - p.checkpointOverhead()
	return t
}

// At is the instruction that the next Step evaluates.
func (t *tick) At() Position {
	return Position{Node: uint32(t.at), Kind: t.node().op.String()}
}

func (t *tick) node() *node { return &t.program.nodes[t.at] }

// Step evaluates the instruction at At.
func (t *tick) Step() (r Result) {
	defer func() {
		if recover() != nil { // EX-11
			r = t.failed(&failure.Failure{Code: failure.EvalPanic, Message: "evaluating the instruction panicked"})
		}
		r.Work = t.work()
	}()
	t.moved, t.metered = 0, false
	if t.ended {
		return t.failed(&failure.Failure{Code: failure.InvalidState, Message: "the tick has ended"})
	}
	n := t.node()
	switch n.op {
	case opLiteral:
		return t.stepLiteral(n)
	case opLet:
		return t.stepLet(n)
	case opSeq:
		return t.stepSeq(n)
	case opBranch:
		return t.stepBranch(n)
	case opMap:
		return t.stepMap(n)
	case opCall:
		return t.stepCall(n)
	case opReturn:
		return t.stepReturn(n)
	case opFail:
		return t.stepFail(n)
	case opLoop:
		return t.stepLoop(n)
	case opTry:
		return t.goTo(n.body)
	case opRead, opWrite, opShare, opWait, opReceive:
		return t.stepRequest(n)
	case opEmit:
		return t.stepEmit(n)
	case opParallel:
		return t.stepParallel(n)
	case opDelegate:
		return t.stepDelegate(n)
	}
	panic("evaluator: opcode without a step")
}

// goTo makes another instruction the current one.
func (t *tick) goTo(at int32) Result {
	t.at = at
	return Result{Kind: NextInstruction}
}

// deliver hands the value of the current instruction to the instruction around
// it, which decides what runs next or has a value now too, and so on outwards.
func (t *tick) deliver(v cell) Result {
	nodes := t.program.nodes
	for at := t.at; ; {
		outer := nodes[at].parent
		if outer == none {
			return t.complete(v)
		}
		n := &nodes[outer]
		switch n.op {
		case opSeq:
			if next := nodes[at].next; next != none {
				return t.goTo(next)
			}
		case opLet:
			if fail := t.bind(n.name, v); fail != nil {
				return t.failedAt(outer, fail)
			}
		case opMap:
			list, more, fail := t.collect(n, v)
			if fail != nil {
				return t.failedAt(outer, fail)
			}
			if more {
				return t.goTo(n.body)
			}
			v = list
		case opLoop:
			t.top().last = v
			return t.goTo(outer)
		case opReturn:
			return t.complete(v)
		case opDelegate:
			return t.decide(outer, v)
		}
		at = outer
	}
}

// complete ends the tick with a value.
func (t *tick) complete(v cell) Result {
	if fail := t.checkSize(v.raw); fail != nil {
		return t.failed(fail)
	}
	t.ended = true
	return Result{Kind: PureValue, Value: v.raw}
}

// failed is a failure of the current instruction, which ends the tick or is
// caught.
func (t *tick) failed(fail *failure.Failure) Result { return t.failedAt(t.at, fail) }

func (t *tick) failedAt(at int32, fail *failure.Failure) Result {
	return t.raise(at, problem{fail: fail})
}

// meter is the budget of the step's expressions.
func (t *tick) meter() *expr.Meter {
	if !t.metered {
		t.budget.Reset()
		t.metered = true
	}
	return &t.budget
}

// charge counts bytes of values that the step encoded or decoded.
func (t *tick) charge(n int) { t.moved += uint32(n) }

func (t *tick) work() uint32 {
	work := t.moved / bytesPerWork
	if t.metered {
		work += t.budget.Work()
	}
	return work
}

// Lookup gives expressions the names they use: input, env, agent, and the
// variables bound so far.
func (t *tick) Lookup(name string) (starlark.Value, bool) {
	c := t.find(name)
	if c == nil || !c.set() {
		return nil, false
	}
	v, read := c.view()
	t.charge(read)
	return v, true
}

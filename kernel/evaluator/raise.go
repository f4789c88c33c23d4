package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// problem is a failure on its way outwards. Code and message are the program's
// own where it has failed with a code of its own.
type problem struct {
	fail    *failure.Failure
	code    string
	message string
}

// name is the code under which a clause sees the problem.
func (p *problem) name() string {
	if p.code != "" {
		return p.code
	}
	return string(p.fail.Code)
}

// words is the message that a clause sees.
func (p *problem) words() string {
	if p.code != "" {
		return p.message
	}
	return p.fail.Message
}

// catchable tells whether a program may go on after a failure. It may not
// where its tick, its bounds or its authority are over, or the kernel itself
// is wrong.
func catchable(code failure.Code) bool {
	switch code {
	case failure.EvalPanic, failure.CheckpointInvalid, failure.WorkExceeded, failure.TickOverflow, failure.CallOverflow,
		failure.InvalidState, failure.Killed, failure.TokenRevoked, failure.TokenExpired:
		return false
	}
	return failure.ClassOf(code) != failure.InvariantBreach
}

// raise takes a problem of an instruction outwards, to the first clause of a
// TRY that names it, or to the end of the tick. A handler of escalations that
// fails has not approved: a child must not be able to end its parent's tick by
// what it asks for, be it by being too long for the handler's expressions.
func (t *tick) raise(at int32, p problem) Result {
	p.fail.Node = uint32(at)
	if !catchable(p.fail.Code) && p.fail.Code != failure.WorkExceeded {
		return t.end(p.fail)
	}
	nodes := t.program.nodes
	for inner, outer := at, nodes[at].parent; outer != none; inner, outer = outer, nodes[outer].parent {
		n := &nodes[outer]
		switch {
		case n.op == opDelegate:
			return t.decline(outer, p.name()+": "+p.words())
		case n.op == opTry && inner == n.body && catchable(p.fail.Code):
			c := n.catching(&p)
			if c == nil {
				continue
			}
			t.unwind(outer)
			fail := t.catch(c, &p)
			if fail == nil {
				return t.goTo(c.body)
			}
			p = problem{fail: fail}
			p.fail.Node = uint32(outer)
		}
	}
	return t.end(p.fail)
}

// end is the failure of the tick.
func (t *tick) end(fail *failure.Failure) Result {
	t.ended = true
	return Result{Kind: Failed, Failure: fail}
}

// catch binds the variable of a clause, if it has one.
func (t *tick) catch(c *clause, p *problem) *failure.Failure {
	if c.as == none {
		return nil
	}
	raw := value.AppendMapHeader(nil, 3) // keys in canonical order
	raw = value.AppendString(raw, "code")
	raw = value.AppendString(raw, failure.Clip(p.name()))
	raw = value.AppendString(raw, "class")
	raw = value.AppendString(raw, p.fail.Class().String())
	raw = value.AppendString(raw, "message")
	raw = value.AppendString(raw, failure.Clip(p.words()))
	t.charge(len(raw))
	return t.bind(c.as, cell{raw: raw})
}

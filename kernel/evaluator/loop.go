package evaluator

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const roundsRule = "max must be an integer from 1 to 100000, and no expression"

// loop compiles LOOP {max, while?, index?, do}.
func (c *compiler) loop(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "max", "while", "index", "do")
	if refusal != nil {
		return n, refusal
	}
	rounds, given := o.get("max")
	if !given {
		return n, o.missing("max")
	}
	most, ok := rounds.Int()
	if !ok || most < 1 || most > MaxRounds {
		return n, invalid(o.path+".max", roundsRule, "")
	}
	n.rounds = uint64(most)
	if n.data, refusal = o.operand("while", value.BoolKind); refusal != nil {
		return n, refusal
	}
	if _, given := o.get("index"); given {
		if n.index, refusal = c.variable(o, "index"); refusal != nil {
			return n, refusal
		}
	}
	n.body, refusal = c.framed(o, "do", s, loopHeads)
	return n, refusal
}

// stepLoop begins a round, or ends. Every round comes back here, as a step of
// the tick.
func (t *tick) stepLoop(n *node) Result {
	if len(t.frames) == 0 || t.top().at != t.at {
		t.push(n)
	}
	f := t.top()
	full := f.done == n.rounds
	if full && !n.data.given() {
		return t.endLoop()
	}
	if n.index != none {
		if fail := t.bind(n.index, cell{raw: value.AppendInt(nil, int64(f.done))}); fail != nil {
			return t.failed(fail)
		}
	}
	again, fail := t.goesOn(n)
	switch {
	case fail != nil:
		return t.failed(fail)
	case !again:
		return t.endLoop()
	case full:
		return t.failed(&failure.Failure{
			Code:    failure.LoopOverflow,
			Message: "while is still true after round " + strconv.FormatUint(n.rounds, 10),
		})
	}
	f.done++
	return t.goTo(n.body)
}

// goesOn evaluates while.
func (t *tick) goesOn(n *node) (bool, *failure.Failure) {
	if !n.data.given() {
		return true, nil
	}
	v, fail := t.evaluate(&n.data)
	if fail != nil {
		return false, fail
	}
	again, ok := v.raw.Bool()
	if !ok {
		return false, wrongType("while must be a boolean, not " + describe(v.raw))
	}
	return again, nil
}

func (t *tick) endLoop() Result {
	last := t.top().last
	t.pop()
	if !last.set() {
		last = nothing
	}
	return t.deliver(last)
}

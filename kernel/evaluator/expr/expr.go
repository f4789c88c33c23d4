package expr

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Env is what an expression's free names mean. Its values come from this
// package (FromRaw, Own, NewList, NewMap, Eval) and do not change while an
// expression runs.
type Env interface {
	// Lookup returns the value of a name and whether there is one.
	Lookup(name string) (starlark.Value, bool)
}

// Expr is a compiled expression. It is immutable: any number of goroutines
// may evaluate it at once, each with its own Meter.
type Expr struct {
	root  node
	slots int    // loop variables
	path  string // where in a template it stands; empty otherwise
}

// Compile parses, checks and rewrites one expression. It is pure, and costs
// time and memory in proportion to len(src). A refusal has the code
// INVALID_PROGRAM and says where, in lines and columns from 1, the column in
// code points.
func Compile(src string) (e *Expr, refused *failure.Refusal) {
	defer func() {
		if recover() != nil {
			e, refused = nil, place{1, 1}.refuse("the expression cannot be compiled", "")
		}
	}()
	if len(src) > MaxSource {
		return nil, place{1, 1}.refuse("an expression has at most 4096 bytes of source", "")
	}
	if !utf8.ValidString(src) {
		return nil, place{1, 1}.refuse("the expression is not valid UTF-8", "")
	}
	if strings.TrimLeft(src, " \t\r\n") == "" {
		return nil, place{1, 1}.refuse("the expression is empty", "")
	}
	if _, p := lex(src, false); p != nil {
		return nil, p.refusal(src)
	}
	tree, p := parse(src)
	if p != nil {
		return nil, p.refusal(src)
	}
	var c compiler
	root := c.expr(tree)
	if c.wrong != nil {
		return nil, c.wrong
	}
	return &Expr{root: root, slots: c.slots}, nil
}

// Eval evaluates the expression under a budget. The value is within the model
// (EX-10): what it returns can be encoded with AppendRaw, its size permitting.
// A failure is EVAL_FAILURE, VALUE_TOO_LARGE, WORK_EXCEEDED or EVAL_PANIC, in
// our words, with line and column (EX-11, EV-13). The same expression over the
// same values with the same budget gives the same answer, and uses the same
// steps and bytes, everywhere.
func (e *Expr) Eval(env Env, m *Meter) (starlark.Value, *failure.Failure) {
	return m.run(env, e)
}

// run evaluates a whole expression or template and turns a panic into a
// failure. Evaluations with one meter may be nested in Env.Lookup.
func (m *Meter) run(env Env, n node) (v starlark.Value, f *failure.Failure) {
	outerEnv, outerVars := m.env, m.vars
	m.env = env
	defer func() {
		m.env, m.vars = outerEnv, outerVars
		if recover() != nil {
			v, f = nil, fail(failure.EvalPanic, "the evaluator failed on this expression")
		}
	}()
	return m.eval(n)
}

// eval makes an Expr a node of a template.
func (e *Expr) eval(m *Meter) (starlark.Value, *failure.Failure) {
	if e.slots > 0 {
		if f := m.alloc(uint64(e.slots) * slotBytes); f != nil {
			return nil, e.within(f)
		}
		m.vars = make([]starlark.Value, e.slots)
	}
	v, f := m.eval(e.root)
	if f == nil {
		if f = leaving(v); f == nil {
			return v, nil
		}
		locate(f, e.root)
	}
	return nil, e.within(f)
}

// at is unknown: the nodes inside know better.
func (e *Expr) at() place { return place{} }

// within says in which part of a template a failure happened.
func (e *Expr) within(f *failure.Failure) *failure.Failure {
	if e.path != "" {
		f.Message = failure.Clip(e.path + ": " + f.Message)
	}
	return f
}

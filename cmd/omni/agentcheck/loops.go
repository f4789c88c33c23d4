package agentcheck

import (
	"fmt"
	"math"
	"math/big"

	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
)

// scriptLoops finds loops that the bounds of a script end and not the script: ranges
// that are longer than its steps, functions that call themselves, a main that always
// goes on.
func (c *checker) scriptLoops(file *syntax.File) {
	c.rounds(file.Stmts, 1)
	defs := functions(file)
	for name, def := range defs {
		syntax.Walk(def, func(n syntax.Node) bool {
			if call, to := called(n); call != nil && to == name {
				c.find(Finding{
					Severity: Error, Rule: RuleLoop, Message: "the function " + name + " calls itself, which no script may", Hint: "write a loop",
				}, position(call))
			}
			return true
		})
	}
	if main := defs["main"]; main != nil {
		c.goesOn(main)
	}
}

// rounds follows statements, of which each is run as often as the loops around it say.
func (c *checker) rounds(stmts []syntax.Stmt, times float64) {
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
		case *syntax.ForStmt:
			c.loop(stmt, times)
		case *syntax.IfStmt:
			c.rounds(stmt.True, times)
			c.rounds(stmt.False, times)
		case *syntax.DefStmt:
			c.rounds(stmt.Body, 1)
		}
	}
}

func (c *checker) loop(stmt *syntax.ForStmt, times float64) {
	times *= max(1, length(stmt.X))
	switch ends := leaves(stmt.Body); {
	case times > script.MaxSteps && ends:
		c.find(Finding{
			Severity: Warning, Rule: RuleLoop, Message: fmt.Sprintf("the loop may go on for %.0f rounds, and a script has %d steps", times, script.MaxSteps),
			Hint: "begin anew with again(state) before that",
		}, position(stmt))
	case times > script.MaxSteps:
		c.find(Finding{
			Severity: Error, Rule: RuleLoop, Message: fmt.Sprintf("the loop goes on for %.0f rounds, and a script has %d steps: it ends with WORK_EXCEEDED", times, script.MaxSteps),
			Hint: "do less at once, and go on with again(state)",
		}, position(stmt))
	case times > script.MaxCalls && asks(stmt.Body) && !ends:
		c.find(Finding{
			Severity: Error, Rule: RuleLoop, Message: fmt.Sprintf("the loop makes %.0f calls, and a tick at most %d: it ends with CALL_OVERFLOW", times, script.MaxCalls),
			Hint: "make some, and go on with again(state)",
		}, position(stmt))
	default:
		c.rounds(stmt.Body, times)
	}
}

// length of what a for goes over, where it is a range that is written out; 0 for any
// other.
func length(e syntax.Expr) float64 {
	call, name := called(e)
	if call == nil || name != "range" {
		return 0
	}
	var bounds []float64
	for _, arg := range call.Args {
		n, ok := whole(arg)
		if !ok {
			return 0
		}
		bounds = append(bounds, n)
	}
	switch len(bounds) {
	case 1:
		return bounds[0]
	case 2:
		return bounds[1] - bounds[0]
	case 3:
		if bounds[2] != 0 {
			return (bounds[1] - bounds[0]) / bounds[2]
		}
	}
	return 0
}

// whole is an integer that is written out: digits, and products and powers of ten made
// of them.
func whole(e syntax.Expr) (float64, bool) {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		x, ok := whole(e.X)
		y, also := whole(e.Y)
		switch {
		case !ok || !also:
			return 0, false
		case e.Op == syntax.STAR:
			return x * y, true
		case e.Op == syntax.PLUS:
			return x + y, true
		case e.Op == syntax.LTLT:
			return x * math.Pow(2, y), true
		}
	case *syntax.UnaryExpr:
		x, ok := whole(e.X)
		return -x, ok && e.Op == syntax.MINUS
	}
	switch v := literal(e).(type) {
	case int64:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	}
	return 0, false
}

// leaves reports whether something in a loop may end it: break, return, fail or again.
func leaves(stmts []syntax.Stmt) bool {
	found := false
	for _, stmt := range stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BranchStmt:
				found = found || n.Token == syntax.BREAK
			case *syntax.ReturnStmt:
				found = true
			case *syntax.CallExpr:
				_, name := called(n)
				found = found || name == "fail" || name == "again" || name == "must"
			}
			return true
		})
	}
	return found
}

// asks reports whether every round of a loop makes a call.
func asks(stmts []syntax.Stmt) bool {
	for _, stmt := range stmts {
		switch stmt.(type) {
		case *syntax.ExprStmt, *syntax.AssignStmt:
		default:
			continue
		}
		found := false
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch _, name := called(n); name {
			case "call", "gather", "sleep", "receive", "recall", "remember", "delegate":
				found = true
			}
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// goesOn tells of a task agent whose main begins again whatever happens.
func (c *checker) goesOn(main *syntax.DefStmt) {
	if c.Define.Mode == "service" {
		return
	}
	for i, stmt := range main.Body {
		expr, ok := stmt.(*syntax.ExprStmt)
		if !ok {
			continue
		}
		if call, name := called(expr.X); name == "again" && !leaves(main.Body[:i]) {
			c.find(Finding{
				Severity: Warning, Rule: RuleLoop, Message: "main always begins again: an agent of mode task never completes",
				Hint: "return when it is done, or make it a service",
			}, position(call))
		}
	}
}

// stdLoops finds loops of std/1 that are longer than a tick may be.
func (c *checker) stdLoops(program any) {
	most := float64(config.Default().MaxStepsPerTick)
	instructions(program, "program", nil, func(in instruction, within []instruction) {
		if in.kind != "LOOP" {
			return
		}
		times, ends := 1.0, false
		for _, around := range append(within[:len(within):len(within)], in) {
			if around.kind == "LOOP" {
				if rounds, ok := around.payload["max"].(int64); ok {
					times *= float64(rounds)
				}
				_, while := around.payload["while"]
				ends = ends || while
			}
		}
		f := Finding{Severity: Error, Rule: RuleLoop, Hint: "split the work over several instructions of the agent's queue"}
		switch {
		case times <= most:
			return
		case ends:
			f.Severity = Warning
			f.Message = fmt.Sprintf("the loop may go on for %.0f rounds, and a tick has %.0f steps", times, most)
		default:
			f.Message = fmt.Sprintf("the loop goes on for %.0f rounds, and a tick has %.0f steps: it ends with TICK_OVERFLOW", times, most)
		}
		c.find(f, where{field: in.path})
	})
}

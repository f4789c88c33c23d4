package script

import (
	"math/big"
	"strconv"

	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// rewriter turns the tree of a script into the one that runs. Every operator,
// every access to a part of a value, every display of a dict becomes a call of a
// builtin that charges for what it does before it does it; what the language
// does not offer is refused. It bounds the depth as it goes, so that nothing
// after it recurses deeper.
type rewriter struct {
	src       *source
	depth     int
	functions int
	nodes     int // of the function at hand
	names     []*syntax.Ident
	wrong     *failure.Refusal // the first one
}

// refuse keeps the first refusal.
func (w *rewriter) refuse(pos syntax.Position, rule, hint string) {
	if w.wrong == nil {
		w.wrong = w.src.refuse(pos.Line, pos.Col, rule, hint)
	}
}

// enter goes one level down; false where that is too deep, or where nothing
// more is to be done.
func (w *rewriter) enter(pos syntax.Position) bool {
	w.depth++
	w.nodes++
	if w.depth > MaxTreeDepth {
		w.refuse(pos, "the script is nested deeper than 200", "take it apart into functions and names; a chain of operators counts, too")
	}
	return w.wrong == nil
}

func (w *rewriter) leave() { w.depth-- }

// op is a call of a builtin whose name no script can write.
func op(pos syntax.Position, name string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: name}, Lparen: pos, Args: args, Rparen: pos}
}

func text(pos syntax.Position, s string) *syntax.Literal {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: pos, Raw: strconv.Quote(s), Value: s}
}

func number(pos syntax.Position, n int) *syntax.Literal {
	return &syntax.Literal{Token: syntax.INT, TokenPos: pos, Raw: strconv.Itoa(n), Value: int64(n)}
}

// expr rewrites one expression.
func (w *rewriter) expr(e syntax.Expr) syntax.Expr {
	defer w.leave()
	if !w.enter(leftmost(e)) {
		return e
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return w.literal(e)
	case *syntax.Ident:
		w.names = append(w.names, e)
		return e
	case *syntax.ParenExpr:
		return w.expr(e.X)
	case *syntax.DotExpr:
		return op(e.Name.NamePos, opMember, w.expr(e.X), text(e.Name.NamePos, e.Name.Name))
	case *syntax.IndexExpr:
		return op(e.Lbrack, opIndex, w.expr(e.X), w.expr(e.Y))
	case *syntax.SliceExpr:
		return op(e.Lbrack, opSlice, w.expr(e.X), w.bound(e.Lo, e), w.bound(e.Hi, e), w.bound(e.Step, e))
	case *syntax.CallExpr:
		return w.call(e)
	case *syntax.ListExpr:
		w.exprs(e.List)
		return e
	case *syntax.TupleExpr:
		w.exprs(e.List)
		return e
	case *syntax.DictExpr:
		return w.dict(e)
	case *syntax.Comprehension:
		return w.comprehension(e)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = w.expr(e.Cond), w.expr(e.True), w.expr(e.False)
		return e
	case *syntax.LambdaExpr:
		return w.lambda(e)
	case *syntax.UnaryExpr:
		return w.unary(e)
	case *syntax.BinaryExpr:
		return w.binary(e)
	}
	w.refuse(leftmost(e), "this is not offered in a script", "")
	return e
}

// leftmost is a position near e, found without walking down a spine.
func leftmost(e syntax.Expr) syntax.Position {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return e.OpPos
	case *syntax.DotExpr:
		return e.Dot
	case *syntax.IndexExpr:
		return e.Lbrack
	case *syntax.SliceExpr:
		return e.Lbrack
	case *syntax.CallExpr:
		return e.Lparen
	case *syntax.CondExpr:
		return e.If
	case *syntax.TupleExpr:
		if !e.Lparen.IsValid() && len(e.List) > 0 {
			return leftmost(e.List[0])
		}
		return e.Lparen
	}
	return syntax.Start(e)
}

func (w *rewriter) exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = w.expr(list[i])
	}
}

func (w *rewriter) bound(e syntax.Expr, s *syntax.SliceExpr) syntax.Expr {
	if e == nil {
		return &syntax.Ident{NamePos: s.Lbrack, Name: nameNothing}
	}
	return w.expr(e)
}

func (w *rewriter) literal(e *syntax.Literal) syntax.Expr {
	switch v := e.Value.(type) {
	case *big.Int:
		if v.BitLen() > expr.MaxIntBits {
			w.refuse(e.TokenPos, "an integer has at most 4096 bits", "")
		}
	case float64:
		// One way to hold a number: 2.0 is 2.
		if n := int64(v); v == float64(n) && n <= 1<<53 && n >= -(1<<53) {
			return &syntax.Literal{Token: syntax.INT, TokenPos: e.TokenPos, Raw: e.Raw, Value: n}
		}
	}
	if e.Token == syntax.BYTES {
		w.refuse(e.TokenPos, "there are no byte strings", "leave the b away")
	}
	return e
}

func (w *rewriter) unary(e *syntax.UnaryExpr) syntax.Expr {
	switch e.Op {
	case syntax.NOT:
		e.X = w.expr(e.X)
		return e
	case syntax.MINUS, syntax.PLUS, syntax.TILDE:
		return op(e.OpPos, opUnary+e.Op.String(), w.expr(e.X))
	}
	w.refuse(e.OpPos, "this is not offered in a script", "")
	return e
}

func (w *rewriter) binary(e *syntax.BinaryExpr) syntax.Expr {
	switch e.Op {
	case syntax.AND, syntax.OR:
		e.X, e.Y = w.expr(e.X), w.expr(e.Y)
		return e
	}
	if _, known := binaryOperators[e.Op.String()]; !known {
		w.refuse(e.OpPos, "there is no operator "+e.Op.String(), "")
		return e
	}
	return op(e.OpPos, e.Op.String(), w.expr(e.X), w.expr(e.Y))
}

// dict makes {k: v} a call with the list of keys and values.
func (w *rewriter) dict(e *syntax.DictExpr) syntax.Expr {
	list := &syntax.ListExpr{Lbrack: e.Lbrace, Rbrack: e.Rbrace}
	for _, item := range e.List {
		entry, ok := item.(*syntax.DictEntry)
		if !ok {
			w.refuse(e.Lbrace, "a dict has key: value pairs", "")
			return e
		}
		list.List = append(list.List, w.expr(entry.Key), w.expr(entry.Value))
	}
	return op(e.Lbrace, opDict, list)
}

func (w *rewriter) comprehension(e *syntax.Comprehension) syntax.Expr {
	for _, clause := range e.Clauses {
		switch clause := clause.(type) {
		case *syntax.ForClause:
			w.targets(clause.Vars)
			clause.X = op(clause.For, opIterate, w.expr(clause.X))
		case *syntax.IfClause:
			clause.Cond = w.expr(clause.Cond)
		}
	}
	if !e.Curly {
		e.Body = w.expr(e.Body)
		return op(e.Lbrack, opList, e)
	}
	entry, ok := e.Body.(*syntax.DictEntry)
	if !ok {
		w.refuse(e.Lbrack, "there are no sets", "use a dict, or a list")
		return e
	}
	e.Curly = false
	e.Body = &syntax.TupleExpr{Lparen: entry.Colon, List: []syntax.Expr{w.expr(entry.Key), w.expr(entry.Value)}, Rparen: entry.Colon}
	return op(e.Lbrack, opPairs, e)
}

// call rewrites f(…), and x.f(…), which names a method.
func (w *rewriter) call(e *syntax.CallExpr) syntax.Expr {
	if len(e.Args) > MaxArgs {
		w.refuse(e.Lparen, "a call has at most 250 arguments", "hand on a list")
		return e
	}
	for i, arg := range e.Args {
		switch arg := arg.(type) {
		case *syntax.BinaryExpr:
			if arg.Op == syntax.EQ { // name=value
				arg.Y = w.expr(arg.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
				arg.X = op(arg.OpPos, opSpread+arg.Op.String(), w.expr(arg.X))
				continue
			}
		}
		e.Args[i] = w.expr(arg)
	}
	dot, ok := e.Fn.(*syntax.DotExpr)
	if !ok {
		e.Fn = w.expr(e.Fn)
		return e
	}
	args := append([]syntax.Expr{w.expr(dot.X), text(dot.Name.NamePos, dot.Name.Name)}, e.Args...)
	return op(dot.Name.NamePos, opMethod, args...)
}

package script

import "go.starlark.net/syntax"

// stmts rewrites the statements of a block.
func (w *rewriter) stmts(list []syntax.Stmt) []syntax.Stmt {
	for i := range list {
		list[i] = w.stmt(list[i])
	}
	return list
}

func (w *rewriter) stmt(s syntax.Stmt) syntax.Stmt {
	defer w.leave()
	if !w.enter(start(s)) {
		return s
	}
	switch s := s.(type) {
	case *syntax.ExprStmt:
		s.X = w.expr(s.X)
	case *syntax.AssignStmt:
		return w.assign(s)
	case *syntax.DefStmt:
		s.Body = w.function(s.Def, s.Params, s.Body)
	case *syntax.IfStmt:
		s.Cond = w.expr(s.Cond)
		w.stmts(s.True)
		w.stmts(s.False)
	case *syntax.ForStmt:
		w.targets(s.Vars)
		s.X = op(s.For, opIterate, w.expr(s.X))
		w.stmts(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = w.expr(s.Result)
		}
	case *syntax.BranchStmt:
	case *syntax.WhileStmt:
		w.refuse(s.While, "there is no while: every loop ends", "write for i in range(n) with the most rounds you want, and break")
	case *syntax.LoadStmt:
		w.refuse(s.Load, "there is no load: a script is one file", "")
	default:
		w.refuse(start(s), "this is not offered in a script", "")
	}
	return s
}

// start is a position near s, found without walking down a spine.
func start(s syntax.Stmt) syntax.Position {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		return leftmost(s.X)
	case *syntax.AssignStmt:
		return s.OpPos
	}
	return syntax.Start(s)
}

// function rewrites parameters and body of a function. A large one begins with
// a charge for the room that a call of it takes.
func (w *rewriter) function(pos syntax.Position, params []syntax.Expr, body []syntax.Stmt) []syntax.Stmt {
	w.params(pos, params)
	outside := w.nodes
	w.nodes = 0
	w.stmts(body)
	if w.nodes > smallBody {
		charge := &syntax.ExprStmt{X: op(pos, opRoom, number(pos, w.nodes))}
		body = append([]syntax.Stmt{charge}, body...)
	}
	w.nodes = outside
	return body
}

func (w *rewriter) params(pos syntax.Position, params []syntax.Expr) {
	if w.functions++; w.functions > MaxFunctions {
		w.refuse(pos, "a script has at most 1000 functions", "")
	}
	if len(params) > MaxArgs {
		w.refuse(pos, "a function has at most 250 parameters", "")
	}
	for _, param := range params {
		switch param := param.(type) {
		case *syntax.BinaryExpr: // name=default
			param.Y = w.expr(param.Y)
		case *syntax.UnaryExpr:
			if param.Op == syntax.STARSTAR {
				w.refuse(param.OpPos, "there is no parameter **", "take a dict")
			}
		}
	}
}

func (w *rewriter) lambda(e *syntax.LambdaExpr) syntax.Expr {
	w.params(e.Lambda, e.Params)
	outside := w.nodes
	w.nodes = 0
	e.Body = w.expr(e.Body)
	if w.nodes > smallBody {
		w.refuse(e.Lambda, "the lambda is too large", "write a def")
	}
	w.nodes = outside
	return e
}

// targets checks what a for, or an assignment to several, binds: names.
func (w *rewriter) targets(e syntax.Expr) (count int) {
	defer w.leave()
	if !w.enter(leftmost(e)) {
		return 0
	}
	switch e := e.(type) {
	case *syntax.Ident:
		return 1
	case *syntax.ParenExpr:
		return w.targets(e.X)
	case *syntax.TupleExpr:
		return w.several(e.List)
	case *syntax.ListExpr:
		return w.several(e.List)
	}
	w.refuse(leftmost(e), "only names can be bound here", "assign to an item on a line of its own")
	return 0
}

func (w *rewriter) several(list []syntax.Expr) int {
	for _, e := range list {
		w.targets(e)
	}
	return len(list)
}

// assign rewrites x = v, x[i] = v, x, y = v and the forms with an operator.
func (w *rewriter) assign(s *syntax.AssignStmt) syntax.Stmt {
	lhs := s.LHS
	for {
		paren, ok := lhs.(*syntax.ParenExpr)
		if !ok {
			break
		}
		lhs = paren.X
	}
	s.LHS = lhs
	switch lhs := lhs.(type) {
	case *syntax.Ident:
		if s.Op == syntax.EQ {
			s.RHS = w.expr(s.RHS)
			return s
		}
		read := &syntax.Ident{NamePos: lhs.NamePos, Name: lhs.Name}
		return &syntax.AssignStmt{OpPos: s.OpPos, Op: syntax.EQ, LHS: lhs, RHS: op(s.OpPos, s.Op.String(), w.expr(read), w.expr(s.RHS))}
	case *syntax.IndexExpr:
		return &syntax.ExprStmt{X: op(s.OpPos, opItem+s.Op.String(), w.expr(lhs.X), w.expr(lhs.Y), w.expr(s.RHS))}
	case *syntax.TupleExpr, *syntax.ListExpr:
		if s.Op == syntax.EQ {
			s.RHS = op(s.OpPos, opUnpack, w.expr(s.RHS), number(s.OpPos, w.targets(lhs)))
			return s
		}
	case *syntax.DotExpr:
		w.refuse(lhs.Dot, "members are set by key", `write x["`+lhs.Name.Name+`"] = …`)
		return s
	}
	w.refuse(s.OpPos, "this cannot be assigned to", "")
	return s
}

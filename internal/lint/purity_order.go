package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// ranged judges a range statement: the order of a map differs between
// replicas, and between two runs of one.
func (p *purity) ranged(n *ast.RangeStmt) {
	if n.Tok == token.ASSIGN {
		for _, target := range []ast.Expr{n.Key, n.Value} {
			if target != nil {
				p.assigned(target)
			}
		}
	}
	if _, isChannel := p.typeOf(n.X).Underlying().(*types.Chan); isChannel {
		p.report(n.Pos(), "the kernel has no channels")
	}
	if isMap(p.typeOf(n.X)) && !p.isAnswered("ordered", n.Pos()) {
		p.report(n.Pos(), "range over a map has no order: sort the keys, or say //lint:ordered with the reason why it cannot matter")
	}
}

// isMap sees through names and type parameters.
func isMap(t types.Type) bool {
	if parameter, ok := t.(*types.TypeParam); ok {
		constraint, ok := parameter.Constraint().Underlying().(*types.Interface)
		for i := 0; ok && i < constraint.NumEmbeddeds(); i++ {
			if embedsMap(constraint.EmbeddedType(i)) {
				return true
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func embedsMap(t types.Type) bool {
	union, ok := t.(*types.Union)
	if !ok {
		return isMap(t)
	}
	for i := range union.Len() {
		if isMap(union.Term(i).Type()) {
			return true
		}
	}
	return false
}

// called judges a call: builtins that change their argument, conversions to
// and from floats, results in map order, text of others' making.
func (p *purity) called(n *ast.CallExpr, parents []ast.Node) {
	if target := p.pkg.TypesInfo.Types[n.Fun]; target.IsType() {
		if len(n.Args) == 1 {
			p.converted(n, target.Type)
		}
		return
	}
	switch callee := p.object(n.Fun).(type) {
	case *types.Builtin:
		switch callee.Name() {
		case "delete", "clear", "copy":
			p.assigned(n.Args[0])
		case "print", "println":
			p.report(n.Pos(), "the kernel prints nothing")
		}
	case *types.Func:
		p.calledFunction(n, callee, parents)
	}
}

func (p *purity) calledFunction(n *ast.CallExpr, callee *types.Func, parents []ast.Node) {
	name := callee.FullName()
	name = strings.NewReplacer("(", "", ")", "", "*", "").Replace(name)
	if unorderedCalls[name] && !p.isAnswered("ordered", n.Pos()) && !p.inCallTo(parents, "slices.Sorted") {
		p.report(n.Pos(), "%s has no order: put it into slices.Sorted, or say //lint:ordered with the reason why it cannot matter", name)
	}
	if callee.Name() == "Error" && isErrorMethod(callee) && !p.isAnswered("text", n.Pos()) && !p.inPanic(parents) {
		p.report(n.Pos(), "an error's text is not ours and must not reach a record: use a code, or say //lint:text with the reason")
	}
	signature, ok := callee.Type().(*types.Signature)
	if selector, is := n.Fun.(*ast.SelectorExpr); ok && is && signature.Recv() != nil {
		if _, pointer := signature.Recv().Type().(*types.Pointer); pointer {
			p.receiver(selector.X)
		}
	}
	if !p.floats && callee.Pkg() != nil && callee.Pkg().Path() == "math" {
		p.report(n.Pos(), "package math computes floats: constants only")
	}
}

// object resolves the name that an expression calls or stands for.
func (p *purity) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return p.pkg.TypesInfo.Uses[e]
	case *ast.SelectorExpr:
		return p.pkg.TypesInfo.Uses[e.Sel]
	case *ast.IndexExpr:
		return p.object(e.X)
	case *ast.IndexListExpr:
		return p.object(e.X)
	}
	return nil
}

// inCallTo reports whether the innermost parent is a call of a function whose
// full name begins so: slices.Sorted and its variants.
func (p *purity) inCallTo(parents []ast.Node, prefix string) bool {
	if len(parents) == 0 {
		return false
	}
	call, ok := parents[len(parents)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	callee, ok := p.object(call.Fun).(*types.Func)
	return ok && strings.HasPrefix(callee.FullName(), prefix)
}

// inPanic reports whether the node is part of a panic's argument: what ends
// the process is read by people and enters no record.
func (p *purity) inPanic(parents []ast.Node) bool {
	for _, parent := range parents {
		if call, ok := parent.(*ast.CallExpr); ok {
			if builtin, ok := p.object(call.Fun).(*types.Builtin); ok && builtin.Name() == "panic" {
				return true
			}
		}
	}
	return false
}

// isErrorMethod reports whether f is the method of the error interface itself:
// of a value whose maker is unknown.
func isErrorMethod(f *types.Func) bool {
	signature, ok := f.Type().(*types.Signature)
	if !ok || signature.Recv() == nil {
		return false
	}
	return types.Identical(signature.Recv().Type(), types.Universe.Lookup("error").Type())
}

// selected judges a name of another package.
func (p *purity) selected(n *ast.SelectorExpr) {
	object := p.pkg.TypesInfo.Uses[n.Sel]
	if object == nil || object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
		return
	}
	if pure, narrowed := kernelOnly[object.Pkg().Path()]; narrowed && !pure[object.Name()] {
		p.report(n.Pos(), "the kernel may not use %s.%s", object.Pkg().Name(), object.Name())
	}
}

package lint

import (
	"go/ast"
	"go/token"
	"go/types"
)

// assignment judges what stands on the left, and float arithmetic by op=.
func (p *purity) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE {
		return
	}
	for _, target := range n.Lhs {
		p.assigned(target)
	}
	if n.Tok != token.ASSIGN {
		p.computed(nil, n.Lhs[0])
	}
}

// assigned reports a package variable that is written to, wholly or in part.
func (p *purity) assigned(target ast.Expr) {
	if v := p.packageVariable(target); v != nil {
		p.report(target.Pos(), "package variable %s is written to: state belongs into tables", v.Name())
	}
}

// addressed reports a package variable whose address is taken: whoever has it
// can write.
func (p *purity) addressed(target ast.Expr) {
	if v := p.packageVariable(target); v != nil && !p.isAnswered("readonly", target.Pos()) {
		p.report(target.Pos(), "the address of package variable %s is taken: whoever has it can write; if nobody does, say //lint:readonly with the reason", v.Name())
	}
}

// receiver reports a package variable on which a method with a pointer
// receiver is called; one that is a pointer itself counts too.
func (p *purity) receiver(target ast.Expr) {
	if v := p.packageVariable(target); v != nil && !p.isAnswered("readonly", target.Pos()) {
		p.report(target.Pos(), "package variable %s is the receiver of a method that can write to it; if it does not, say //lint:readonly with the reason", v.Name())
	}
}

// packageVariable returns the variable of package level that an expression
// reaches into, or nil.
func (p *purity) packageVariable(e ast.Expr) *types.Var {
	for {
		switch at := e.(type) {
		case *ast.ParenExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.SliceExpr:
			e = at.X
		case *ast.StarExpr:
			e = at.X
		case *ast.SelectorExpr:
			if v := asPackageVariable(p.pkg.TypesInfo.Uses[at.Sel]); v != nil {
				return v // other.Variable
			}
			e = at.X
		case *ast.Ident:
			return asPackageVariable(p.pkg.TypesInfo.Uses[at])
		default:
			return nil
		}
	}
}

func asPackageVariable(object types.Object) *types.Var {
	v, ok := object.(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

// computed reports arithmetic or a comparison on floats. What the compiler
// computes is no matter.
func (p *purity) computed(whole, operand ast.Expr) {
	if p.floats || !isFloat(p.typeOf(operand)) {
		return
	}
	if whole != nil && p.pkg.TypesInfo.Types[whole].Value != nil {
		return
	}
	p.report(operand.Pos(), "the kernel computes no floats: use integers and name their unit")
}

func (p *purity) converted(n *ast.CallExpr, to types.Type) {
	from := p.typeOf(n.Args[0])
	if p.floats || p.pkg.TypesInfo.Types[n].Value != nil || isFloat(from) == isFloat(to) {
		return
	}
	p.report(n.Pos(), "the kernel computes no floats: use integers and name their unit")
}

func isFloat(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0
}

package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Purity checks that the kernel's code is a function of its input, the same on
// every replica: no library that is not on the list, no goroutine, channel or
// select, no init, no package variable that changes, no iteration in map
// order, no floats outside of programs' own, no text of another's making. It
// type-checks the packages under kernel; one that does not compile is a
// finding, and what could be understood of it is judged all the same.
func Purity(root string) ([]Finding, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	tree := &Tree{Root: root, Module: module, Fset: token.NewFileSet()}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedCompiledGoFiles,
		Dir:  root,
		Fset: tree.Fset,
	}, "./kernel/...")
	if err != nil {
		return nil, fmt.Errorf("loading the kernel's packages: %w", err)
	}
	var findings []Finding
	for _, p := range loaded {
		dir := strings.TrimPrefix(p.PkgPath, module+"/")
		if impurePackages[dir] != "" {
			continue
		}
		for _, problem := range p.Errors {
			findings = append(findings, Finding{File: dir, Text: "does not compile: " + problem.Msg})
		}
		judge := &purity{tree: tree, pkg: p, floats: slices.ContainsFunc(floatPackages, func(f string) bool { return within(dir, f) })}
		for _, file := range p.Syntax {
			judge.file(file)
		}
		findings = append(findings, judge.findings...)
	}
	return inOrder(findings), nil
}

// purity judges the files of one package.
type purity struct {
	tree     *Tree
	pkg      *packages.Package
	floats   bool            // the package may compute with floats
	answered map[string]bool // "kind:line" of //lint: comments in the current file
	findings []Finding
}

func (p *purity) report(pos token.Pos, format string, args ...any) {
	p.findings = append(p.findings, p.tree.at(pos, fmt.Sprintf(format, args...)))
}

func (p *purity) file(file *ast.File) {
	p.answered = answers(p.tree.Fset, file)
	for _, spec := range file.Imports {
		p.imported(spec)
	}
	var parents []ast.Node
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		p.node(node, parents)
		parents = append(parents, node)
		return true
	})
}

// answers collects the //lint: comments that have a reason. A comment behind
// code answers for its line, one on a line of its own for the next.
func answers(fset *token.FileSet, file *ast.File) map[string]bool {
	code := make(map[int]bool) // lines on which something begins or ends
	ast.Inspect(file, func(node ast.Node) bool {
		switch node.(type) {
		case nil, *ast.File, *ast.CommentGroup, *ast.Comment:
		default:
			code[fset.Position(node.Pos()).Line] = true
			code[fset.Position(node.End()).Line] = true
		}
		return true
	})
	answered := make(map[string]bool)
	for _, group := range file.Comments {
		for _, comment := range group.List {
			rest, ok := strings.CutPrefix(comment.Text, "//lint:")
			kind, reason, _ := strings.Cut(rest, " ")
			if !ok || strings.TrimSpace(reason) == "" {
				continue
			}
			line := fset.Position(comment.Pos()).Line
			if !code[line] {
				line++
			}
			answered[kind+":"+strconv.Itoa(line)] = true
		}
	}
	return answered
}

func (p *purity) isAnswered(kind string, pos token.Pos) bool {
	return p.answered[kind+":"+strconv.Itoa(p.tree.Fset.Position(pos).Line)]
}

func (p *purity) imported(spec *ast.ImportSpec) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil || name == p.tree.Module || strings.HasPrefix(name, p.tree.Module+"/") {
		return
	}
	if !kernelLibraries[name] {
		p.report(spec.Pos(), "the kernel may not import %s", name)
	}
	if spec.Name != nil && spec.Name.Name == "." {
		p.report(spec.Pos(), "a dot import hides where names come from")
	}
}

// node judges one node on its own; parents are its ancestors, innermost last.
func (p *purity) node(node ast.Node, parents []ast.Node) {
	switch n := node.(type) {
	case *ast.GoStmt:
		p.report(n.Pos(), "the kernel starts no goroutine")
	case *ast.SelectStmt:
		p.report(n.Pos(), "the kernel does not select")
	case *ast.ChanType:
		p.report(n.Pos(), "the kernel has no channels")
	case *ast.SendStmt:
		p.report(n.Pos(), "the kernel has no channels")
	case *ast.FuncDecl:
		if n.Name.Name == "init" && n.Recv == nil {
			p.report(n.Pos(), "the kernel has no init: tables are literals")
		}
	case *ast.RangeStmt:
		p.ranged(n)
	case *ast.CallExpr:
		p.called(n, parents)
	case *ast.SelectorExpr:
		p.selected(n)
	case *ast.UnaryExpr:
		p.unary(n)
	case *ast.BinaryExpr:
		p.computed(n, n.X)
	case *ast.IncDecStmt:
		p.assigned(n.X)
		p.computed(nil, n.X)
	case *ast.AssignStmt:
		p.assignment(n)
	}
}

func (p *purity) unary(n *ast.UnaryExpr) {
	switch n.Op {
	case token.ARROW:
		p.report(n.Pos(), "the kernel has no channels")
	case token.AND:
		p.addressed(n.X)
	case token.SUB, token.ADD:
		p.computed(n, n.X)
	}
}

func (p *purity) typeOf(e ast.Expr) types.Type {
	if t := p.pkg.TypesInfo.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

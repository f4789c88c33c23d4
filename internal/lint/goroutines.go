package lint

import (
	"go/ast"
	"strconv"
)

// Goroutines finds goroutines of a node that nothing supervises: a panic in one ends
// the process, where it should be its component's failure (NO-1). A go statement is
// one, and so are the library's ways to start some: sync.WaitGroup, errgroup,
// time.AfterFunc, and context.AfterFunc with a function written in its place. Tests may,
// and so may what the policy lists.
func Goroutines(t *Tree) []Finding { return goroutinesBut(t, unsupervised) }

// goroutinesBut is Goroutines with other exceptions: files or directories.
func goroutinesBut(t *Tree, exceptions map[string]string) []Finding {
	var findings []Finding
	for _, file := range t.Files {
		if file.Test || !runsInNode(file) || exceptions[file.Path] != "" || exceptions[file.Dir] != "" {
			continue
		}
		for _, spec := range file.AST.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil && name == "golang.org/x/sync/errgroup" {
				findings = append(findings, t.at(spec.Pos(), notSupervised))
			}
		}
		ast.Inspect(file.AST, func(node ast.Node) bool {
			if node != nil && startsGoroutine(node) {
				findings = append(findings, t.at(node.Pos(), notSupervised))
			}
			return true
		})
	}
	return inOrder(findings)
}

const notSupervised = "a panic in this goroutine would end the process: start it with supervise.Group or supervise.Begin"

// runsInNode tells whether a file's code runs in a node's process, beside the kernel and
// its FSM, which are Raft's to drive.
func runsInNode(f *File) bool {
	return f.Dir == "cmd/omni" || within(f.Dir, "cluster") || within(f.Dir, "transport/httpapi") || within(f.Dir, "transport/raftstream")
}

func startsGoroutine(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GoStmt:
		return true
	case *ast.SelectorExpr:
		return isOf(n, "sync", "WaitGroup") || isOf(n, "time", "AfterFunc")
	case *ast.CallExpr:
		if called, ok := n.Fun.(*ast.SelectorExpr); ok && isOf(called, "context", "AfterFunc") && len(n.Args) == 2 {
			_, written := n.Args[1].(*ast.FuncLit)
			return written
		}
	}
	return false
}

func isOf(s *ast.SelectorExpr, library, name string) bool {
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == library && s.Sel.Name == name
}

package lint

import (
	"go/ast"
)

// Skips finds tests that excuse themselves. A test runs or it is not there:
// what was skipped once is green for ever.
func Skips(t *Tree) []Finding {
	var findings []Finding
	for _, file := range t.Files {
		if !file.Test {
			continue
		}
		ast.Inspect(file.AST, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			receiver, ok := selector.X.(*ast.Ident)
			if !ok || len(receiver.Name) != 1 { // t, b, f
				return true
			}
			switch selector.Sel.Name {
			case "Skip", "Skipf", "SkipNow":
				findings = append(findings, t.at(call.Pos(), "a test runs or it is not there: no skipping"))
			}
			return true
		})
	}
	return inOrder(findings)
}

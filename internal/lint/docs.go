package lint

import (
	"go/ast"
	"path"
	"strings"
)

// Docs checks that every package has a doc.go with the package's comment and
// nothing else, and that no other file has one.
func Docs(t *Tree) []Finding {
	var findings []Finding
	documented := make(map[string]bool)
	packages := make(map[string]string)
	for _, file := range t.Files {
		if file.Test {
			continue
		}
		packages[file.Dir] = file.AST.Name.Name
		if path.Base(file.Path) != "doc.go" {
			if file.AST.Doc != nil {
				findings = append(findings, t.at(file.AST.Doc.Pos(), "the package comment belongs into doc.go"))
			}
			continue
		}
		documented[file.Dir] = true
		findings = append(findings, judgeDoc(t, file)...)
	}
	for dir := range packages {
		if !documented[dir] {
			findings = append(findings, Finding{File: dir, Text: "has no doc.go: what is it for, who calls it in which order, what does it never do"})
		}
	}
	return inOrder(findings)
}

func judgeDoc(t *Tree, file *File) []Finding {
	want := "Package " + file.AST.Name.Name + " "
	if file.AST.Name.Name == "main" {
		want = "Command " + path.Base(file.Dir) + " "
	}
	if !strings.HasPrefix(file.AST.Doc.Text(), want) {
		return []Finding{{File: file.Path, Text: "must begin with a comment that begins: " + want}}
	}
	for _, decl := range file.AST.Decls {
		if general, ok := decl.(*ast.GenDecl); ok && isImport(general) {
			continue
		}
		return []Finding{t.at(decl.Pos(), "doc.go holds the package comment and no code")}
	}
	return nil
}

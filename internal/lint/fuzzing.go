package lint

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// fuzzingFile lists the fuzz targets.
const fuzzingFile = "docs/fuzzing.md"

// toolsDir holds a package for each kind of adapter; all read what others say.
const toolsDir = "cluster/tools/"

var fuzzTarget = regexp.MustCompile("`([a-z0-9/]+\\.Fuzz[A-Za-z0-9]+)`")

// Fuzzing holds the page of fuzz targets against the tree: both have the same,
// and the page has a word on every package of tools.
func Fuzzing(t *Tree) ([]Finding, error) {
	raw, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(fuzzingFile)))
	if err != nil {
		return nil, err
	}
	text := string(raw)
	listed := make(map[string]bool)
	for _, found := range fuzzTarget.FindAllStringSubmatch(text, -1) {
		listed[found[1]] = true
	}
	var findings []Finding
	there := make(map[string]bool)
	for _, file := range t.Files {
		for _, name := range fuzzTargets(file) {
			target := file.Dir + "." + name
			if there[target] = true; !listed[target] {
				findings = append(findings, Finding{File: file.Path, Text: target + " must stand in " + fuzzingFile + ", with what it reads and who sends that"})
			}
		}
		if kind, ok := strings.CutPrefix(file.Dir, toolsDir); ok && !strings.Contains(kind, "/") && !strings.Contains(text, "`"+file.Dir+"`") {
			findings = append(findings, Finding{File: file.Dir, Text: "must stand in " + fuzzingFile + ": what it reads that others wrote, and the fuzz target for that"})
		}
	}
	for target := range listed {
		if !there[target] {
			findings = append(findings, Finding{File: fuzzingFile, Text: target + " is no fuzz target of this tree"})
		}
	}
	return inOrder(findings), nil
}

func fuzzTargets(file *File) (names []string) {
	if !file.Test {
		return nil
	}
	for _, decl := range file.AST.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

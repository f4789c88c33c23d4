package lint

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// Imports checks the direction of imports between layers, the isolation of
// kernel modules from each other, and what clients and fault tests may see.
// Tests are held to the layers too, but a test of one kernel module may use
// others.
func Imports(t *Tree) []Finding {
	var findings []Finding
	for _, file := range t.Files {
		if top := topOf(file.Dir); !isKnownTop(top) && file.Dir != "." {
			findings = append(findings, Finding{File: file.Path, Text: "the top level is fixed; " + top + " is not part of it"})
			continue
		}
		for _, spec := range file.AST.Imports {
			target, ours := t.own(spec)
			if !ours {
				continue
			}
			if broken := judgeImport(file, target); broken != "" {
				findings = append(findings, t.at(spec.Pos(), file.Dir+" must not import "+target+": "+broken))
			}
		}
	}
	return inOrder(findings)
}

// own returns the directory of an imported package of this module.
func (t *Tree) own(spec *ast.ImportSpec) (dir string, ours bool) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "", false
	}
	if name == t.Module {
		return ".", true
	}
	return strings.CutPrefix(name, t.Module+"/")
}

func topOf(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

func isKnownTop(top string) bool {
	_, isLayer := layers[top]
	return isLayer || otherTops[top]
}

// judgeImport returns why a file must not import a package of this module, or
// the empty string.
func judgeImport(file *File, target string) string {
	from, to := topOf(file.Dir), topOf(target)
	switch {
	case within(target, "internal/lint"):
		return "nothing depends on the house rules"
	case to == "jepsen" && from != "jepsen":
		return "the product does not know its fault tests"
	case to == "cmd" && from != "cmd":
		return "everything is wired in cmd, nothing is taken from it"
	case from == "jepsen":
		return judgeJepsen(file.Dir, target)
	case within(file.Dir, "transport/client") && !file.Test:
		return judgeClient(target)
	}
	fromLayer, fromIs := layers[from]
	toLayer, toIs := layers[to]
	switch {
	case file.Test && testExceptions[[2]string{file.Dir, target}] != "":
		return ""
	case fromIs && toIs && toLayer > fromLayer:
		return "imports point from " + to + " to " + from
	case from == "kernel" && to == "kernel" && !file.Test:
		return judgeKernel(file.Dir, target)
	case from == "kernel" && !toIs && !file.Test:
		return "the kernel stands alone"
	}
	return ""
}

func judgeJepsen(dir, target string) string {
	switch to := topOf(target); {
	case to == "jepsen" || to == "internal":
		return ""
	case slices.Contains(simulated[dir], to):
		return ""
	}
	return judgeClient(target)
}

func judgeClient(target string) string {
	for _, allowed := range apiTypes {
		if within(target, allowed) {
			return ""
		}
	}
	return "only API types and the client are seen from outside"
}

// judgeKernel keeps modules apart. A package below a module belongs to it.
func judgeKernel(dir, target string) string {
	from, to := kernelModule(dir), kernelModule(target)
	switch {
	case from == to, vocabulary[to], kernelExceptions[[2]string{from, to}] != "":
		return ""
	case witnesses[from] != "" && notForWitnesses[to]:
		return "a second opinion does not ask the first one"
	case to == "." && drivers[from] == "":
		return "the root uses its modules, not the other way round"
	case composers[from] != "":
		return ""
	case vocabulary[from]:
		return "a vocabulary package uses vocabulary only"
	}
	return "modules do not see each other; what takes several is a flow"
}

// kernelModule is the first element below kernel, "." for the root.
func kernelModule(dir string) string {
	rest, below := strings.CutPrefix(dir, "kernel/")
	if !below {
		return "."
	}
	return topOf(rest)
}

// within reports whether a package is the named one or lies below it.
func within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, root+"/")
}

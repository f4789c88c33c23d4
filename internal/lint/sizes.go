package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Sizes measures what is past its bound: files by path, and functions outside
// of tests as path:Name or path:Type.Name, each with its number of lines.
func Sizes(t *Tree) map[string]int {
	sizes := make(map[string]int)
	for _, file := range t.Files {
		if file.Lines > maxFileLines {
			sizes[file.Path] = file.Lines
		}
		if file.Test {
			continue
		}
		for _, decl := range file.AST.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := t.Fset.Position(function.End()).Line - t.Fset.Position(function.Pos()).Line + 1
			if lines > maxFunctionLines {
				sizes[file.Path+":"+functionName(function)] = lines
			}
		}
	}
	return sizes
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

func isImport(d *ast.GenDecl) bool { return d.Tok == token.IMPORT }

// Ratchet compares what is past its bound with what was recorded. Nothing may
// be new or have grown; what has shrunk must be recorded so, or it could grow
// back unseen.
func Ratchet(recorded, measured map[string]int) []Finding {
	var findings []Finding
	for name, lines := range measured {
		limit, known := recorded[name]
		switch {
		case !known:
			findings = append(findings, Finding{File: name, Text: fmt.Sprintf("%d lines are too many: split it", lines)})
		case lines > limit:
			findings = append(findings, Finding{File: name, Text: fmt.Sprintf("has grown from %d to %d lines: split it", limit, lines)})
		case lines < limit:
			findings = append(findings, Finding{File: name, Text: fmt.Sprintf("has shrunk from %d to %d lines: record that with UPDATE=1", limit, lines)})
		}
	}
	for name := range recorded {
		if _, still := measured[name]; !still {
			findings = append(findings, Finding{File: name, Text: "is no longer too long: record that with UPDATE=1"})
		}
	}
	return inOrder(findings)
}

// Shrink is what UPDATE=1 records: the smaller of both numbers for what was
// recorded already, and nothing else.
func Shrink(recorded, measured map[string]int) map[string]int {
	shrunk := make(map[string]int)
	for name, limit := range recorded {
		if lines, still := measured[name]; still {
			shrunk[name] = min(limit, lines)
		}
	}
	return shrunk
}

// ParseSizes reads lines of a number and a name; # begins a comment line.
func ParseSizes(text string) (map[string]int, error) {
	sizes := make(map[string]int)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		number, name, _ := strings.Cut(line, " ")
		lines, err := strconv.Atoi(number)
		if err != nil || name == "" {
			return nil, fmt.Errorf("line %q is not a number and a name", line)
		}
		sizes[name] = lines
	}
	return sizes, nil
}

// FormatSizes writes what ParseSizes reads.
func FormatSizes(sizes map[string]int) string {
	var b strings.Builder
	b.WriteString("# Files past 500 lines and functions past 70. Numbers here only go down; see doc.go.\n")
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		fmt.Fprintf(&b, "%d %s\n", sizes[name], name)
	}
	return b.String()
}

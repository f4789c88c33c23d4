package lint

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Tree is a module's source, parsed but not type-checked. Files that do not
// parse are Broken and otherwise left out, so that the rest can be judged.
type Tree struct {
	Root   string // the directory of go.mod, absolute
	Module string // the module's path
	Fset   *token.FileSet
	Files  []*File
	Broken []Finding
}

// File is one Go file.
type File struct {
	Path  string // from the root, slash-separated
	Dir   string // "." for the root
	Test  bool   // its name ends in _test.go
	Lines int
	AST   *ast.File
}

// Load reads the Go files under root, which holds a go.mod. Directories that
// the go command ignores are left out, and so are nested modules.
func Load(root string) (*Tree, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root, Module: module, Fset: token.NewFileSet()}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return t.enter(name, entry.Name())
		case strings.HasSuffix(name, ".go"):
			return t.add(name)
		}
		return nil
	})
	return t, err
}

func modulePath(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("not a module: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if module, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(module), nil
		}
	}
	return "", errors.New("go.mod names no module")
}

// enter decides whether a directory belongs to the tree.
func (t *Tree) enter(name, base string) error {
	if name == t.Root {
		return nil
	}
	if base == "testdata" || base == "vendor" || base == "bin" || base[0] == '.' || base[0] == '_' {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func (t *Tree) add(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.Root, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	parsed, err := parser.ParseFile(t.Fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Broken = append(t.Broken, Finding{File: rel, Text: "does not parse"})
		return nil
	}
	t.Files = append(t.Files, &File{
		Path:  rel,
		Dir:   path.Dir(rel),
		Test:  strings.HasSuffix(rel, "_test.go"),
		Lines: bytes.Count(text, []byte("\n")),
		AST:   parsed,
	})
	return nil
}

// at makes a finding at a position.
func (t *Tree) at(pos token.Pos, text string) Finding {
	where := t.Fset.Position(pos)
	rel, err := filepath.Rel(t.Root, where.Filename)
	if err != nil {
		rel = where.Filename
	}
	return Finding{File: filepath.ToSlash(rel), Line: where.Line, Text: text}
}

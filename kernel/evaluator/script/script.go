package script

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Name is the name of the evaluator of this package.
const Name = "script/1"

// rootPath is how refusals call the program.
const rootPath = "program"

// New returns the evaluator script/1.
func New() evaluator.Evaluator { return language{} }

type language struct{}

// Name is script/1.
func (language) Name() string { return Name }

// Compile checks a script completely: a program that is text, which is the
// source, or {source, file}. A refusal tells file, line and column.
func (language) Compile(raw value.Raw) (p evaluator.Program, refusal *failure.Refusal) {
	defer func() {
		if recover() != nil { // EX-11: whatever is wrong, it is this script's alone
			p, refusal = nil, invalid("compiling the script panicked", "")
		}
	}()
	src, refusal := sourceIn(raw)
	if refusal != nil {
		return nil, refusal
	}
	compiled, refusal := compile(src)
	if refusal != nil {
		return nil, refusal
	}
	return compiled, nil
}

const shapeRule = "must be text, the script's source, or a map of source and file"

func sourceIn(raw value.Raw) (*source, *failure.Refusal) {
	src := &source{name: "script"}
	if value.Check(raw, MaxSource+1024) != nil {
		return nil, invalid("a script has at most 262144 bytes of source", "")
	}
	var ok bool
	if src.text, ok = raw.Text(); ok {
		return src, nil
	}
	given, has := raw.Get("source")
	if src.text, ok = given.Text(); !has || !ok {
		return nil, invalid(shapeRule, "")
	}
	known := uint64(1)
	if file, named := raw.Get("file"); named {
		known++
		if src.name, ok = file.Text(); !ok || !validFile(src.name) {
			return nil, invalid("file must be a name of 1 to 128 printable ASCII characters, without spaces", "")
		}
	}
	if raw.Len() != known {
		return nil, invalid(shapeRule, "")
	}
	return src, nil
}

func validFile(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] >= 0x7f {
			return false
		}
	}
	return name != "" && len(name) <= MaxFileName
}

func invalid(rule, hint string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidProgram, Field: rootPath, Rule: rule, Hint: hint}
}

// program is a compiled script. It holds nothing of any tick.
type program struct {
	file   string
	code   *starlark.Program
	input  bool // main takes the input
	uses   uses
	common starlark.StringDict // what every run sees; never changed
}

// uses are the names that a run has to make, where the script has them.
type uses struct{ agent, env bool }

func compile(src *source) (*program, *failure.Refusal) {
	file, refusal := src.parse()
	if refusal != nil {
		return nil, refusal
	}
	p := &program{file: src.name, common: builtins}
	if p.input, refusal = mainOf(src, file); refusal != nil {
		return nil, refusal
	}
	w := rewriter{src: src}
	w.stmts(file.Stmts)
	if w.wrong != nil {
		return nil, w.wrong
	}
	code, err := starlark.FileProgram(file, func(name string) bool { return builtins.Has(name) || name == nameAgent || name == nameEnv })
	if err != nil {
		return nil, src.unresolved(err)
	}
	p.code = code
	for _, name := range w.names {
		binding, ok := name.Binding.(*resolve.Binding)
		if !ok {
			continue
		}
		switch {
		case binding.Scope == resolve.Universal && !constant(name.Name):
			return nil, src.refuse(name.NamePos.Line, name.NamePos.Col, "nothing is named "+expr.Quote(name.Name), instead[name.Name])
		case binding.Scope == resolve.Predeclared && name.Name == nameAgent:
			p.uses.agent = true
		case binding.Scope == resolve.Predeclared && name.Name == nameEnv:
			p.uses.env = true
		}
	}
	return p, nil
}

func constant(name string) bool { return name == "None" || name == "True" || name == "False" }

// instead tells what to write for what the language has elsewhere.
var instead = map[string]string{
	"bytes":   "text is UTF-8 everywhere",
	"chr":     "write the letter",
	"dir":     "a dict's keys() lists its entries",
	"getattr": `write x.get("name", default)`,
	"hasattr": `write "name" in x`,
	"hash":    "dicts take text, integers, booleans and tuples of them as keys",
	"ord":     "compare letters",
	"repr":    "json_encode(x) quotes text",
	"set":     "use a dict, or a list",
}

// mainOf finds the function that a tick runs, and whether it takes the input.
func mainOf(src *source, file *syntax.File) (input bool, refusal *failure.Refusal) {
	const form = "a script defines main at its left margin: def main(input):"
	for _, stmt := range file.Stmts {
		def, ok := stmt.(*syntax.DefStmt)
		if !ok || def.Name.Name != "main" {
			continue
		}
		required := 0
		for _, param := range def.Params {
			if _, plain := param.(*syntax.Ident); plain {
				required++
			}
		}
		if required > 1 {
			return false, src.refuse(def.Def.Line, def.Def.Col, "main takes one parameter, the input", "")
		}
		return len(def.Params) > 0, nil
	}
	return false, src.refuse(1, 1, "there is no main", form)
}

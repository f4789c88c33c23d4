package script

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// dialect is the flags of the language: no sets, no while, no recursion.
func dialect() *syntax.FileOptions {
	return &syntax.FileOptions{TopLevelControl: true, GlobalReassign: true}
}

// source is a script's text under the name that messages call it.
type source struct {
	name string
	text string
}

// parse reads the source into a syntax tree. The library's own words never
// leave it (EV-13): what went wrong is told by where.
func (s *source) parse() (*syntax.File, *failure.Refusal) {
	if len(s.text) > MaxSource {
		return nil, s.refuse(1, 1, "a script has at most 262144 bytes of source", "")
	}
	if at, rule := lex(s.text); rule != "" {
		line, column := s.place(at)
		return nil, s.refuse(line, column, rule, "")
	}
	file, err := dialect().Parse(s.name, s.text, 0)
	if err == nil {
		return file, nil
	}
	var where syntax.Error
	if !errors.As(err, &where) {
		return nil, s.refuse(1, 1, "the script cannot be read", "")
	}
	return nil, s.refuse(where.Pos.Line, where.Pos.Col, "the script cannot be read here"+s.near(where.Pos.Line), hintOf(where.Msg))
}

// hintOf guesses what was meant from the kind of mistake.
func hintOf(msg string) string {
	switch {
	case strings.Contains(msg, "indent"):
		return "lines of one block begin in the same column"
	case strings.Contains(msg, "nesting"):
		return "take it apart"
	case strings.Contains(msg, "associate"):
		return "put the first comparison into parentheses, or combine two with and"
	case strings.Contains(msg, "string"):
		return "look at the text's quotes and escapes"
	}
	return "look for a missing colon, bracket or comma on this line or the one before"
}

// near repeats the line where the mistake is.
func (s *source) near(line int32) string {
	text := s.text
	for ; line > 1; line-- {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return ""
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return ": " + expr.Quote(text)
}

// unresolved tells what is wrong with a name or a statement that the resolver
// refuses.
func (s *source) unresolved(err error) *failure.Refusal {
	var list resolve.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return s.refuse(1, 1, "the script cannot be read", "")
	}
	first := list[0]
	rule, hint := "this cannot stand here"+s.near(first.Pos.Line), ""
	switch msg := first.Msg; {
	case instead[s.word(first.Pos)] != "":
		rule, hint = "nothing is named "+expr.Quote(s.word(first.Pos)), instead[s.word(first.Pos)]
	case strings.HasPrefix(msg, "undefined: "):
		rule, hint = "nothing is named "+expr.Quote(s.word(first.Pos)), "define it, or see docs/scripts.md for what there is"
	case strings.Contains(msg, "not in a loop"):
		rule = "break and continue stand in a for"
	case strings.Contains(msg, "not within a function"):
		rule = "return stands in a function"
	case strings.Contains(msg, "argument"), strings.Contains(msg, "parameter"):
		rule = "the arguments or parameters are in the wrong order, repeated, or too many" + s.near(first.Pos.Line)
	case strings.Contains(msg, "assign"):
		rule = "this cannot be assigned to" + s.near(first.Pos.Line)
	}
	return s.refuse(first.Pos.Line, first.Pos.Col, rule, hint)
}

// word is the name that stands at a place.
func (s *source) word(pos syntax.Position) string {
	at := s.offset(pos.Line, pos.Col)
	end := at
	for end < len(s.text) && (s.text[end] == '_' || isWord(s.text[end])) {
		end++
	}
	return s.text[at:end]
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// offset turns a line and a column, in code points, into an offset.
func (s *source) offset(line, column int32) int {
	at := 0
	for ; line > 1; line-- {
		end := strings.IndexByte(s.text[at:], '\n')
		if end < 0 {
			return len(s.text)
		}
		at += end + 1
	}
	for ; column > 1 && at < len(s.text); column-- {
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}
	return at
}

// place is the reverse of offset.
func (s *source) place(at int) (line, column int32) {
	before := s.text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return int32(strings.Count(before, "\n")) + 1, int32(utf8.RuneCountInString(before[start:])) + 1
}

// refuse is what the author of a script gets: where, in the way that editors
// and people read it, and what the rule is.
func (s *source) refuse(line, column int32, rule, hint string) *failure.Refusal {
	return &failure.Refusal{
		Code:  failure.InvalidProgram,
		Field: rootPath,
		Rule:  failure.Clip(at(s.name, line, column) + ": " + rule),
		Hint:  failure.Clip(hint),
	}
}

// at is a place in a file.
func at(file string, line, column int32) string {
	return file + ":" + strconv.Itoa(int(line)) + ":" + strconv.Itoa(int(column))
}

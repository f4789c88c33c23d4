package expr

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// parse reads source that lex has passed into a syntax tree. The parser's own
// messages never leave it (EV-13): what went wrong is told by where.
func parse(src string) (syntax.Expr, *problem) {
	// Inside brackets, line ends and leading blanks mean nothing. The column
	// of the added bracket is 0, so columns count from the source's start.
	portion := syntax.FilePortion{Content: []byte("(" + src + "\n)"), FirstLine: 1, FirstCol: 0}
	var options syntax.FileOptions
	tree, err := options.ParseExpr("expression", portion, 0)
	if err != nil {
		at := len(src) + 1
		var where syntax.Error
		if errors.As(err, &where) {
			at = offset(src, where.Pos.Line, where.Pos.Col)
		}
		return nil, unreadable(src, at)
	}
	paren, ok := tree.(*syntax.ParenExpr)
	if !ok {
		return nil, &problem{at: 0, rule: "the expression is empty"}
	}
	return paren.X, nil
}

// maxNear bounds how much of the source a message repeats, in bytes.
const maxNear = 20

// unreadable tells where the parser stopped: it names a place at the beginning
// or at the end of the token that it could not use.
func unreadable(src string, at int) *problem {
	if at > len(src) {
		return &problem{at: len(src), rule: "the expression ends too early"}
	}
	at = tokenBefore(src, at)
	near, _, _ := strings.Cut(src[at:], "\n")
	if len(near) > maxNear {
		cut := maxNear
		for cut > 0 && !utf8.RuneStart(near[cut]) {
			cut--
		}
		near = near[:cut]
	}
	hint := ""
	if near[0] == '=' && !strings.HasPrefix(near, "==") {
		hint = "write == to compare"
	}
	return &problem{at: at, rule: "the expression cannot be read near " + quoted(near), hint: hint}
}

// tokenBefore is the offset of the last token that begins before at, 0 when
// there is none.
func tokenBefore(src string, at int) int {
	l := lexer{src: src, open: make([]bracket, 1, 8)}
	start := 0
	for l.at < at {
		if !isBlank(src[l.at]) {
			start = l.at
		}
		if l.token() != nil {
			break
		}
	}
	return start
}

// offset turns a line and column, the column in code points, both from 1, into
// an offset in bytes, len(src)+1 when the line is not there.
func offset(src string, line, column int32) int {
	at := 0
	for ; line > 1 && at < len(src); line-- {
		end := strings.IndexAny(src[at:], "\r\n")
		if end < 0 {
			return len(src) + 1
		}
		at += end
		if strings.HasPrefix(src[at:], "\r\n") {
			at++
		}
		at++
	}
	for ; column > 1 && at < len(src); column-- {
		_, size := utf8.DecodeRuneInString(src[at:])
		at += size
	}
	return at
}

// placeAt is the reverse of offset.
func placeAt(src string, at int) place {
	p := place{1, 1}
	for i := 0; i < at; {
		switch {
		case strings.HasPrefix(src[i:], "\r\n"):
			p.line, p.column = p.line+1, 1
			i += 2
		case src[i] == '\n' || src[i] == '\r':
			p.line, p.column = p.line+1, 1
			i++
		default:
			_, size := utf8.DecodeRuneInString(src[i:])
			p.column++
			i += size
		}
	}
	return p
}

// placeOf is a position of the parser's.
func placeOf(pos syntax.Position) place { return place{uint16(pos.Line), uint16(max(pos.Col, 1))} }

// refusal turns a problem into the answer that the author of a program gets.
func (p *problem) refusal(src string) *failure.Refusal {
	return placeAt(src, p.at).refuse(p.rule, p.hint)
}

func (p place) refuse(rule, hint string) *failure.Refusal {
	where := " (line " + decimal(int64(p.line)) + ", column " + decimal(int64(p.column)) + ")"
	return &failure.Refusal{
		Code: failure.InvalidProgram,
		Rule: failure.Clip(rule + where),
		Hint: failure.Clip(hint),
	}
}

package script

import (
	"strings"
	"unicode/utf8"
)

// lexer reads a source once before the parser sees it, without recursion. It
// refuses what would make the parser recurse deeply, or ask a Unicode table,
// which follows the Go version.
type lexer struct {
	src  string
	at   int
	open int // brackets
}

// maxWord bounds a name or a number in bytes: 4,096 bits, written in any base.
const maxWord = 4200

// lex checks a source; it returns where and why it is refused.
func lex(src string) (at int, rule string) {
	l := lexer{src: src}
	for l.at < len(src) {
		if rule := l.token(); rule != "" {
			return l.at, rule
		}
	}
	return 0, ""
}

// token passes one character, one comment, or one text.
func (l *lexer) token() (rule string) {
	switch c := l.src[l.at]; {
	case c == '#':
		end := strings.IndexAny(l.src[l.at:], "\r\n")
		if end < 0 {
			end = len(l.src) - l.at
		}
		l.at += end
		return ""
	case c == '"' || c == '\'':
		return l.text(c)
	case isWord(c):
		start := l.at
		for l.at < len(l.src) && (isWord(l.src[l.at]) || l.src[l.at] == '_') {
			l.at++
		}
		if l.at-start > maxWord {
			l.at = start
			return "a name or a number has at most 4200 characters"
		}
		return ""
	case c == '(' || c == '[' || c == '{':
		if l.open++; l.open > MaxBrackets {
			return "more than 100 brackets are open at once"
		}
	case c == ')' || c == ']' || c == '}':
		l.open = max(0, l.open-1)
	case c >= utf8.RuneSelf:
		return "outside of text and comments, a script is ASCII"
	case c < ' ' && c != '\n' && c != '\r' && c != '\t', c == 0x7f:
		return "there is a control character in the script"
	}
	l.at++
	return ""
}

// text passes a text in quotes, single or triple; whether it is raw changes
// nothing about where it ends.
func (l *lexer) text(quote byte) (rule string) {
	start := l.at
	closing := string(quote)
	if triple := strings.Repeat(closing, 3); strings.HasPrefix(l.src[l.at:], triple) {
		closing = triple
	}
	for l.at += len(closing); l.at < len(l.src); l.at++ {
		switch c := l.src[l.at]; {
		case c == '\\':
			l.at++
		case strings.HasPrefix(l.src[l.at:], closing):
			l.at += len(closing)
			return ""
		case c == '\n' && len(closing) == 1:
			l.at = start
			return "the text does not end on its line"
		}
	}
	l.at = start
	return "the text does not end"
}

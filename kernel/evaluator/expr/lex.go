package expr

import (
	"strings"
	"unicode/utf8"
)

// lexer reads an expression's source once before the parser sees it. It finds
// where the expression ends inside a text, and it refuses, without recursion,
// what would make the parser recurse deeply or ask a Unicode table.
type lexer struct {
	src     string
	at      int
	inText  bool // the expression ends at the } that closes ${
	open    []bracket
	nesting int  // operators open in all brackets together
	operand bool // the token before ended an operand, so - is binary here
}

// bracket is an open bracket, and the operators that nest inside it since its
// last comma.
type bracket struct {
	close   byte
	nesting int
}

// problem is why a source is refused, and where: an offset in bytes.
type problem struct {
	at   int
	rule string
	hint string
}

// lex checks src and returns where the expression ends: at the closing brace
// when inText is set, otherwise at the end of src.
func lex(src string, inText bool) (end int, p *problem) {
	l := lexer{src: src, inText: inText, open: make([]bracket, 1, 8)}
	for l.at < len(src) {
		if inText && len(l.open) == 1 && src[l.at] == '}' {
			return l.at, nil
		}
		if l.at >= MaxSource {
			return 0, l.refuse("an expression has at most 4096 bytes of source", "")
		}
		if p := l.token(); p != nil {
			return 0, p
		}
	}
	if len(src) > MaxSource {
		return 0, l.refuse("an expression has at most 4096 bytes of source", "")
	}
	if len(l.open) > 1 {
		return 0, l.refuse("a bracket is not closed: "+string(l.top().close)+" is missing", "")
	}
	if inText {
		return 0, l.refuse("the expression is not closed: } is missing", "write $${ for a literal ${")
	}
	return len(src), nil
}

func (l *lexer) refuse(rule, hint string) *problem { return &problem{l.at, rule, hint} }

func (l *lexer) top() *bracket { return &l.open[len(l.open)-1] }

// token reads one token, or one character of white space.
func (l *lexer) token() *problem {
	switch c := l.src[l.at]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		l.at++
	case c < ' ' || c == 0x7f:
		return l.refuse("there is a control character in the expression", "")
	case c >= utf8.RuneSelf:
		return l.refuse("outside of text, an expression is ASCII", "put other letters in quotes")
	case c == '#':
		return l.refuse("an expression has no comments", "")
	case c == '\\':
		return l.refuse("there is a \\ outside of text", "")
	case c == '"' || c == '\'':
		return l.quoted()
	case isLetter(c) || c == '_':
		return l.word()
	case isDecDigit(c):
		for l.at < len(l.src) && (isWord(l.src[l.at]) || l.src[l.at] == '.' || l.src[l.at] == '_') {
			l.at++
		}
		l.operand = true
	default:
		return l.punctuation(c)
	}
	return nil
}

// word reads a name or a keyword.
func (l *lexer) word() *problem {
	start := l.at
	for l.at < len(l.src) && (isWord(l.src[l.at]) || l.src[l.at] == '_') {
		l.at++
	}
	l.operand = false
	switch word := l.src[start:l.at]; word {
	case "not", "else":
		return l.nest()
	case "and", "or", "in", "if", "for":
	case "lambda", "def", "load", "while", "return":
		l.at = start
		return l.refuse("an expression has no "+word, "")
	default:
		l.operand = true
	}
	return nil
}

// nest counts an operator whose operand the parser recurses into.
func (l *lexer) nest() *problem {
	l.top().nesting++
	l.nesting++
	if l.nesting > MaxTreeDepth {
		return l.refuse("the expression is nested deeper than 200", "")
	}
	return nil
}

// flatten forgets the nesting inside the innermost bracket: its next operand
// starts afresh.
func (l *lexer) flatten() {
	l.nesting -= l.top().nesting
	l.top().nesting = 0
}

func (l *lexer) punctuation(c byte) *problem {
	operand := l.operand
	l.operand = false
	switch c {
	case '(', '[', '{':
		if len(l.open) > MaxBrackets {
			return l.refuse("brackets are nested deeper than 50", "")
		}
		l.open = append(l.open, bracket{close: closing(c)})
	case ')', ']', '}':
		if len(l.open) == 1 {
			return l.refuse("the bracket "+string(c)+" has no partner", "")
		}
		if want := l.top().close; want != c {
			return l.refuse("a bracket is closed with "+string(c)+" instead of "+string(want), "")
		}
		l.flatten()
		l.open = l.open[:len(l.open)-1]
		l.operand = true
	case ',', ':':
		l.flatten()
	case '-', '+', '~':
		if !operand {
			if p := l.nest(); p != nil {
				return p
			}
		}
	case '&', '|', '=', '!':
		if p := l.foreign(); p != nil {
			return p
		}
	case '<', '>', '*', '/', '%', '^', '.':
	case ';', '$', '`', '?', '@':
		return l.refuse("there is an unexpected "+string(c), foreignHints[string(c)])
	}
	l.at++
	for l.at < len(l.src) && strings.IndexByte("=<>!&|*/", c) >= 0 && strings.IndexByte("=<>*/", l.src[l.at]) >= 0 {
		l.at++ // the rest of an operator
	}
	return nil
}

func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// foreignHints say what other languages' operators are called here.
var foreignHints = map[string]string{
	"&&":  "write and",
	"||":  "write or",
	"===": "write ==",
	"!==": "write !=",
	"!":   "write not",
	"?":   "write x if condition else y",
	"$":   "names stand without $ inside an expression",
}

// foreign refuses operators of other languages by name.
func (l *lexer) foreign() *problem {
	rest := l.src[l.at:]
	for _, op := range [...]string{"&&", "||", "===", "!=="} {
		if strings.HasPrefix(rest, op) {
			return l.refuse("there is no operator "+op, foreignHints[op])
		}
	}
	if rest[0] == '!' && !strings.HasPrefix(rest, "!=") {
		return l.refuse("there is no operator !", foreignHints["!"])
	}
	return nil
}

// quoted reads text in quotes, single or triple, raw or not: a backslash keeps
// the next character from ending it either way.
func (l *lexer) quoted() *problem {
	quote := l.src[l.at : l.at+1]
	triple := strings.HasPrefix(l.src[l.at:], quote+quote+quote)
	if triple {
		quote += quote + quote
	}
	for at := l.at + len(quote); at < len(l.src); at++ {
		switch {
		case strings.HasPrefix(l.src[at:], quote):
			l.at, l.operand = at+len(quote), true
			return nil
		case l.src[at] == '\\':
			at++
		case !triple && (l.src[at] == '\n' || l.src[at] == '\r'):
			return l.refuse("a text does not end on its line", "write \\n for a line end")
		}
	}
	return l.refuse("a text is not closed: "+quote+" is missing", "")
}

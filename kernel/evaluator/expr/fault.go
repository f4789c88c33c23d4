package expr

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// fail makes a failure from pieces of our own words (EV-13). Its place is
// filled in by the node that is being evaluated.
func fail(code failure.Code, words ...string) *failure.Failure {
	return &failure.Failure{Code: code, Message: failure.Clip(strings.Join(words, ""))}
}

// wrong is the failure of an operation that does not fit its operands.
func wrong(words ...string) *failure.Failure { return fail(failure.EvalFailure, words...) }

// tooLarge is the failure of a value beyond a bound (EX-11).
func tooLarge(words ...string) *failure.Failure { return fail(failure.ValueTooLarge, words...) }

// mismatch is the failure of an operator between two kinds.
func mismatch(op string, x, y starlark.Value) *failure.Failure {
	words := []string{op, " cannot be applied to ", kindName(x), " and ", kindName(y)}
	if op == "+" && (isText(x) || isText(y)) {
		words = append(words, "; str(x) makes text of any value")
	}
	return wrong(words...)
}

// decimal writes a number into a message.
func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// counted writes so many of something into a message.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return decimal(int64(n)) + " " + noun + "s"
}

// maxQuoted bounds a name or key that a message repeats, in bytes.
const maxQuoted = 64

// quoted writes a program's or an input's own name into a message.
func quoted(s string) string {
	if len(s) > maxQuoted {
		cut := maxQuoted
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "…"
	}
	return string(appendQuoted(nil, s))
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes s as a JSON string, escaping only what JSON requires.
// No Unicode table is asked, since those follow the Go version.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0
	for i := range len(s) {
		escape := jsonEscape(s[i])
		if escape == 0 {
			continue
		}
		dst = append(dst, s[plain:i]...)
		plain = i + 1
		dst = append(dst, '\\', escape)
		if escape == 'u' {
			dst = append(dst, '0', '0', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		}
	}
	return append(append(dst, s[plain:]...), '"')
}

// jsonEscape is what follows the backslash for c, 'u' for a numeric escape, 0
// when c stands for itself.
func jsonEscape(c byte) byte {
	switch {
	case c == '"' || c == '\\':
		return c
	case c >= 0x20:
		return 0
	case c == '\n':
		return 'n'
	case c == '\r':
		return 'r'
	case c == '\t':
		return 't'
	}
	return 'u'
}

// quotedSize is the length of what appendQuoted writes.
func quotedSize(s string) uint64 {
	n := uint64(len(s)) + 2
	for i := range len(s) {
		switch jsonEscape(s[i]) {
		case 0:
		case 'u':
			n += 5
		default:
			n++
		}
	}
	return n
}

package tell

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// What agents, tools and other nodes say is shown, never obeyed: a name or a
// result may hold sequences that move a terminal's cursor, retitle its window,
// put text into its clipboard, or turn the order of words around.

// harmless writes out every character that a terminal, or a reader's eye, would
// take for more than text. Lines and tabs stay, and with dressed the sequences
// of this package's own styles.
func harmless(text string, dressed bool) string {
	if strings.IndexFunc(text, commands) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		if own := ownStyle(text); dressed && own != "" {
			b.WriteString(own)
			text = text[len(own):]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case commands(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// commands tells whether a character does more than stand there: control
// characters, and those that change the direction of others.
func commands(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// oneLine is harmless for what must not begin a line of its own.
func oneLine(text string, dressed bool) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(harmless(text, dressed))
}

// harmlessJSON does the same to encoded JSON, where only strings can hold such
// characters. It says the same as before.
func harmlessJSON(line []byte) []byte {
	var b []byte
	for rest := line; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if commands(r) {
			b = fmt.Appendf(b, `\u%04x`, r) // none is beyond that
		} else {
			b = append(b, rest[:size]...)
		}
		rest = rest[size:]
	}
	return b
}

var (
	graphics = regexp.MustCompile(`^\x1b\[[0-9;]*m`)
	inside   = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

// own are the sequences of the styles that there are.
var own = func() map[string]bool {
	all := make(map[string]bool)
	for _, style := range []lipgloss.Style{bold, faint, accent, good, bad, warn} {
		for _, sequence := range inside.FindAllString(style.Render("x"), -1) {
			all[sequence] = true
		}
	}
	return all
}()

// ownStyle is the sequence of a style that text begins with; empty for none.
func ownStyle(text string) string {
	if text[0] != '\x1b' {
		return ""
	}
	if found := graphics.FindString(text); own[found] {
		return found
	}
	return ""
}

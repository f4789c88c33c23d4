package summary

import (
	"os"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// Style is whether colours and signs are wanted.
type Style struct{ Colours bool }

// For is the style for a file: colours on a terminal, unless the environment
// objects (NO_COLOR, TERM=dumb).
func For(f *os.File) Style {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return Style{}
	}
	null, err := os.Stat(os.DevNull)
	return Style{Colours: err != nil || !os.SameFile(info, null)}
}

// word is a verdict as wide as every other.
func (s Style) word(word check.Word) string {
	const wide = 7
	text := plain.Text(string(word), wide)
	for len([]rune(text)) < wide {
		text += " "
	}
	if !s.Colours {
		return text
	}
	sign, colour := "?", "33"
	switch word {
	case check.Valid:
		sign, colour = "✓", "32"
	case check.Invalid:
		sign, colour = "✗", "31"
	}
	return "\x1b[" + colour + ";1m" + sign + " " + text + "\x1b[0m"
}

// indent is as wide as word and the two spaces after it.
func (s Style) indent() string {
	if s.Colours {
		return "           "
	}
	return "         "
}

package tell

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile are texts that do something to a terminal, or to who reads it.
var hostile = map[string]string{
	"clear the screen":        "a\x1b[2Jb",
	"retitle the window":      "a\x1b]0;root\x07b",
	"write to the clipboard":  "a\x1b]52;c;cm0gLXJmIC8=\x1b\\b",
	"a link that lies":        "\x1b]8;;http://evil.example\x1b\\docs\x1b]8;;\x1b\\",
	"back over the line":      "harmful\rharmless",
	"take letters back":       "abc\b\b\bxyz",
	"one-character sequences": "a\u009b2Jb\u0090q\u009c",
	"hide":                    "\x1b[8mhidden\x1b[0m",
	"turn the order around":   "user\u202etxt.exe\u2066\u2069",
	"no UTF-8":                "a\x9b2J\xff",
	"null and delete":         "a\x00\x7fb",
	"another line":            "a\u2028b\vc\fd",
}

// LI-7: whatever the text, what reaches a terminal is letters, lines, and this
// program's own colours.
func TestTextsDoNothingToATerminal(t *testing.T) {
	for name, text := range hostile {
		for _, dressed := range []bool{false, true} {
			var out, talk bytes.Buffer
			teller := New(&out, &talk)
			teller.outStyle, teller.errStyle = Style{dressed}, Style{dressed}
			require.NoError(t, teller.Data(nil, func(p *Page) {
				p.Line("%s %s", p.Bad("error:"), text)
				p.Fields([2]string{"name", text})
				p.Table([]string{"A", "B"}, [][]string{{text, p.Good(text)}})
			}))
			teller.Story(func(p *Page) { p.Line("%s", text) })
			teller.Say("%s", text)
			teller.Fail(Refused(text, "%s", text))
			for _, written := range []string{out.String(), talk.String()} {
				left := inside.ReplaceAllStringFunc(written, func(sequence string) string {
					assert.True(t, dressed && own[sequence], "%s: %q", name, sequence)
					return ""
				})
				for _, r := range left {
					assert.False(t, commands(r), "%s: %q in %q", name, r, left)
				}
				assert.NotContains(t, left, "\ufffd", name)
			}
		}
	}
}

// LI-7: JSON says the same, in characters that do nothing.
func TestJSONDoesNothingToATerminal(t *testing.T) {
	for name, text := range hostile {
		var out, talk bytes.Buffer
		teller := New(&out, &talk)
		teller.Format = JSON
		require.NoError(t, teller.Data(map[string]string{"v": text}, nil))
		teller.Fail(Refused("", "%s", text))
		for _, written := range []string{out.String(), talk.String()} {
			for _, r := range written {
				assert.False(t, commands(r), "%s: %q in %q", name, r, written)
			}
		}
		var read map[string]string
		require.NoError(t, json.Unmarshal(out.Bytes(), &read))
		assert.Equal(t, string(bytes.ToValidUTF8([]byte(text), []byte("\ufffd"))), read["v"], name)
	}
}

func TestHarmless(t *testing.T) {
	assert.Equal(t, `a\x1b[2Jb`, harmless("a\x1b[2Jb", true))
	assert.Equal(t, `\x1b[8mx`, harmless("\x1b[8mx", true), "a style that is not ours")
	styled := Style{true}.Bold("x")
	assert.Equal(t, styled, harmless(styled, true))
	assert.NotContains(t, harmless(styled, false), "\x1b")
	assert.Equal(t, "Grüße,\n\t日本 👋", harmless("Grüße,\n\t日本 👋", false))
	assert.Equal(t, `a\nb`, oneLine("a\nb", false))
	assert.Equal(t, `\xffx\u202e`, harmless("\xffx\u202e", false))
}

// LI-7: a cell of a table cannot make itself a row.
func TestCellsAreNoRows(t *testing.T) {
	page := &Page{}
	page.Table([]string{"NAME", "STATE"}, [][]string{{"a\nb  ACTIVE", "KILLED"}})
	assert.Equal(t, "NAME          STATE\na\\nb  ACTIVE  KILLED\n", page.String())
}

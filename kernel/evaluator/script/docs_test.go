package script

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const page = "../../../docs/scripts.md"

// Every example of the page does what the page says. Its comments tell
//
//	input       what the script was submitted with
//	answer      what its calls are answered with, one after the other
//	escalation  what a child asks for
//	calls, emits, decides   what it shows on the way
//	gives, fails, again     how it ends
func TestExamplesOfThePage(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(blocks), 6)
	for _, block := range blocks {
		src := block[1]
		w := world{ctx: testContext, answer: scripted(t, strings.Join(comments(src, "answer"), "\n"))}
		if input := comments(src, "input"); len(input) > 0 {
			w.ctx.Input = rawJSON(t, input[0])
		}
		for _, escalation := range comments(src, "escalation") {
			w.escalations = append(w.escalations, rawJSON(t, escalation))
		}
		o := w.run(t, compileSource(t, src), resumed)
		for word, mark := range map[string]string{"calls": "-> ", "emits": "emit ", "decides": "decided "} {
			for _, line := range comments(src, word) {
				assert.Contains(t, o.show(), mark+line, src)
			}
		}
		last := o.show()[strings.LastIndex(o.show(), "\n")+1:]
		ends := 0
		for _, word := range []string{"gives", "fails", "again"} {
			for _, said := range comments(src, word) {
				ends++
				if word != "fails" {
					said = string(rawJSON(t, said).AppendJSON(nil))
				}
				assert.Equal(t, word+" "+said, last, src)
			}
		}
		assert.Equal(t, 1, ends, src)
	}
}

// comments returns what stands behind each "# word:" in an example.
func comments(src, word string) (found []string) {
	for line := range strings.Lines(src) {
		if rest, ok := strings.CutPrefix(line, "# "+word+": "); ok {
			found = append(found, strings.TrimSpace(rest))
		}
	}
	return found
}

// What the page lists is there, and what is there is on the page.
func TestFunctionsOfThePage(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (functions|of text|of lists|of dicts) \\| `(.*)` \\|$").FindAllStringSubmatch(string(text), -1) {
		for name := range strings.FieldsSeq(row[2]) {
			call := map[string]string{"functions": "", "of text": "''.", "of lists": "[].", "of dicts": "{}."}[row[1]] + name
			listed[call] = true
			p, refusal := New().Compile(value.AppendString(nil, "def main():\n    return "+call+"()\n"))
			require.Nil(t, refusal, call)
			if o := (world{ctx: testContext}).run(t, p, resumed); o.last.Kind == evaluator.Failed {
				assert.NotContains(t, o.last.Failure.Message, "has no method", call)
			}
		}
	}
	for name := range builtins {
		if isWord(name[0]) && !strings.Contains(name, " ") && name != opRoom && name != "in" {
			assert.True(t, listed[name] || strings.Contains(string(text), "`"+name+"("), name)
		}
	}
	for name := range listMethods {
		assert.True(t, listed["[]."+name], name)
	}
	for name := range dictMethods {
		assert.True(t, listed["{}."+name], name)
	}
}

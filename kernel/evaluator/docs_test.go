package evaluator_test

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

const instructionsPage = "../../docs/instructions.md"

// sameJSON tells whether two JSON texts mean the same value.
func sameJSON(t *testing.T, want string, got value.Raw) {
	t.Helper()
	raw, problem := value.FromJSON([]byte(want), 1<<16)
	require.Nil(t, problem, want)
	assert.Equal(t, string(raw.AppendJSON(nil)), string(got.AppendJSON(nil)))
}

// Every example of the page gives what the page says. Its comments tell
//
//	input       what the instruction was submitted with
//	answer      what its calls are answered with, one after the other; without
//	            it every call is answered with its arguments
//	escalation  what a child asks for
//	calls, emits, decides   what it shows on the way
//	gives, fails            how it ends
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile(instructionsPage)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	shown := map[string]bool{}
	for _, block := range blocks {
		src := block[1]
		w := world{ctx: testContext, answers: scripted(t, strings.Join(comments(src, "answer"), "\n"))}
		if input := comment(src, "input"); input != "" {
			w.ctx.Input = rawYAML(t, input)
		}
		for _, escalation := range comments(src, "escalation") {
			w.escalations = append(w.escalations, rawYAML(t, escalation))
		}
		o := w.run(t, compile(t, src), resuming)
		for _, kind := range o.trace {
			shown[kind[strings.Index(kind, " ")+1:]] = true
		}
		for word, mark := range map[string]string{"calls": "-> ", "emits": "emit ", "decides": "decided "} {
			for _, line := range comments(src, word) {
				assert.Contains(t, o.trace, mark+line, src)
			}
		}
		if fails := comment(src, "fails"); fails != "" {
			require.Equal(t, evaluator.Failed, o.last.Kind, src)
			assert.Equal(t, fails, string(o.last.Failure.Code)+": "+o.last.Failure.Message)
			continue
		}
		require.Equal(t, evaluator.PureValue, o.last.Kind, "%s%s", src, o.show())
		sameJSON(t, comment(src, "gives"), o.last.Value)
	}
	for _, kind := range everyKind {
		assert.True(t, shown[kind], "no example of %s", kind)
		assert.Contains(t, string(page), "| [`"+kind+"`](#"+strings.ToLower(kind)+") |", "not in the table")
		assert.Contains(t, string(page), "\n## "+kind+"\n")
	}
}

// comments returns what stands behind each "# word:" in an example.
func comments(src, word string) []string {
	var found []string
	for line := range strings.Lines(src) {
		if rest, ok := strings.CutPrefix(line, "# "+word+": "); ok {
			found = append(found, strings.TrimSpace(rest))
		}
	}
	return found
}

// comment returns the first of them.
func comment(src, word string) string {
	if found := comments(src, word); len(found) > 0 {
		return found[0]
	}
	return ""
}

// Every row of the table of expressions is true.
func TestExpressionsOfThePage(t *testing.T) {
	page, err := os.ReadFile(instructionsPage)
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| expression | value |\n|---|---|\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(table) {
		row := regexp.MustCompile("^\\| `(.*)` \\| `(.*)` \\|$").FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			break
		}
		rows++
		program := rawGo(t, literalOf("${"+row[1]+"}"))
		p, refusal := std(t).Compile(program)
		require.Nil(t, refusal, row[1])
		o := run(t, p, testContext, echo, resuming)
		require.Equal(t, evaluator.PureValue, o.last.Kind, "%s: %s", row[1], o.show())
		sameJSON(t, row[2], o.last.Value)
	}
	assert.Greater(t, rows, 10)
}

// The functions and methods that the page lists are there.
func TestFunctionsOfThePage(t *testing.T) {
	page, err := os.ReadFile(instructionsPage)
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(page)) {
		row := regexp.MustCompile("^\\| (functions|of text|of lists|of maps) \\| `(.*)` \\|$").FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		for _, name := range strings.Fields(row[2]) {
			rows++
			call := map[string]string{"functions": "", "of text": "''.", "of lists": "[].", "of maps": "{}."}[row[1]] + name
			p, refusal := std(t).Compile(rawGo(t, literalOf("${"+call+"()}")))
			if refusal != nil { // arguments are missing, but the name is known
				assert.NotContains(t, refusal.Rule, "there is no", call)
				continue
			}
			o := run(t, p, testContext, echo, resuming)
			assert.NotContains(t, o.show(), "no method", call)
		}
	}
	assert.Equal(t, 21+28+2+4, rows)
}

package page_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/page"
)

// hostile is what somebody might say who wants the page to do something.
var hostile = []string{
	`<script>alert(1)</script>`,
	`</script><script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)`,
	`]]></svg><svg onload=alert(1)>`,
	`javascript:alert(1)`,
	`<!-- -->{{.}}${alert(1)}`,
	"\x00\x01\x1b[31m\u202e\ufffe\xff\n",
	`</title><style>*{display:none}</style>`,
	strings.Repeat("long ", 5000),
}

func says(word string) *page.Page {
	quoted, _ := json.Marshal(word)
	op := history.Op{
		ID: 1, Workload: word, Name: word, Key: word, In: quoted, Out: json.RawMessage(word), Outcome: history.Failed,
		Code: word, Error: word, Called: 5, Returned: 9 * second, Node: word,
	}
	strange := op
	strange.ID, strange.Outcome = 2, history.Outcome(word)
	h := &history.History{
		Ops:    []history.Op{op, strange},
		Faults: []history.Fault{{ID: 1, Kind: word, Nodes: []string{word}, Detail: map[string]any{word: word}, Until: second, Error: word}},
		Lives:  []history.Life{{Node: word, What: "started"}, {At: second, Node: word, What: word, Detail: word}},
		Sights: []history.Sight{{Node: word, Role: "leader", Reason: word}, {At: second, Node: word, Role: word}},
		Phases: []history.Phase{{Name: word}},
	}
	return &page.Page{
		Name: word, About: word, Word: check.Word(word), Facts: []page.Fact{{Label: word, Text: word}}, Nodes: []string{word}, Waiting: []string{word}, History: h, Pictures: "pictures/",
		Verdicts: []check.Verdict{{Checker: word, Word: check.Word(word), Figures: map[string]int64{word: 1}, Files: []string{word, "../" + word, "/etc/passwd"},
			Findings: []check.Finding{{Text: word, Ops: []uint64{1, 2}, At: second}}}},
		Files: []string{word},
	}
}

var (
	element   = regexp.MustCompile(`<(/?)([a-zA-Z]+)`)
	handler   = regexp.MustCompile(`<[^>]*\son[a-z]+\s*=`)
	address   = regexp.MustCompile(`href="([^"]*)"`)
	duplicate = regexp.MustCompile(`(?s)<script.*?</script>`)
)

// Nothing that was said in a run is anything but text on its page: there are the
// same elements, in the same order, as for a run in which nobody says anything
// special.
func TestHostilePage(t *testing.T) {
	skeleton := func(text string) []string { return element.FindAllString(text, -1) }
	harmless := render(t, says("harmless"))
	for _, word := range hostile {
		text := render(t, says(word))
		wellFormed(t, text)
		// A lane is too narrow for a long name, and a string that is no path has
		// no address: only what stands there may differ, not what it is.
		require.Subset(t, kinds(skeleton(harmless)), kinds(skeleton(text)), word)
		require.Len(t, duplicate.FindAllString(text, -1), 2, "the numbers and the script: %q", word)
		require.NotRegexp(t, handler, text)
		require.NotContains(t, text, "ZgotmplZ")
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\u202e")
		require.Less(t, len(text), 200_000, "what is long is cut")
		for _, found := range address.FindAllStringSubmatch(text, -1) {
			require.Regexp(t, `^(#(place|finding)-1|\./[^/].*)$`, found[1], word)
			require.NotContains(t, found[1], "..", word)
		}
		from := strings.Index(text, `id="readings">`) + len(`id="readings">`)
		require.True(t, json.Valid([]byte(text[from:from+strings.Index(text[from:], "</script>")])), word)
	}
}

func kinds(elements []string) []string {
	seen := make(map[string]bool)
	var all []string
	for _, e := range elements {
		if !seen[e] {
			seen[e] = true
			all = append(all, e)
		}
	}
	return all
}

// The policy allows the script of this package and no other.
func TestPolicy(t *testing.T) {
	text := render(t, says("harmless"))
	require.Regexp(t, `content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; script-src &#39;sha256-[A-Za-z0-9+/&#;]+=&#39;"`, text)
}

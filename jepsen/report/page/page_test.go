package page_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/page"
)

var (
	look       = flag.String("look", "", "write the page of a sample to this file, for somebody to look at it")
	operations = flag.Int("operations", 40_000, "how many operations that page has")
	lasts      = flag.Duration("lasts", 2*time.Minute, "how long its run was")
)

func render(t *testing.T, p *page.Page) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, page.Render(&out, p))
	return out.String()
}

func TestPage(t *testing.T) {
	h := sampled(1, *operations, int64(*lasts))
	text := render(t, shown(h))
	if *look != "" {
		require.NoError(t, os.WriteFile(*look, []byte(text), 0o644))
	}
	wellFormed(t, text)
	require.NotContains(t, text, "ZgotmplZ", "the template has refused something")
	for _, said := range []string{
		"partitions-and-kills", "1763712000", "There is something that must not be, by: register.", "✗</span> invalid",
		"nothing came over the stream", "leader, term 2", "✗ by itself", "killed", "paused", "the switch refuses",
		`href="./pictures/register-k3.html"`, `href="./nodes/n1/1.log"`, `href="#place-1"`, `id="place-1"`, `id="finding-2"`, "TIMEOUT", "VERSION_CONFLICT",
	} {
		require.Contains(t, text, said)
	}
	require.NotContains(t, text, `id="place-3"`, "a finding without a time has no place")
	for _, away := range []string{"http://", "https://", "src="} {
		require.NotContains(t, strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, ""), away, "the page needs nothing else")
	}
	for _, workload := range workloads {
		require.Contains(t, text, `class="end">`+workload)
	}
}

// wellFormed reads the pictures as XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	found := 0
	for rest := text; ; found++ {
		from := strings.Index(rest, `<svg class=`)
		if from < 0 {
			break
		}
		d := xml.NewDecoder(strings.NewReader(rest[from:]))
		depth := 0
		for {
			token, err := d.Token()
			require.False(t, errors.Is(err, io.EOF), "the picture has no end")
			require.NoError(t, err)
			switch token.(type) {
			case xml.StartElement:
				depth++
			case xml.EndElement:
				depth--
			}
			if depth == 0 {
				break
			}
		}
		rest = rest[from+int(d.InputOffset()):]
	}
	require.Equal(t, 2, found)
}

// An empty run, and one that was cut off, have a page too.
func TestEmptyPage(t *testing.T) {
	text := render(t, &page.Page{Name: "nothing", History: new(history.History)})
	wellFormed(t, text)
	require.Contains(t, text, "Nobody has judged this run.")

	h := &history.History{
		Ops:    []history.Op{{ID: 1, Workload: "w", Name: "f", Called: -5, Returned: history.Never, Outcome: history.Unknown}, {ID: 2, Outcome: "odd"}},
		Faults: []history.Fault{{ID: 1, Kind: "kill", From: history.Never, Until: -1}},
		Lives:  []history.Life{{At: -1, Node: "n1", What: "ready"}}, Phases: []history.Phase{{At: -9, Name: "odd"}},
	}
	text = render(t, &page.Page{Name: "odd", Word: check.Unclear, History: h, Verdicts: []check.Verdict{{Checker: "c", Findings: []check.Finding{{Ops: []uint64{9}}}}}})
	wellFormed(t, text)
	require.Contains(t, text, "not in the history")
	require.NotContains(t, text, "NaN")
}

// Half a million operations make a page that a browser likes, before a person
// loses patience.
func TestManyOperations(t *testing.T) {
	h := sampled(2, 500_000, int64(20*time.Minute))
	began := time.Now()
	text := render(t, shown(h))
	took := time.Since(began)
	t.Logf("%d bytes in %v", len(text), took)
	require.Less(t, took, 5*time.Second)
	require.Less(t, len(text), 3_000_000)
	require.Contains(t, text, "500,000")
}

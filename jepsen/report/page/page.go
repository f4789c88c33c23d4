package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// Page is what there is to show.
type Page struct {
	Name     string // of the scenario
	About    string // what it is after; may be empty
	Seed     uint64
	Word     check.Word // of the whole run
	Facts    []Fact
	Verdicts []check.Verdict
	Nodes    []string
	History  *history.History
	Waiting  []string // workloads whose operations wait by design, which is no latency
	Pictures string   // where the verdicts' files are, seen from the page
	Files    []string // what else lies beside the page, for links
}

// Fact is a line about the run.
type Fact struct{ Label, Text string }

var (
	//go:embed page.html
	markup string
	//go:embed chart.html
	chartMarkup string
	//go:embed page.css
	style string
	//go:embed page.js
	script string

	layout = template.Must(template.Must(template.New("page").Parse(markup)).Parse(chartMarkup))
)

// view is what the template takes: all of it is text that is ready to be shown.
type view struct {
	Style  template.CSS
	Script template.JS
	Policy string

	Title   string
	About   string
	Seed    uint64
	Word    mark
	Said    string
	Figures []Fact
	Facts   []Fact

	Verdicts   []verdict
	Chart      *chart
	Waiting    string
	Readings   readings
	Operations []operations
	Refusals   []refusal
	Faults     []faultRow
	Files      []link
}

// Render writes the page.
func Render(w io.Writer, p *Page) error {
	sum := sha256.Sum256([]byte(script))
	t := tally(p.History, p.Waiting)
	v := view{
		Style: template.CSS(style), Script: template.JS(script),
		Policy: "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		Title:  plain.Text(p.Name, 100), About: plain.Text(p.About, 500), Seed: p.Seed,
		Word: markOf(p.Word), Said: said(p.Word, p.Verdicts),
		Figures: figuresOf(p.History, t), Facts: facts(p.Facts),
		Verdicts: verdictsOf(p), Chart: draw(p, t), Readings: readingsOf(t), Waiting: plain.Text(strings.Join(p.Waiting, ", "), 200),
		Operations: operationsOf(p.History), Refusals: refusalsOf(p.History), Faults: faultRows(p.History),
		Files: links(p.Files),
	}
	return layout.Execute(w, v)
}

func facts(given []Fact) []Fact {
	shown := make([]Fact, len(given))
	for i, f := range given {
		shown[i] = Fact{plain.Text(f.Label, 100), plain.Text(f.Text, 2000)}
	}
	return shown
}

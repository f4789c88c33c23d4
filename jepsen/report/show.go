package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/jepsen/report/page"
)

// pageOf is what the page shows. Files are the nodes' output.
func pageOf(run *Run, j *Judgement, e *check.Evidence, outputs []string) *page.Page {
	return &page.Page{
		Name: run.Name, About: about(run.Scenario), Seed: run.Seed, Word: j.Word,
		Facts: factsOf(run, e), Verdicts: j.Checkers, Nodes: run.Nodes, History: e.History, Waiting: []string{model.Stream},
		Pictures: picturesDir + "/",
		Files:    slices.Concat([]string{runFile, historyFile, ednFile, logFile, endsFile, verdictFile, sumsFile}, outputs),
	}
}

// about is the scenario's own sentence on what it is after, if it has one.
func about(scenario json.RawMessage) string {
	var known struct {
		About string `json:"about"`
	}
	if json.Unmarshal(scenario, &known) != nil {
		return ""
	}
	return known.About
}

func factsOf(run *Run, e *check.Evidence) []page.Fact {
	facts := []page.Fact{
		{Label: "scenario", Text: run.Name},
		{Label: "seed", Text: fmt.Sprint(run.Seed)},
		{Label: "run again", Text: run.Again},
		{Label: "began", Text: run.Began.UTC().Format(time.RFC3339)},
		{Label: "took", Text: run.Took.Round(time.Millisecond).String()},
		{Label: "nodes", Text: strings.Join(run.Nodes, ", ")},
		{Label: "store", Text: run.Store},
		{Label: "flags", Text: strings.Join(run.Flags, " ")},
		{Label: "omni", Text: compact(run.Versions.Omni)},
		{Label: "fault tests", Text: strings.TrimSpace(run.Versions.Revision + " " + run.Versions.Go)},
		{Label: "Linux", Text: run.Versions.Kernel},
	}
	for i := range e.Ends {
		facts = append(facts, page.Fact{Label: e.Ends[i].Node + " in the end", Text: endOf(&e.Ends[i])})
	}
	facts = append(facts, page.Fact{Label: "data", Text: compact(run.Scenario)})
	return slices.DeleteFunc(facts, func(f page.Fact) bool { return f.Text == "" })
}

func endOf(end *check.End) string {
	text := fmt.Sprintf("applied %d, record %d, digest %.16s, log %.16s", end.Applied, end.BusSeq, end.Digest, end.Log)
	if end.Audit != "" {
		text += "; audit: " + end.Audit
	}
	if end.Error != "" {
		text = "not known: " + end.Error
	}
	return text
}

func compact(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return string(text)
	}
	return out.String()
}

// Page is where the page of a folder is.
func Page(dir string) string { return filepath.Join(dir, pageFile) }

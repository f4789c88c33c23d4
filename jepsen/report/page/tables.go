package page

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// maxRows bounds every table.
const maxRows = 200

// figuresOf is the run in a few numbers.
func figuresOf(h *history.History, t *counts) []Fact {
	all := int64(len(h.Ops))
	ok, fail, unknown := sum(t.all.ok), sum(t.all.fail), sum(t.all.unknown)
	rate := "0"
	if seconds := spanOf(h) / 1e9; seconds > 0 {
		rate = plain.Count(ok / seconds)
	}
	return []Fact{
		{"operations", plain.Count(all)},
		{"ok", plain.Count(ok)},
		{"failed", plain.Count(fail)},
		{"unknown", plain.Count(unknown)},
		{"ok a second", rate},
		{"faults", plain.Count(len(h.Faults))},
		{"time", plain.Clock(spanOf(h))},
	}
}

// operations is one kind of operation.
type operations struct {
	Workload, Name         string
	All, Ok, Fail, Unknown string
	P50, P90, P99, Max     string
}

type kindOf struct{ workload, name string }

func operationsOf(h *history.History) []operations {
	type lot struct {
		all, ok, fail, unknown int64
		took                   []int64
	}
	lots := make(map[kindOf]*lot)
	var kinds []kindOf
	for i := range h.Ops {
		op := &h.Ops[i]
		kind := kindOf{op.Workload, op.Name}
		l := lots[kind]
		if l == nil {
			if len(kinds) == maxRows {
				kind = kindOf{others, ""}
			}
			if l = lots[kind]; l == nil {
				l = new(lot)
				lots[kind] = l
				kinds = append(kinds, kind)
			}
		}
		l.all++
		switch op.Outcome {
		case history.Ok:
			l.ok++
			l.took = append(l.took, max(1, op.Returned-op.Called))
		case history.Failed:
			l.fail++
		default:
			l.unknown++
		}
	}
	slices.SortFunc(kinds, func(a, b kindOf) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.name, b.name))
	})
	rows := make([]operations, 0, len(kinds))
	for _, kind := range kinds {
		l := lots[kind]
		q := quantilesOf(l.took)
		rows = append(rows, operations{
			Workload: plain.Text(kind.workload, 60), Name: plain.Text(kind.name, 60),
			All: plain.Count(l.all), Ok: plain.Count(l.ok), Fail: plain.Count(l.fail), Unknown: plain.Count(l.unknown),
			P50: plain.Span(q.p50), P90: plain.Span(q.p90), P99: plain.Span(q.p99), Max: plain.Span(q.max),
		})
	}
	return rows
}

// refusal is one reason for which operations did not succeed.
type refusal struct {
	Workload, Outcome, Code, Count, First string
	count                                 int64
}

func refusalsOf(h *history.History) []refusal {
	type reason struct{ workload, outcome, code string }
	at := make(map[reason]int)
	var rows []refusal
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Outcome == history.Ok {
			continue
		}
		why := reason{op.Workload, string(op.Outcome), op.Code}
		row, known := at[why]
		switch {
		case known:
		case len(rows) > maxRows:
			row = maxRows
		default:
			row = len(rows)
			at[why] = row
			r := refusal{Workload: plain.Text(why.workload, 60), Outcome: plain.Text(why.outcome, 20), Code: plain.Text(why.code, 80), First: plain.Text(op.Error, 300)}
			if row == maxRows {
				r = refusal{Workload: others}
			}
			rows = append(rows, r)
		}
		rows[row].count++
	}
	slices.SortStableFunc(rows, func(a, b refusal) int { return cmp.Compare(b.count, a.count) })
	for i := range rows {
		rows[i].Count = plain.Count(rows[i].count)
	}
	return rows
}

// faultRow is a fault in the table.
type faultRow struct {
	ID                             int
	Kind, Nodes, From, Until, Took string
	Detail, Error, Lasted          string
}

// maxFaults bounds the faults of the table and of the timeline.
const maxFaults = 2000

func faultRows(h *history.History) []faultRow {
	var rows []faultRow
	for i := range h.Faults[:min(len(h.Faults), maxFaults)] {
		f := &h.Faults[i]
		row := faultRow{
			ID: f.ID, Kind: plain.Text(f.Kind, 60), Nodes: plain.Text(strings.Join(f.Nodes, ", "), 120),
			From: plain.Clock(f.From), Took: plain.Span(f.Took), Until: "not healed", Error: plain.Text(f.Error, 500),
		}
		if refused(f) {
			row.Until = "never there"
		}
		if f.Until != 0 {
			row.Until, row.Lasted = plain.Clock(f.Until), plain.Span(f.Until-f.From)
		}
		if len(f.Detail) > 0 {
			if text, err := json.Marshal(f.Detail); err == nil {
				row.Detail = plain.Text(string(text), 300)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

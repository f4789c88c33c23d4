package show

import (
	"fmt"
	"strconv"

	"github.com/omnikernel/omnikernel/cmd/omni/bench"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// Drill shows what a drill found.
func Drill(p *tell.Page, r drill.Report) {
	rows := make([][]string, 0, len(r.Rounds))
	for _, round := range r.Rounds {
		leader, after := "-", "-"
		if round.NewLeaderMillis != nil {
			leader, after = round.NewLeader, millis(*round.NewLeaderMillis)
		}
		pause := "-"
		if round.PauseMillis > 0 {
			pause = millis(round.PauseMillis)
		}
		rows = append(rows, []string{
			strconv.Itoa(round.Round), round.Leader, pause, leader, after, millis(round.FirstWrite), round.Accepted,
			fmt.Sprintf("%.0f", round.Before),
		})
	}
	p.Table([]string{"ROUND", "LEADER", "PAUSE MS", "NEXT", "AFTER MS", "FIRST WRITE MS", "BY", "WRITES/S BEFORE"}, rows)
	p.Line("")
	p.Line("first write   p50 %s ms, p99 %s ms, max %s ms", p.Bold(millis(r.P50FirstWrite)), millis(r.P99FirstWrite), millis(r.MaxFirstWrite))
	if r.P50NewLeader != nil {
		p.Line("new leader    p50 %s ms, p99 %s ms, max %s ms", millis(*r.P50NewLeader), millis(*r.P99NewLeader), millis(*r.MaxNewLeader))
	}
	p.Line("commands      %d sent, %d acknowledged, %d refused", r.Commands, r.Acknowledged, r.Refused)
	p.Line("              lost %s, duplicated %s, in doubt %d (and %d settled by looking), contradicted %s",
		zero(p.Style, r.Lost), zero(p.Style, r.Duplicated), r.InDoubt, r.Settled, zero(p.Style, r.Contradicted))
	if r.Reads != nil {
		p.Line("reads         %d linearizable, stale %s", *r.Reads, zero(p.Style, int(*r.StaleReads)))
	}
	if r.DigestsEqual {
		p.Line("digests       equal on all nodes")
	} else {
		p.Line("digests       %s", p.Bad("differ"))
	}
}

// Bench shows what a benchmark measured.
func Bench(p *tell.Page, r bench.Report) {
	what := r.Bench
	switch {
	case r.Kind != "":
		what += fmt.Sprintf(" (%s, %d bytes", r.Kind, r.ValueBytes)
		if r.Batch > 0 {
			what += fmt.Sprintf(", batches of %d", r.Batch)
		}
		what += ")"
	case r.StepsEach > 0:
		what += fmt.Sprintf(" (instructions of %d calls)", r.StepsEach)
	case r.Consistency != "":
		what += " (" + r.Consistency + ")"
	}
	p.Line("%s: %s/s with %d clients, %d in %.1f s", what, p.Bold(fmt.Sprintf("%.0f", r.PerSecond)), r.Clients, r.Count, r.Seconds)
	p.Line("latency p50 %s ms, p99 %s ms, p99.9 %s ms, max %s ms", p.Bold(millis(r.P50Millis)), millis(r.P99Millis), millis(r.P999Millis), millis(r.MaxMillis))
	p.Line("%s", p.Faint(r.Correction))
	if r.Errors > 0 {
		p.Line("%s: %s", p.Warn(fmt.Sprintf("%d failed", r.Errors)), r.First)
	}
}

// BenchTool shows what one kind of adapter was measured at.
func BenchTool(p *tell.Page, r bench.ToolReport) {
	what := r.Adapter
	if r.Idempotent {
		what += " (idempotent)"
	}
	p.Line("%s: the kernel adds %s ms to %s ms, at p50 of one caller; %s calls/s of %d agents", what,
		p.Bold(millis(r.AddedMillis)), millis(r.DirectMillis), p.Bold(fmt.Sprintf("%.0f", r.PerSecond)), r.Agents)
	if r.Errors > 0 {
		p.Line("%s: %s", p.Warn(fmt.Sprintf("%d failed", r.Errors)), r.First)
	}
}

// zero dresses a number that should be 0.
func zero(s tell.Style, n int) string {
	if n == 0 {
		return s.Good("0")
	}
	return s.Bad(strconv.Itoa(n))
}

func millis(ms float64) string {
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 2, 64)
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}

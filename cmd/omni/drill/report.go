package drill

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
)

// Round is one fault.
type Round struct {
	Round           int      `json:"round"`
	Leader          string   `json:"leader"` // who led before
	PauseMillis     float64  `json:"pause_ms,omitempty"`
	Before          float64  `json:"per_second_before"` // acknowledged commands, in the second before
	NewLeader       string   `json:"new_leader,omitempty"`
	NewLeaderMillis *float64 `json:"new_leader_ms,omitempty"` // from the fault; absent when nobody else took over
	FirstWrite      float64  `json:"first_write_ms"`          // from the fault to the first accepted command
	Accepted        string   `json:"accepted_by"`             // who accepted it
}

// sentence tells a round as it ends.
func (r *Round) sentence(of int) string {
	text := fmt.Sprintf("round %d of %d: %s", r.Round, of, r.Leader)
	if r.PauseMillis > 0 {
		text += fmt.Sprintf(" paused for %.0f ms", r.PauseMillis)
	}
	if r.NewLeaderMillis != nil {
		text += fmt.Sprintf(", %s leads after %.0f ms", r.NewLeader, *r.NewLeaderMillis)
	}
	return text + fmt.Sprintf(", first write after %.1f ms by %s", r.FirstWrite, r.Accepted)
}

// Report is what a drill found.
type Report struct {
	Drill  Kind    `json:"drill"`
	Rounds []Round `json:"rounds"`

	P50FirstWrite float64  `json:"p50_first_write_ms"`
	P99FirstWrite float64  `json:"p99_first_write_ms"`
	MaxFirstWrite float64  `json:"max_first_write_ms"`
	P50NewLeader  *float64 `json:"p50_new_leader_ms,omitempty"`
	P99NewLeader  *float64 `json:"p99_new_leader_ms,omitempty"`
	MaxNewLeader  *float64 `json:"max_new_leader_ms,omitempty"`

	load.Audit

	Reads        *int64 `json:"linearizable_reads,omitempty"` // answered ones, with pause-leader
	StaleReads   *int64 `json:"stale_reads,omitempty"`
	DigestsEqual bool   `json:"digests_equal"`
	Valid        bool   `json:"valid"` // there was enough load before every fault
}

// report compares promises with facts, once the load has ended.
func (d *drill) report(ctx context.Context, rounds []Round) (Report, error) {
	report := Report{Drill: d.Kind, Rounds: rounds, Valid: true}
	var first, leader []float64
	for _, round := range rounds {
		first = append(first, round.FirstWrite)
		if round.NewLeaderMillis != nil {
			leader = append(leader, *round.NewLeaderMillis)
		}
		report.Valid = report.Valid && round.Before >= d.leastRate()
	}
	report.P50FirstWrite, report.P99FirstWrite, report.MaxFirstWrite = percentiles(first)
	if len(leader) > 0 {
		p50, p99, most := percentiles(leader)
		report.P50NewLeader, report.P99NewLeader, report.MaxNewLeader = &p50, &p99, &most
	}
	if d.Kind == PauseLeader {
		answers, stale := d.readers.answers.Load(), d.readers.stale.Load()
		report.Reads, report.StaleReads = &answers, &stale
	}
	_, alike, err := AwaitAlike(ctx, d.client, d.Timeout)
	if err != nil {
		return report, err
	}
	report.DigestsEqual = alike
	report.Audit, err = load.Examine(ctx, d.client, d.name, d.ledger.Writes())
	return report, err
}

// enough is how many commands per second a cluster must have taken before a
// fault, for the round to say anything; or most of the pace, if that is lower.
const enough = 100

func (d *drill) leastRate() float64 { return min(enough, 0.8*float64(d.Rate)) }

// percentiles of a few exact values, by nearest rank; the values are sorted.
func percentiles(values []float64) (p50, p99, most float64) {
	slices.Sort(values)
	rank := func(q float64) float64 { return values[max(int(math.Ceil(q*float64(len(values)))), 1)-1] }
	return rank(0.50), rank(0.99), values[len(values)-1]
}

// Broken lists, in sentences, what did not hold; empty when all did.
func (r *Report) Broken() []string {
	var all []string
	say := func(n int64, what string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(int64(r.Lost), "acknowledged commands are lost")
	say(int64(r.Duplicated), "commands took effect more than once")
	say(int64(r.Contradicted), "commands did what their clients were told they did not")
	if r.StaleReads != nil {
		say(*r.StaleReads, "linearizable reads were stale")
	}
	if !r.DigestsEqual {
		all = append(all, "the nodes' digests differ at one index")
	}
	if !r.Valid {
		all = append(all, "there was too little load before a fault: the drill says nothing")
	}
	if r.Reads != nil && *r.Reads == 0 {
		all = append(all, "no linearizable read was answered: the drill says nothing")
	}
	return all
}

package page

import (
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// maxLanes bounds the workloads that have a lane of their own; the others share
// one.
const maxLanes = 24

const others = "all others"

// counted is the operations of a workload, by bucket: those that are known when
// their answer came, those that are not when they were given up.
type counted struct {
	name    string
	ok      []int
	fail    []int
	unknown []int
}

// counts is everything that is drawn of operations.
type counts struct {
	scale
	lanes []*counted
	all   counted
	waits []quantiles // of what succeeded and does not wait by design, by the bucket of the call
	lost  []int64     // the longest that a call of the bucket waited without knowing in the end
}

// quantiles are latencies in nanoseconds; all zero when there were none.
type quantiles struct{ p50, p90, p99, max int64 }

func newCounted(name string, buckets int) *counted {
	return &counted{name: name, ok: make([]int, buckets), fail: make([]int, buckets), unknown: make([]int, buckets)}
}

func (c *counted) add(outcome history.Outcome, bucket int) {
	switch outcome {
	case history.Ok:
		c.ok[bucket]++
	case history.Failed:
		c.fail[bucket]++
	default:
		c.unknown[bucket]++
	}
}

func tally(h *history.History, waiting []string) *counts {
	t := &counts{scale: scaleFor(h)}
	t.all = *newCounted("", t.buckets)
	t.waits = make([]quantiles, t.buckets)
	t.lost = make([]int64, t.buckets)
	lanes := lanesOf(h)
	t.lanes = lanes.list(t.buckets)
	took := make([][]int64, t.buckets)
	for i := range h.Ops {
		op := &h.Ops[i]
		called, returned := t.of(op.Called), t.of(op.Returned)
		lane := t.lanes[lanes.at(op.Workload)]
		lane.add(op.Outcome, returned)
		t.all.add(op.Outcome, returned)
		if slices.Contains(waiting, op.Workload) {
			continue
		}
		wait := max(op.Returned-op.Called, 1)
		switch op.Outcome {
		case history.Ok:
			took[called] = append(took[called], wait)
		case history.Failed:
		default:
			t.lost[called] = max(t.lost[called], wait)
		}
	}
	for i := range took {
		t.waits[i] = quantilesOf(took[i])
	}
	return t
}

// lanes gives each workload its place, by name.
type lanes struct {
	names []string
	more  bool // there are others
}

func lanesOf(h *history.History) lanes {
	var l lanes
	known := make(map[string]bool)
	for i := range h.Ops {
		if name := h.Ops[i].Workload; !known[name] {
			if len(l.names) == maxLanes {
				l.more = true
				break
			}
			known[name] = true
			l.names = append(l.names, name)
		}
	}
	slices.Sort(l.names)
	return l
}

func (l *lanes) list(buckets int) []*counted {
	var all []*counted
	for _, name := range l.names {
		all = append(all, newCounted(plain.Text(name, 60), buckets))
	}
	if l.more {
		all = append(all, newCounted(others, buckets))
	}
	return all
}

func (l *lanes) at(workload string) int {
	if at, found := slices.BinarySearch(l.names, workload); found {
		return at
	}
	return len(l.names)
}

// quantilesOf sorts what it is given.
func quantilesOf(took []int64) quantiles {
	if len(took) == 0 {
		return quantiles{}
	}
	slices.Sort(took)
	at := func(percent int) int64 { return took[(len(took)*percent+99)/100-1] }
	return quantiles{at(50), at(90), at(99), took[len(took)-1]}
}

// rates is how many a second there were about each bucket: within half a second
// before and after its middle, or in the bucket if that is longer.
func (t *counts) rates(counts []int) []float64 {
	reach := int(int64(time.Second) / t.bucket / 2)
	all := make([]float64, len(counts))
	for i := range counts {
		around := counts[max(0, i-reach):min(len(counts), i+reach+1)]
		all[i] = float64(sum(around)) * 1e9 / float64(t.bucket*int64(len(around)))
	}
	return all
}

func sum(list []int) int64 {
	var all int64
	for _, n := range list {
		all += int64(n)
	}
	return all
}

// readings is what the script reads out under the pointer.
type readings struct {
	Bucket  int64         `json:"bucket"`
	Lanes   []laneReading `json:"lanes"`
	P50     []int64       `json:"p50"`
	P99     []int64       `json:"p99"`
	Max     []int64       `json:"max"`
	Lost    []int64       `json:"lost"`
	Buckets int           `json:"buckets"`
}

type laneReading struct {
	Name    string `json:"name"`
	Ok      []int  `json:"ok"`
	Fail    []int  `json:"fail"`
	Unknown []int  `json:"unknown"`
}

// micros shortens what is read out.
const micros = 1000

func readingsOf(t *counts) readings {
	r := readings{Bucket: t.bucket / micros, Buckets: t.buckets}
	for _, lane := range t.lanes {
		r.Lanes = append(r.Lanes, laneReading{lane.name, lane.ok, lane.fail, lane.unknown})
	}
	for i, w := range t.waits {
		r.P50 = append(r.P50, w.p50/micros)
		r.P99 = append(r.P99, w.p99/micros)
		r.Max = append(r.Max, w.max/micros)
		r.Lost = append(r.Lost, t.lost[i]/micros)
	}
	return r
}

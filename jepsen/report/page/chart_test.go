package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
)

const second = int64(time.Second)

func at(seconds ...float64) []int64 {
	all := make([]int64, len(seconds))
	for i, s := range seconds {
		all[i] = int64(s * float64(second))
	}
	return all
}

// However long a run was, it is divided into at most 600 stretches that cover it.
func TestScale(t *testing.T) {
	for _, span := range []int64{0, 1, second, second + 1, 59 * second, 601 * second, int64(8 * time.Hour), int64(300 * 24 * time.Hour), history.Never} {
		s := scaleFor(&history.History{Phases: []history.Phase{{At: span}}})
		require.LessOrEqual(t, s.buckets, maxBuckets, span)
		require.GreaterOrEqual(t, s.span(), min(span, maxSpan), span)
		require.Equal(t, s.buckets-1, s.of(s.span()))
		require.Zero(t, s.of(-1))
		step := stepFor(s.span(), 10)
		for _, zoom := range zooms {
			next := finer(step, stepFor(s.span(), 10*zoom))
			require.Zero(t, step%next, "a finer tick falls on every coarser one")
			step = next
		}
	}
}

// Operations are counted by when they were answered, and waited from when they
// were called.
func TestTally(t *testing.T) {
	h := &history.History{Phases: []history.Phase{{At: 60 * second}}}
	add := func(workload string, outcome history.Outcome, called, returned float64) {
		times := at(called, returned)
		h.Ops = append(h.Ops, history.Op{ID: uint64(len(h.Ops) + 1), Workload: workload, Outcome: outcome, Called: times[0], Returned: times[1]})
	}
	for i := range 100 {
		add("b", history.Ok, 1, 1+float64(i+1)/1000)
	}
	add("a", history.Failed, 2, 3)
	add("a", history.Unknown, 2, 4.5)
	add("a", history.Unknown, 2, 3.5)
	tallied := tally(h, nil)
	require.Equal(t, []string{"a", "b"}, []string{tallied.lanes[0].name, tallied.lanes[1].name})
	require.EqualValues(t, 100, sum(tallied.lanes[1].ok))
	require.EqualValues(t, 1, tallied.lanes[0].fail[tallied.of(3*second)])
	require.EqualValues(t, 1, tallied.lanes[0].unknown[tallied.of(4500*second/1000)])
	require.Equal(t, quantiles{50e6, 90e6, 99e6, 100e6}, tallied.waits[tallied.of(second)])
	require.Equal(t, 2500*second/1000, tallied.lost[tallied.of(2*second)])
	require.Equal(t, quantiles{}, tallied.waits[tallied.of(2*second)], "what is not known is no latency")

	require.Equal(t, quantiles{}, tally(h, []string{"b"}).waits[tallied.of(second)], "what waits by design is no latency")

	for i := range maxLanes + 5 {
		add(fmt.Sprintf("more%02d", i), history.Ok, 5, 6)
	}
	tallied = tally(h, nil)
	require.Len(t, tallied.lanes, maxLanes+1)
	require.EqualValues(t, 7, sum(tallied.lanes[maxLanes].ok), "the others share a lane")
	require.EqualValues(t, len(h.Ops), sum(tallied.all.ok)+sum(tallied.all.fail)+sum(tallied.all.unknown))
}

// Operations a second are counted over a second, where buckets are shorter.
func TestRates(t *testing.T) {
	short := &counts{scale: scale{second / 10, 30}}
	given := make([]int, 30)
	for i := range given {
		given[i] = i % 2 * 20
	}
	for i, rate := range short.rates(given) {
		require.InDelta(t, 100, rate, 20, i)
	}
	require.Equal(t, []float64{2, 4}, (&counts{scale: scale{5 * second, 2}}).rates([]int{10, 20}))
}

// A node's lane: it starts, leads while it says so, until its process goes.
func TestNodeLane(t *testing.T) {
	counts := &counts{scale: scale{second, 60}}
	lives := []history.Life{
		{At: second, Node: "n1", What: "started"}, {At: 2 * second, Node: "n1", What: "ready"}, {At: 10 * second, Node: "n1", What: "paused"},
		{At: 20 * second, Node: "n1", What: "resumed"}, {At: 30 * second, Node: "n1", What: "killed"},
	}
	var said []string
	for _, s := range runs(lives, counts) {
		said = append(said, s.title)
	}
	require.Equal(t, []string{"n1 starting, from 1 s to 2 s", "n1 up, from 2 s to 10 s", "n1 paused, from 10 s to 20 s", "n1 up, from 20 s to 30 s"}, said)

	sights := []history.Sight{
		{At: 3 * second, Role: "follower", Term: 1}, {At: 4 * second, Role: "leader", Term: 2}, {At: 5 * second, Role: "leader", Term: 2},
		{At: 6 * second, Node: "n1", Silent: true}, {At: 7 * second, Silent: true}, {At: 8 * second, Role: "leader", Term: 3}, {At: 9 * second, Role: "follower", Term: 4},
		{At: 28 * second, Role: "leader", Term: 7},
	}
	said = nil
	for _, s := range terms(sights, lives, counts) {
		said = append(said, s.title)
	}
	require.Equal(t, []string{"leader, term 2, from 4 s to 6 s", "leader, term 3, from 8 s to 9 s", "leader, term 7, from 28 s to 30 s"}, said, "the last ends with its process")
	require.Equal(t, "n1 does not answer, from 6 s to 8 s", silences(sights, counts)[0].title)
}

// Faults at one time stand below each other, as far as there is room; how many
// have no name is said.
func TestFaultRows(t *testing.T) {
	h := new(history.History)
	for i := range 20 {
		h.Faults = append(h.Faults, history.Fault{ID: i + 1, Kind: "kill", Nodes: []string{"n1"}, From: 10 * second, Until: 20 * second})
	}
	h.Faults = append(h.Faults, history.Fault{ID: 21, Kind: "pause", From: 50 * second})
	counts := &counts{scale: scale{second, 60}}
	c := new(chart)
	bottom := c.faults(h, counts, 0)
	rows := make(map[int]int)
	for _, b := range c.Boxes {
		if b.Mark != "begin" {
			rows[b.Y]++
		}
	}
	require.Len(t, rows, maxFaultRow)
	top := 27
	require.Equal(t, 2, rows[top], "what comes later is in the first row again")
	require.Equal(t, 9, rows[top+(maxFaultRow-1)*faultHeight])
	require.Equal(t, "8 more, see below", c.Gutter[len(c.Gutter)-1].Text)
	require.Equal(t, top-1+(maxFaultRow+1)*faultHeight, bottom)
	require.Contains(t, c.Boxes[len(c.Boxes)-1].Title, "never healed")

	// Only what was there is behind the rest, and as one.
	h.Faults[20].Error = "no"
	c = new(chart)
	c.shade(h, counts, 0, 100)
	require.Equal(t, []box{{X: "16.667%", Width: "16.667%", Height: 100, Mark: "shade"}}, c.Shades)
}

// A finding is where its checker says, or where its first operation was called.
func TestPlaces(t *testing.T) {
	h := &history.History{Ops: []history.Op{{ID: 3, Called: 15 * second, Returned: 60 * second}}}
	p := &Page{History: h, Verdicts: []check.Verdict{{Findings: []check.Finding{{Text: "a", Ops: []uint64{9, 3}}, {Text: "b"}, {Text: "c", At: 30 * second}}}}}
	c := draw(p, tally(h, nil))
	require.Len(t, c.Places, 2)
	require.Equal(t, 1, c.Places[0].Mark)
	require.Equal(t, "25.000%", c.Places[0].X)
	require.Equal(t, 3, c.Places[1].Mark, "numbers are those of the list")
	require.Equal(t, "50.000%", c.Places[1].X)

	// Numbers that would stand upon each other are there when there is room.
	p.Verdicts[0].Findings = []check.Finding{{At: 30 * second}, {At: 30*second + second/4}, {At: 15 * second}, {At: 30 * second}}
	c = draw(p, tally(h, nil))
	var shown []string
	for _, place := range c.Places {
		shown = append(shown, fmt.Sprintf("%d %s%s", place.Mark, place.Number, place.From))
	}
	require.Equal(t, []string{"3 3", "1 1", "4 ", "2 2 from4"}, shown)
}

// The outline of counts: nothing where there is nothing, all of the height where
// there is most; where few must be seen, one is a third at least.
func TestSilhouette(t *testing.T) {
	require.Equal(t, "M0 10H1V5H2V0H3V10H4V10Z", silhouette([]int{0, 5, 10, 0}, 0, 10, "ok", false).Curves[0].Path)
	few := silhouette([]int{0, 1, 10_000}, 0, 9, "fail", true).Curves[0].Path
	require.True(t, strings.HasPrefix(few, "M0 9H1V5.9H2V0H3"), few)
}

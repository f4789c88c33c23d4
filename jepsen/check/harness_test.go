package check_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

const second = int64(time.Second)

// wholeRun is a run as it should be: 5 s of calm at 200 operations a second, a kill and
// a full disk that ended a process, healed at 12 s, everybody serving at 14 s, and three
// nodes that hold the same in the end.
func wholeRun(t testing.TB) *check.Evidence {
	e := &check.Evidence{History: new(history.History), Nodes: []string{"n1", "n2", "n3"}}
	e.Phases = []history.Phase{
		{At: 0, Name: history.Setup}, {At: second, Name: history.Calm}, {At: 6 * second, Name: history.Faults},
		{At: 12 * second, Name: history.Heal}, {At: 50 * second, Name: history.Final},
	}
	var ops []history.Op
	for i := range int64(1000) {
		at := second + i*second/200
		ops = append(ops, history.Op{
			Process: 1 + int(i%4), Workload: model.Register, Name: model.Read, Key: "k", Called: at, Returned: at + second/100, Outcome: history.Ok, Node: "n1",
		})
	}
	ops[600].Process, ops[600].Outcome = 9, history.Unknown
	for i, node := range e.Nodes {
		for j, name := range []string{model.Serves, model.Leads} {
			for try, outcome := range []history.Outcome{history.Failed, history.Ok} {
				at := 13*second + int64(try)*second/2
				ops = append(ops, history.Op{
					Process: 20 + 2*i + j, Workload: model.Probe, Name: name, Key: node, Node: node, Called: at, Returned: at + second/10, Outcome: outcome,
				})
			}
		}
		e.Ends = append(e.Ends, check.End{Node: node, Applied: 900, BusSeq: 4000, Digest: "d900", Log: "1009"})
		for at := int64(2); at < 50; at++ {
			s := history.Sight{
				At: at*second + int64(i), Node: node, Role: "follower", Term: 2, Applied: uint64(at), Digest: fmt.Sprint("d", at), Healthy: true,
			}
			if i == 0 {
				s.Role = "leader"
			}
			e.Sights = append(e.Sights, s)
		}
	}
	e.Ops = numbered(ops).Ops
	e.Faults = []history.Fault{
		{ID: 1, Kind: "kill", Nodes: []string{"n2"}, From: 7 * second, Took: 5, Until: 9 * second},
		{ID: 2, Kind: "full", Nodes: []string{"n3"}, From: 8 * second, Took: 5, Until: 11 * second, Detail: map[string]any{"ends": true}},
	}
	e.Lives = []history.Life{
		{At: 0, Node: "n2", What: "started", Wanted: true},
		{At: 7*second + 3, Node: "n2", What: "ended", Wanted: true}, {At: 9 * second, Node: "n2", What: "started", Wanted: true},
		{At: 10 * second, Node: "n3", What: "ended"}, {At: 11 * second, Node: "n3", What: "started", Wanted: true},
	}
	for seq := uint64(1); seq <= 20; seq++ {
		e.Log = append(e.Log, api.Record{BusSeq: seq, Index: seq / 2, Term: 1 + seq/10})
	}
	return e
}

var harness = check.Harness{Wants: map[string]int{"kill": 1, "full": 1}}

// A run as it should be shows something.
func TestHarnessIsValid(t *testing.T) {
	v := harness.Check(t.Context(), wholeRun(t))
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
	require.EqualValues(t, 199, v.Figures["calm operations a second"])
	require.EqualValues(t, 1600, v.Figures["slowest to serve ms"])
	require.EqualValues(t, 2, v.Figures["faults"])
	require.EqualValues(t, 1, v.Figures["unknown"])
}

// What the test did not do as it should makes the run show nothing; what a node did
// not do is the product's.
func TestHarnessIsNot(t *testing.T) {
	probes := func(e *check.Evidence, node string, change func(*history.Op)) {
		for i := range e.Ops {
			if op := &e.Ops[i]; op.Workload == model.Probe && op.Key == node {
				change(op)
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(e *check.Evidence)
		word  check.Word
		says  string
	}{
		"settled twice":        {func(e *check.Evidence) { e.Ops = slices.Insert(e.Ops, 7, e.Ops[7]) }, check.Unclear, "was settled twice"},
		"a hole":               {func(e *check.Evidence) { e.Ops = slices.Delete(e.Ops, 7, 8) }, check.Unclear, "has a hole"},
		"no such outcome":      {func(e *check.Evidence) { e.Ops[7].Outcome = "" }, check.Unclear, "has the outcome"},
		"never settled":        {func(e *check.Evidence) { e.Ops[7].Error = history.NotSettled }, check.Unclear, "never settled"},
		"back in time":         {func(e *check.Evidence) { e.Ops[7].Returned = e.Ops[7].Called - 1 }, check.Unclear, "returned at"},
		"nobody":               {func(e *check.Evidence) { e.Ops[7].Process = 0 }, check.Unclear, "who did what"},
		"two things at a time": {func(e *check.Evidence) { e.Ops[7].Process = e.Ops[8].Process }, check.Unclear, "at the same time"},
		"after an unknown":     {func(e *check.Evidence) { e.Ops[7].Outcome = history.Unknown }, check.Unclear, "may still be at"},
		"of two workloads":     {func(e *check.Evidence) { e.Ops[7].Workload = model.Reads }, check.Unclear, "works for"},
		"interrupted":          {func(e *check.Evidence) { e.Phases = e.Phases[:4] }, check.Unclear, "did not come to the phase"},
		"out of turn":          {func(e *check.Evidence) { e.Phases[2], e.Phases[1] = e.Phases[1], e.Phases[2] }, check.Unclear, "out of turn"},
		"too little traffic": {func(e *check.Evidence) {
			for i := range e.Ops[:700] {
				e.Ops[i].Outcome = history.Failed
			}
		}, check.Unclear, "59 operations a second"},
		"no calm":             {func(e *check.Evidence) { e.Phases[2].At = second + 7 }, check.Unclear, "not a second"},
		"a fault in the calm": {func(e *check.Evidence) { e.Faults[0].From = 5 * second }, check.Unclear, "before the calm phase is over"},
		"a fault that failed": {func(e *check.Evidence) { e.Faults[0].Error = "no such device" }, check.Unclear, "no such device"},
		"a fault that stays":  {func(e *check.Evidence) { e.Faults[0].Until = 0 }, check.Unclear, "was not over"},
		"a fault not made":    {func(e *check.Evidence) { e.Faults = e.Faults[1:] }, check.Unclear, "the scenario wants 1"},
		"a fault not seen":    {func(e *check.Evidence) { e.Lives = e.Lives[2:] }, check.Unclear, "left no trace"},
		"nobody asked":        {func(e *check.Evidence) { probes(e, "n2", func(op *history.Op) { op.Workload = model.Reads }) }, check.Unclear, "was not asked"},
		"it does not serve":   {func(e *check.Evidence) { probes(e, "n2", func(op *history.Op) { op.Outcome = history.Failed }) }, check.Invalid, "n2 did not answer"},
		"it serves too late": {func(e *check.Evidence) {
			probes(e, "n3", func(op *history.Op) { op.Returned += 31 * second })
		}, check.Invalid, "n3 did not answer"},
		"another answers": {func(e *check.Evidence) { probes(e, "n3", func(op *history.Op) { op.Node = "n1" }) }, check.Invalid, "n3 did not answer"},
		"it is not well":  {func(e *check.Evidence) { e.Sights[len(e.Sights)-1].Healthy = false }, check.Invalid, "n3 is not well"},
		"it is silent":    {func(e *check.Evidence) { e.Sights[47].Silent = true }, check.Invalid, "n1 is not well"},
	} {
		t.Run(name, func(t *testing.T) {
			e := wholeRun(t)
			c.spoil(e)
			v := harness.Check(t.Context(), e)
			require.Equal(t, c.word, v.Word, "%+v", v.Findings)
			require.Contains(t, text(v), c.says)
		})
	}
}

// LO-3: nodes that are one machine are found to be.
func TestReplicasAreValid(t *testing.T) {
	v := check.Replicas{}.Check(t.Context(), wholeRun(t))
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
	require.EqualValues(t, 2*48+2, v.Figures["digests compared"])
	require.EqualValues(t, 1, v.Figures["ended by themselves"])
	require.EqualValues(t, 1, v.Figures["terms with a leader"])
}

// LO-3: one difference is enough, and what is not known is not passed.
func TestReplicasAreNot(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(e *check.Evidence)
		word  check.Word
		says  string
	}{
		"another end":         {func(e *check.Evidence) { e.Ends[1].Digest = "x" }, check.Invalid, "at index 900 the digest of n1"},
		"another log":         {func(e *check.Evidence) { e.Ends[1].Log = "x" }, check.Invalid, "the logs of n1 and n2"},
		"a finding":           {func(e *check.Evidence) { e.Ends[1].Audit = "a call without a right" }, check.Invalid, "a call without a right"},
		"another on the way":  {func(e *check.Evidence) { e.Sights[60].Digest = "x" }, check.Invalid, "n1 at"},
		"the end differs":     {func(e *check.Evidence) { e.Sights[60].Applied = 900 }, check.Invalid, "in the end"},
		"changed its mind":    {func(e *check.Evidence) { e.Sights[1].Applied = 2 }, check.Invalid, "at index 2"},
		"two leaders":         {func(e *check.Evidence) { e.Sights[60].Role, e.Sights[61].Role = "leader", "leader" }, check.Invalid, "n1 and n2 lead in term 2"},
		"ended":               {func(e *check.Evidence) { e.Lives[3].Node = "n1" }, check.Invalid, "n1 ended by itself"},
		"ended later":         {func(e *check.Evidence) { e.Lives[3].At = 30 * second }, check.Invalid, "n3 ended by itself"},
		"ended before":        {func(e *check.Evidence) { e.Lives[3].At = 7 * second }, check.Invalid, "n3 ended by itself"},
		"ended without leave": {func(e *check.Evidence) { e.Faults[1].Detail = nil }, check.Invalid, "n3 ended by itself"},
		"a gap in the log":    {func(e *check.Evidence) { e.Log = slices.Delete(e.Log, 5, 6) }, check.Invalid, "follows record 5"},
		"the log goes back":   {func(e *check.Evidence) { e.Log[5].Term = 7 }, check.Invalid, "and the one before"},
		"not all are known":   {func(e *check.Evidence) { e.Ends = e.Ends[:2] }, check.Unclear, "n3: it is not known"},
		"one cannot be read":  {func(e *check.Evidence) { e.Ends[2].Error = "refused" }, check.Unclear, "refused"},
		"not at one index":    {func(e *check.Evidence) { e.Ends[2].Applied, e.Ends[2].Digest = 901, "d901" }, check.Unclear, "cannot be compared"},
		"logs of two lengths": {func(e *check.Evidence) { e.Ends[2].BusSeq = 4001 }, check.Unclear, "different records"},
		"nobody":              {func(e *check.Evidence) { e.Nodes = nil }, check.Unclear, "which nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			e := wholeRun(t)
			c.spoil(e)
			v := check.Replicas{}.Check(t.Context(), e)
			require.Equal(t, c.word, v.Word, "%+v", v.Findings)
			require.Contains(t, text(v), c.says)
		})
	}
}

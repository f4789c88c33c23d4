package check_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

func sumOf(records ...*api.Record) string {
	var sum model.RecordSum
	for _, r := range records {
		sum.Add(r)
	}
	return sum.String()
}

// joined takes several of what a stream saw over a connection as one.
func joined(e *check.Evidence) {
	var list []history.Seen
	var records []*api.Record
	for _, s := range e.Seen {
		r := &e.Log[s.Seq-1]
		if n := len(list) - 1; n >= 0 && list[n].Stream == s.Stream && list[n].Connection == s.Connection && list[n].Records() < 7 {
			records = append(records, r)
			list[n].Last, list[n].Count, list[n].Index, list[n].Sum = s.Seq, len(records), s.Index, sumOf(records...)
			continue
		}
		records = []*api.Record{r}
		list = append(list, s)
	}
	e.Seen = list
}

// streamRun is a log, and two streams that saw it over several connections: one all
// of it, one some kinds from somewhere on.
func streamRun(t testing.TB) *check.Evidence {
	dice := rand.New(rand.NewPCG(1, 3))
	e := &check.Evidence{History: new(history.History)}
	for seq := uint64(1); seq <= 300; seq++ {
		e.Log = append(e.Log, api.Record{
			BusSeq: seq, Index: seq/3 + 1, Term: 2, AtMillis: int64(seq), Kind: [...]string{"EVENT", "LIFECYCLE", "OUTCOME"}[seq%3],
			Body: json.RawMessage(fmt.Sprintf(`{"n":%d}`, seq)),
		})
	}
	var ops []history.Op
	watch := func(stream string, from uint64, kinds []string) {
		next := max(from, 20)
		if from == 1 {
			next = 1
		}
		for connection := 1; next <= 300; connection++ {
			last := min(next+dice.Uint64N(90), 300)
			op := history.Op{
				Workload: model.Stream, Name: model.Watch, Key: stream, Called: int64(next * 10), Returned: int64(last * 10), Outcome: history.Ok,
				Process: len(stream), In: body(t, model.WatchIn{Node: "n1", Connection: connection, From: from, Kinds: kinds}),
			}
			if last == 300 {
				op.Name = model.Reach
				op.In = body(t, model.WatchIn{Node: "n1", Connection: connection, From: from, Kinds: kinds, Target: 299})
			}
			ops = append(ops, op)
			for ; next <= last; next++ {
				r := &e.Log[next-1]
				if kinds != nil && !slices.Contains(kinds, r.Kind) {
					continue
				}
				e.Seen = append(e.Seen, history.Seen{
					At: int64(next * 10), Stream: stream, Connection: connection, Node: "n1", Seq: next, Index: r.Index, Sum: sumOf(r),
				})
				from = next + 1
			}
		}
	}
	watch("all", 1, nil)
	watch("some", 0, []string{"LIFECYCLE", "OUTCOME"})
	e.Ops = numbered(ops).Ops
	return e
}

// CL-5: streams that are in order are found to be.
func TestStreamIsValid(t *testing.T) {
	e := streamRun(t)
	v := check.Stream{}.Check(t.Context(), e)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
	require.EqualValues(t, 2, v.Figures["streams"])
	require.Greater(t, v.Figures["records"], int64(450))
	require.Greater(t, v.Figures["connections"], int64(5))

	e.Log = nil
	require.Equal(t, check.Unclear, check.Stream{}.Check(t.Context(), e).Word)
	e = streamRun(t)
	e.History.Seen = nil
	require.NotEqual(t, check.Valid, check.Stream{}.Check(t.Context(), e).Word)
}

// CL-5: several records that were written down at once are judged as each of them.
func TestStreamOfSeveral(t *testing.T) {
	e := streamRun(t)
	joined(e)
	v := check.Stream{}.Check(t.Context(), e)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
	require.Greater(t, v.Figures["records"], int64(450))
	require.Less(t, len(e.Seen), 100)
	kept := slices.Clone(e.Seen)
	for _, stream := range []string{"all", "some"} {
		at := slices.IndexFunc(e.Seen, func(s history.Seen) bool { return s.Stream == stream && s.Seq > 150 && s.Count > 5 })
		for name, c := range map[string]struct {
			spoil func(*history.Seen)
			says  string
		}{
			"one is missing":  {func(s *history.Seen) { s.Count-- }, "there is a gap: of the records"},
			"one is too many": {func(s *history.Seen) { s.Count++ }, "should have come"},
			"another content": {func(s *history.Seen) { s.Sum = "00" }, "is not what the log holds"},
			"another index":   {func(s *history.Seen) { s.Index++ }, "is not what the log holds"},
			"too far":         {func(s *history.Seen) { s.Last = 400 }, "does not hold it in the end"},
		} {
			e.Seen = slices.Clone(kept)
			c.spoil(&e.Seen[at])
			v := check.Stream{}.Check(t.Context(), e)
			require.Equal(t, check.Invalid, v.Word, name)
			require.Contains(t, text(v), c.says, name)
		}
		e.Seen = slices.Insert(slices.Clone(kept), at, kept[at])
		require.Contains(t, text(check.Stream{}.Check(t.Context(), e)), "came after", "a run twice")
		e.Seen = slices.Delete(slices.Clone(kept), at, at+1)
		require.Contains(t, text(check.Stream{}.Check(t.Context(), e)), "should have", "a run left out")
	}
}

// A record's sum is of all that it says, but for notes, which are no part of it.
func TestRecordSum(t *testing.T) {
	record := func(kind, body string) *api.Record {
		return &api.Record{BusSeq: 7, Index: 3, Kind: kind, Body: json.RawMessage(body)}
	}
	whole := sumOf(record("ALLOW", `{"action":"tool.call","grant":2}`))
	noted := record("ALLOW", `{"action":"tool.call","grant":2}`)
	noted.Notes = &api.Notes{Instruction: "CALL"}
	require.Equal(t, whole, sumOf(noted))
	require.NotEqual(t, whole, sumOf(record("ALLOW", `{"action":"tool.call","grant":2,"decided_by":{"effect":"ALLOW"}}`)))
	require.NotEqual(t, whole, sumOf(record("ALLOW", `{"action":"tool.call","grant":3}`)))
	require.NotEqual(t, whole, sumOf(record("DENY", `{"action":"tool.call","grant":2}`)))
	require.NotEqual(t, sumOf(record("EVENT", `{"kind":"x"}`)), sumOf(record("EVENT", `{}`)))
	require.NotEqual(t, sumOf(record("STEP", `x`)), sumOf(record("STEP", `y`)))
}

// CL-5: COMPACTED leads on, and only where it says.
func TestStreamOverArchivedLog(t *testing.T) {
	e := streamRun(t)
	at := slices.IndexFunc(e.Ops, func(op history.Op) bool { return op.Key == "all" && op.Name == model.Watch })
	first := e.Ops[at]
	first.Name, first.Outcome, first.Code = model.Watch, history.Failed, "COMPACTED"
	first.Out = body(t, model.WatchOut{First: 40})
	e.Ops[at].In = body(t, model.WatchIn{Node: "n1", Connection: 1, From: 40})
	e.Ops = slices.Insert(e.Ops, at, first)
	e.Seen = slices.DeleteFunc(e.Seen, func(s history.Seen) bool { return s.Stream == "all" && s.Seq < 40 })
	v := check.Stream{}.Check(t.Context(), e)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
	require.EqualValues(t, 1, v.Figures["compacted"])
}

// CL-5: one record that is wrong is enough.
func TestStreamIsInvalid(t *testing.T) {
	at := func(e *check.Evidence, stream string) int {
		n := 0
		for i := range e.Seen {
			if e.Seen[i].Stream == stream {
				if n++; n == 50 {
					return i
				}
			}
		}
		return -1
	}
	for _, stream := range []string{"all", "some"} {
		for name, c := range map[string]struct {
			spoil func(e *check.Evidence, at int)
			says  string
		}{
			"a gap":             {func(e *check.Evidence, at int) { e.Seen = slices.Delete(e.Seen, at, at+1) }, "there is a gap"},
			"twice":             {func(e *check.Evidence, at int) { e.Seen = slices.Insert(e.Seen, at, e.Seen[at]) }, "came twice"},
			"out of order":      {func(e *check.Evidence, at int) { e.Seen[at], e.Seen[at+1] = e.Seen[at+1], e.Seen[at] }, "gap"},
			"again from before": {func(e *check.Evidence, at int) { e.Seen = slices.Insert(e.Seen, at+3, e.Seen[at]) }, "came after"},
			"another content":   {func(e *check.Evidence, at int) { e.Seen[at].Sum = "0000" }, "is not what the log holds"},
			"another index":     {func(e *check.Evidence, at int) { e.Seen[at].Index++ }, "is not what the log holds"},
			"lost by the log":   {func(e *check.Evidence, _ int) { e.Log = e.Log[:290] }, "does not hold it in the end"},
			"a gap between connections": {func(e *check.Evidence, at int) {
				stream := e.Seen[at].Stream
				for e.Seen[at].Connection == e.Seen[at+1].Connection {
					at++
				}
				e.Seen = slices.Delete(e.Seen, at, at+1)
				require.Equal(t, stream, e.Seen[at].Stream)
			}, "had seen those before"},
			"the end is missing": {func(e *check.Evidence, at int) {
				stream, n := e.Seen[at].Stream, len(e.Seen)
				e.Seen = slices.DeleteFunc(e.Seen, func(s history.Seen) bool { return s.Stream == stream && s.Seq > 290 })
				require.Less(t, len(e.Seen), n)
			}, "should have come to record 299"},
			"the end was not reached": {func(e *check.Evidence, _ int) {
				for i := range e.Ops {
					if e.Ops[i].Name == model.Reach {
						e.Ops[i].Outcome = history.Failed
					}
				}
			}, "was not seen in the end"},
			"a stranger":           {func(e *check.Evidence, at int) { e.Seen[at].Stream = "nobody" }, "nobody asked for it"},
			"a strange connection": {func(e *check.Evidence, at int) { e.Seen[at].Connection = 99 }, "which nobody made"},
			"refused":              {func(e *check.Evidence, _ int) { e.Ops[0].Outcome, e.Ops[0].Code = history.Failed, "INVALID_ARGUMENT" }, "makes no sense"},
		} {
			t.Run(stream+" "+name, func(t *testing.T) {
				e := streamRun(t)
				c.spoil(e, at(e, stream))
				v := check.Stream{}.Check(t.Context(), e)
				require.Equal(t, check.Invalid, v.Word)
				require.Contains(t, text(v), c.says)
			})
		}
	}
	e := streamRun(t)
	i := at(e, "some")
	e.Seen[i+1].Seq = e.Seen[i].Seq + 2 // of a kind that was not asked for
	for e.Log[e.Seen[i+1].Seq-1].Kind != "EVENT" {
		e.Seen[i+1].Seq--
	}
	v := check.Stream{}.Check(t.Context(), e)
	require.Equal(t, check.Invalid, v.Word)
}

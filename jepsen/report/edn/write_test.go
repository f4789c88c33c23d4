package edn_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/edn"
)

func written(t require.TestingT, h *history.History) []map[any]any {
	var out bytes.Buffer
	require.NoError(t, edn.Write(&out, h))
	var lines []map[any]any
	for line := range strings.Lines(out.String()) {
		elements, err := readAll(line)
		require.NoError(t, err, line)
		require.Len(t, elements, 1, "one line is one operation")
		lines = append(lines, elements[0].(map[any]any))
	}
	return lines
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// A register's history as Knossos has it: what reads and writes say is in :value,
// with the key before it; what nobody knows is :info.
func TestRegister(t *testing.T) {
	lines := written(t, &history.History{
		Ops: []history.Op{
			{ID: 1, Process: 3, Workload: "register", Name: "write", Key: "k", In: raw(`{"value":5,"sent":"once"}`), Out: raw(`{"version":2,"x":true}`),
				Outcome: history.Ok, Called: 10, Returned: 30, Node: "n1", Index: 7, Seq: 9},
			{ID: 2, Process: 4, Workload: "register", Name: "read", Key: "k", Out: raw(`{"value":5,"version":2}`), Outcome: history.Ok, Called: 20, Returned: 40},
			{ID: 3, Process: 3, Workload: "register", Name: "cas", Key: "k", In: raw(`{"from":5,"value":6,"version":2}`), Sent: &history.Sent{Event: "SHARED_PUT", Body: raw("{}")}, Outcome: history.Unknown, Code: "TIMEOUT", Error: "no \"answer\"", Called: 30, Returned: 60},
			{ID: 4, Process: 4, Workload: "register", Name: "read", In: raw(`{"stale":true}`), Outcome: history.Failed, Called: 40, Returned: 41},
		},
	})
	k := keyword("value")
	require.Len(t, lines, 8)
	require.Equal(t, map[any]any{keyword("process"): int64(3), keyword("type"): keyword("invoke"), keyword("f"): keyword("write"), k: []any{"k", int64(5)},
		keyword("in"): map[any]any{k: int64(5), keyword("sent"): "once"}, keyword("id"): int64(1), keyword("workload"): "register", keyword("key"): "k", keyword("index"): int64(0), keyword("time"): int64(10)}, lines[0])
	require.Equal(t, []any{"k", nil}, lines[1][k], "a read asks for nothing")
	require.Equal(t, keyword("ok"), lines[2][keyword("type")])
	require.Equal(t, []any{"k", int64(5)}, lines[2][k])
	require.Equal(t, map[any]any{keyword("version"): int64(2), keyword("x"): true}, lines[2][keyword("out")])
	require.Equal(t, "n1", lines[2][keyword("node")])
	require.Equal(t, int64(7), lines[2][keyword("raft-index")])
	require.Equal(t, int64(9), lines[2][keyword("bus-seq")])
	require.Equal(t, []any{"k", []any{int64(5), int64(6)}}, lines[3][k])
	require.Equal(t, "SHARED_PUT", lines[3][keyword("event")])
	require.Equal(t, int64(2), lines[3][keyword("in")].(map[any]any)[keyword("version")])
	require.Equal(t, []any{"k", int64(5)}, lines[4][k], "the answer is what was read")
	require.Equal(t, map[any]any{keyword("stale"): true}, lines[5][keyword("in")])
	require.Equal(t, keyword("fail"), lines[6][keyword("type")])
	require.Nil(t, lines[6][k])
	require.Equal(t, keyword("info"), lines[7][keyword("type")])
	require.Equal(t, `no "answer"`, lines[7][keyword("error")])
	paired(t, lines)

	lines = written(t, &history.History{Ops: []history.Op{
		{ID: 1, Name: "read", Out: raw(`{"version":0}`), Outcome: history.Ok},
		{ID: 2, Name: "cas", In: raw(`{"value":6}`), Outcome: history.Ok, Called: 1, Returned: 2},
		{ID: 3, Name: "spawn", Key: "a", In: raw(`{"do":"spawn"}`), Out: raw(`{"state":"DORMANT"}`), Outcome: history.Ok, Called: 3, Returned: 4},
	}})
	require.Nil(t, lines[1][k], "a register that does not exist")
	require.Equal(t, []any{nil, int64(6)}, lines[2][k])
	require.Equal(t, []any{"a", map[any]any{keyword("do"): "spawn"}}, lines[5][k])
	require.Equal(t, map[any]any{keyword("state"): "DORMANT"}, lines[5][keyword("out")])
}

// Faults are pairs of :nemesis, one after the other, although two of them overlap
// here; one that was refused says so when it is done.
func TestNemesis(t *testing.T) {
	lines := written(t, &history.History{
		Phases: []history.Phase{{At: 0, Name: history.Calm}},
		Faults: []history.Fault{
			{ID: 1, Kind: "kill", Nodes: []string{"n1"}, From: 10, Took: 20, Until: 100, Detail: map[string]any{"signal": "KILL"}},
			{ID: 2, Kind: "partition", Nodes: []string{"n1", "n2"}, From: 15, Took: 20, Error: "refused"},
		},
	})
	var said []string
	var times []int64
	for _, line := range lines {
		require.Equal(t, keyword("info"), line[keyword("type")])
		said = append(said, string(line[keyword("process")].(keyword))+" "+string(line[keyword("f")].(keyword)))
		times = append(times, line[keyword("time")].(int64))
	}
	require.Equal(t, []string{"phase calm", "phase calm", "nemesis start-kill", "nemesis start-kill", "nemesis start-partition", "nemesis start-partition", "nemesis stop-kill", "nemesis stop-kill"}, said)
	require.Equal(t, []int64{0, 0, 10, 30, 30, 35, 100, 100}, times)
	require.Equal(t, map[any]any{keyword("id"): int64(2), keyword("nodes"): []any{"n1", "n2"}, keyword("error"): "refused"}, lines[5][keyword("value")])
	require.NotContains(t, lines[4][keyword("value")], keyword("error"))
	require.Equal(t, "KILL", lines[2][keyword("value")].(map[any]any)[keyword("detail")].(map[any]any)[keyword("signal")])
	paired(t, lines)
}

// paired demands what Jepsen does of a history: indices without a gap, time that
// does not go back, no process with two things at a time, none after its :info.
func paired(t require.TestingT, lines []map[any]any) {
	running, crashed := make(map[any]map[any]any), make(map[any]bool)
	last := int64(-1 << 62)
	for i, line := range lines {
		require.Equal(t, int64(i), line[keyword("index")])
		now := line[keyword("time")].(int64)
		require.LessOrEqual(t, last, now)
		last = now
		process := line[keyword("process")]
		_, client := process.(int64)
		begun := running[process]
		if begun == nil {
			require.False(t, crashed[process], "process %v goes on after its :info", process)
			require.True(t, !client || line[keyword("type")] == keyword("invoke"))
			running[process] = line
			continue
		}
		require.NotEqual(t, keyword("invoke"), line[keyword("type")], "process %v does two things", process)
		require.Equal(t, begun[keyword("f")], line[keyword("f")])
		require.Equal(t, begun[keyword("id")], line[keyword("id")])
		delete(running, process)
		crashed[process] = client && line[keyword("type")] == keyword("info")
	}
	require.Empty(t, running)
}

// Any history is well-formed and complete, whatever is said in it, and whatever
// processes do.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "read", "write", "cas", "a\"b\\c\nd\r\te", ":x", "]}", "\x00\x1b[0m", "\xff\xfe", "#_ ;", "nil", "</script>"}))
		bodies := rapid.SampledFrom([]string{"", "null", "{}", "[1,2.5e3,-0,1E400]", `{"value":null}`, `{"from":1,"value":[]}`, `{"a b":"\"","ok":{"x":18446744073709551616}}`, "not JSON {", `"\u0000\ud800"`, "123456789012345678901234567890"})
		outcomes := rapid.SampledFrom([]history.Outcome{history.Ok, history.Failed, history.Unknown, "odd"})
		h := new(history.History)
		at := int64(0)
		for i := range rapid.IntRange(0, 12).Draw(t, "operations") {
			at += rapid.Int64Range(0, 3).Draw(t, "passes")
			h.Ops = append(h.Ops, history.Op{
				ID: uint64(i + 1), Process: rapid.IntRange(-1, 3).Draw(t, "process"), Workload: words.Draw(t, "workload"), Name: words.Draw(t, "name"), Key: words.Draw(t, "key"),
				In: raw(bodies.Draw(t, "in")), Out: raw(bodies.Draw(t, "out")), Outcome: outcomes.Draw(t, "outcome"), Code: words.Draw(t, "code"), Error: words.Draw(t, "error"),
				Called: at, Returned: at + rapid.Int64Range(-1, 6).Draw(t, "took"), Node: words.Draw(t, "node"), Index: rapid.Uint64().Draw(t, "index"),
			})
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "faults") {
			from := rapid.Int64Range(0, 20).Draw(t, "from")
			h.Faults = append(h.Faults, history.Fault{ID: i + 1, Kind: words.Draw(t, "kind"), Nodes: []string{words.Draw(t, "node")}, From: from,
				Took: rapid.Int64Range(-1, 5).Draw(t, "took"), Until: rapid.Int64Range(0, 30).Draw(t, "until"), Detail: map[string]any{words.Draw(t, "detail"): 1.5}})
		}
		lines := written(t, h)
		want := 2*len(h.Ops) + 2*len(h.Faults)
		for i := range h.Faults {
			if h.Faults[i].Until != 0 {
				want += 2
			}
		}
		require.Len(t, lines, want)
		paired(t, lines)
	})
}

// Numbers that 64 bits do not hold are still whole ones.
func TestLargeNumbers(t *testing.T) {
	lines := written(t, &history.History{Ops: []history.Op{{ID: 1, Name: "w", In: raw("18446744073709551616"), Outcome: history.Ok}}})
	want, _ := new(big.Int).SetString("18446744073709551616", 10)
	require.Equal(t, want, lines[0][keyword("value")])
}

// A long run is written before a person loses patience.
func TestManyOperations(t *testing.T) {
	h := new(history.History)
	for i := range 100_000 {
		h.Ops = append(h.Ops, history.Op{ID: uint64(i + 1), Process: i % 50, Workload: "register", Name: "write", Key: "k", In: raw(`{"value":17}`), Out: raw(`{"version":3}`), Outcome: history.Ok, Called: int64(i), Returned: int64(i + 40)})
	}
	began := time.Now()
	var out counted
	require.NoError(t, edn.Write(&out, h))
	require.Equal(t, 200_000, out.lines)
	require.Less(t, time.Since(began), 5*time.Second)
	t.Logf("%d bytes in %v", out.bytes, time.Since(began))
}

// counted counts what is written.
type counted struct{ lines, bytes int }

func (c *counted) Write(text []byte) (int, error) {
	c.lines += bytes.Count(text, []byte{'\n'})
	c.bytes += len(text)
	return len(text), nil
}

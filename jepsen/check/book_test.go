package check_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/transport/api"
)

// book writes a run down by hand: operations, and the log that they led to.
type book struct {
	t     *testing.T
	e     *check.Evidence
	index uint64
	now   int64
}

func newBook(t *testing.T) *book {
	return &book{t: t, e: &check.Evidence{History: new(history.History), Nodes: []string{"n1"}}}
}

func (b *book) json(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	require.NoError(b.t, err)
	return raw
}

// event begins what one event wrote.
func (b *book) event(kind string, body any, more map[string]any) uint64 {
	b.index++
	fields := map[string]any{"event": kind, "body": body}
	for k, v := range more {
		fields[k] = v
	}
	return b.record("EVENT", "", fields)
}

// record adds a record to the last event, and gives its busSeq.
func (b *book) record(kind, agent string, body any) uint64 {
	b.e.Log = append(b.e.Log, api.Record{
		BusSeq: uint64(len(b.e.Log) + 1), Index: b.index, Kind: kind, AgentID: agent, Body: b.json(body),
	})
	return uint64(len(b.e.Log))
}

// op adds an operation that takes a while, one after the other.
func (b *book) op(op history.Op) *history.Op {
	op.ID, op.Process = uint64(len(b.e.Ops)+1), 1
	op.Called, op.Returned = b.now+1, b.now+2
	b.now += 2
	b.e.Ops = append(b.e.Ops, op)
	return &b.e.Ops[len(b.e.Ops)-1]
}

// outcome ends a command in the log.
func (b *book) outcome(agent, state, code string) {
	body := map[string]any{"index": b.index, "agent_id": agent, "state": state}
	if code != "" {
		body["code"] = code
	}
	b.record("OUTCOME", agent, body)
}

// send is a command that is done, in the log and in the history.
func (b *book) send(workload, name, key string, in any, kind string, body any, agent, state string) *history.Op {
	seq := b.event(kind, body, nil)
	index := b.index
	b.outcome(agent, state, "")
	return b.op(history.Op{
		Workload: workload, Name: name, Key: key, In: b.json(in), Sent: &history.Sent{Event: kind, Body: b.json(body)},
		Outcome: history.Ok, Index: index, Seq: seq,
		Out: b.json(api.Done{AgentID: agent, State: state, Index: index, BusSeq: seq}),
	})
}

// refuse is a command that the kernel refused.
func (b *book) refuse(workload, name, key string, in any, kind string, body any, agent, state, code string) *history.Op {
	b.event(kind, body, nil)
	b.outcome(agent, state, code)
	return b.op(history.Op{
		Workload: workload, Name: name, Key: key, In: b.json(in), Sent: &history.Sent{Event: kind, Body: b.json(body)},
		Outcome: history.Failed, Code: code, Index: b.index, Out: b.json(map[string]string{"state": state}),
	})
}

// change rewrites a record's body.
func (b *book) change(seq uint64, field string, value any) {
	var body map[string]any
	r := &b.e.Log[seq-1]
	require.NoError(b.t, json.Unmarshal(r.Body, &body))
	body[field] = value
	r.Body = b.json(body)
}

// last finds the last record of a kind.
func (b *book) last(kind string) uint64 {
	for i := len(b.e.Log) - 1; i >= 0; i-- {
		if b.e.Log[i].Kind == kind {
			return b.e.Log[i].BusSeq
		}
	}
	b.t.Fatalf("there is no %s", kind)
	return 0
}

// wrong is a planted wrongness, and what the finding about it has to say.
type wrong struct {
	name  string
	plant func(b *book)
	says  string
}

// finds demands that what write writes is fine, and that each wrongness planted in
// it is found.
func finds(t *testing.T, c check.Checker, write func(b *book), plants []wrong) {
	t.Helper()
	good := newBook(t)
	write(good)
	v := c.Check(t.Context(), good.e)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
	require.NotEmpty(t, v.Figures)
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			bad := newBook(t)
			write(bad)
			p.plant(bad)
			v := c.Check(t.Context(), bad.e)
			require.Equal(t, check.Invalid, v.Word)
			texts := ""
			for _, f := range v.Findings {
				texts += f.Text + "\n"
			}
			require.Contains(t, texts, p.says)
		})
	}
	v = c.Check(t.Context(), newBook(t).e)
	require.Equal(t, check.Unclear, v.Word, "nothing was looked at")
}

package replay_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

// seeing reads a service's pages until one is the last.
const seeing = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"n","value":"${input.n}"}},
	{"kind":"LET","payload":{"name":"a","do":{"kind":"CALL","payload":{"tool":"echo","args":{"page":"${n}"}}}}},
	{"kind":"EMIT","payload":{"value":"${a}"}},
	{"kind":"CALL","payload":{"tool":"clock.now","args":{}}},
	{"kind":"RETURN","payload":{"value":"${a.n + n}"}}]}}`

// story is a short log with a bit of everything that a tick leaves: an agent
// that calls, emits and returns, and then fails.
func story(t testing.TB) *kerneltest.Sim {
	t.Helper()
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, seeing)}, map[string]any{"n": 1})
	s.Pulse()
	s.Answer(true, map[string]any{"n": 2})
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Input: kerneltest.Value(t, map[string]any{"n": 3})})
	s.Answer(true, map[string]any{"n": 4})
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Input: kerneltest.Value(t, map[string]any{"n": 5})})
	s.Answer(true, map[string]any{"n": "no number"})
	return s
}

// replayed feeds an agent its blocks until one is refused.
func replayed(log *kerneltest.Placed, s *kerneltest.Sim, no uint32, of replay.Range) (*replay.Agent, error) {
	a := replay.NewAgent(no, s.State().Config, s.Lookup, log.Body, of)
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(no); !touched {
			continue
		}
		b, gone := kerneltest.Fleeting(b)
		err := a.Block(at, b)
		if gone(); err != nil {
			return a, err
		}
	}
	return a, nil
}

// tampered is the log with the record of that busSeq edited into none, one or
// several. Everything around it is as a kernel would have it: causes that there
// are, and the chain of every agent.
func tampered(t kerneltest.TB, log *kerneltest.Placed, seq uint64, edit func(r logging.Record) []logging.Record) *kerneltest.Placed {
	t.Helper()
	out := &kerneltest.Placed{Order: log.Order, Blocks: make(map[uint64]*logging.Block)}
	heads := make(map[uint32][logging.HashBytes]byte)
	for _, at := range log.Order {
		b := log.Blocks[at]
		out.Blocks[at] = forged(t, b, heads, func(r logging.Record) []logging.Record {
			if r.Seq == seq {
				return edit(r)
			}
			return []logging.Record{r}
		})
	}
	return out
}

func forged(t kerneltest.TB, b *logging.Block, heads map[uint32][logging.HashBytes]byte, edit func(r logging.Record) []logging.Record) *logging.Block {
	t.Helper()
	var out logging.Builder
	out.Begin(b.Index, b.Term, b.FirstSeq, b.ClockMillis)
	for records := b.Records(); records.Next(); {
		for _, r := range edit(records.Record) {
			if r.Cause >= out.Count() {
				r.Cause = 0
			}
			out.Open(r.Header)
			out.Buf = append(out.Buf, r.Body...)
			out.Close()
		}
	}
	for i := range b.Touched() {
		agent, previous := b.TouchedAt(i)
		out.Touch(agent, previous, heads[agent])
	}
	raw, digest := out.Seal(b.PrevChain)
	for i := range b.Touched() {
		agent, _ := b.TouchedAt(i)
		heads[agent] = logging.ChainAfter(heads[agent], digest)
	}
	block, err := logging.Decode(bytes.Clone(raw))
	require.NoError(t, err)
	return &block
}

// first is the busSeq of the nth record of a kind, from 0.
func first(t testing.TB, s *kerneltest.Sim, kind bus.Kind, nth int) uint64 {
	t.Helper()
	for _, r := range s.All() {
		if bus.Kind(r.Kind) == kind {
			if nth == 0 {
				return r.Seq
			}
			nth--
		}
	}
	require.FailNow(t, "no such record")
	return 0
}

package replay_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

// worker reads twenty pages, one call after the other, and adds them up.
const worker = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"sum","value":0}},
	{"kind":"LOOP","payload":{"max":20,"index":"i","do":{"kind":"LET","payload":{"name":"sum","do":{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","do":{"kind":"CALL","payload":{"tool":"echo","args":{"page":"${i}"}}}}},
		{"kind":"LITERAL","payload":{"value":"${sum + a.n}"}}]}}}}}},
	{"kind":"RETURN","payload":{"value":"${sum}"}}]}}`

// life is the events of an agent that works n instructions off, and what they
// gave.
func life(tb testing.TB, n int) (events []event.Event, blocks [][]byte) {
	k := kernel.New("default", registry.Lookup)
	wall := kerneltest.Start
	apply := func(kind event.Kind, body any) {
		wall++
		events = append(events, event.Event{Kind: kind, Wall: wall, Principal: "client", Body: event.Encode(body)})
		applied := k.Apply(uint64(len(events)), 1, &events[len(events)-1])
		blocks = append(blocks, bytes.Clone(applied.Block))
		if !applied.Outcome.Done() {
			tb.Fatal(applied.Outcome.Refusal)
		}
	}
	apply(event.KernelBooted, kerneltest.Config())
	id := kerneltest.AgentID(1)
	apply(event.AgentStart, event.Start{Define: event.Define{
		ID: id, Mode: "service", Grants: kerneltest.AllowAll(), Program: kerneltest.JSON(tb, worker),
	}})
	page := kerneltest.Value(tb, map[string]any{"n": 3, "text": "a page of text, which is not that long"})
	for range n {
		for keys := k.Requested(); len(keys) > 0; keys = k.Requested() {
			for _, key := range keys {
				apply(event.ToolResult, event.Result{Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: true, Value: page})
			}
		}
		apply(event.AgentSubmit, event.Submit{Agent: id})
	}
	return events, blocks
}

// LO-4: replaying is to be no slower than it was to run. Both sides take the
// same history, in turn: as events that are applied, and as blocks that are read
// back. Figures are per run of a tick.
func BenchmarkReplay(b *testing.B) {
	const instructions = 100
	events, blocks := life(b, instructions)
	runs := float64(instructions * 21)
	perRun := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs, "ns/run")
	}
	b.Run("live", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k := kernel.New("default", registry.Lookup)
			for i := range events {
				k.Apply(uint64(i)+1, 1, &events[i])
				k.Requested()
			}
		}
		perRun(b)
	})
	b.Run("replay", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if stats := again(b, blocks); stats.Runs < uint64(runs) {
				b.Fatal(fmt.Sprint(stats))
			}
		}
		perRun(b)
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l := replay.NewLog("default", registry.Lookup)
			for _, raw := range blocks {
				block, err := logging.Decode(raw)
				if err == nil {
					err = l.Block(&block)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		perRun(b)
	})
}

func again(b *testing.B, blocks [][]byte) replay.Stats {
	var a *replay.Agent
	var at uint64
	for i, raw := range blocks {
		block, err := logging.Decode(raw)
		switch {
		case err != nil:
			b.Fatal(err)
		case i == 0:
			a = replay.NewAgent(1, kernel.ConfigIn(&block), registry.Lookup, nil, replay.Range{})
		default:
			err = a.Block(at, &block)
		}
		if err != nil {
			b.Fatal(err)
		}
		at += uint64(len(raw))
	}
	return a.Stats()
}

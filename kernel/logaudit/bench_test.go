package logaudit_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// atWork is the log of agents that each make a hundred calls and end, a
// generation after the other, and how long the kernel took to write it.
func atWork(tb testing.TB, generations, agents int) (blocks [][]byte, took time.Duration) {
	const program = `{"kind":"MAP","payload":{"over":"${range(20)}","as":"i","do":{"kind":"SEQ","payload":{"steps":[
		{"kind":"WRITE","payload":{"key":"at","value":"${i}"}},{"kind":"CALL","payload":{"tool":"echo","args":"${i}"}}]}}}}`
	k := kernel.New("default", registry.Lookup)
	var index uint64
	wall := kerneltest.Start
	apply := func(kind event.Kind, body any) {
		index++
		wall++
		raw := event.Encode(body)
		began := time.Now()
		applied := k.Apply(index, 1, &event.Event{Kind: kind, Wall: wall, Principal: "client", Body: raw})
		took += time.Since(began)
		if applied.Outcome.Refusal.Code != "" {
			tb.Fatal(applied.Outcome.Refusal)
		}
		blocks = append(blocks, bytes.Clone(applied.Block))
	}
	apply(event.KernelBooted, kerneltest.Config())
	free := []permissions.Grant{
		{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}, {Effect: permissions.Allow, Action: "memory.*", Resource: "self/**"},
	}
	source, seven := kerneltest.JSON(tb, program), kerneltest.Value(tb, 7)
	var pending []tools.Key
	for n := range generations * agents {
		apply(event.AgentStart, event.Start{Define: event.Define{
			ID: fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", n+1), Grants: free, Program: source,
		}})
		pending = append(pending, k.Requested()...)
		for len(pending) > 0 && (len(pending) == agents || n == generations*agents-1) {
			key := pending[0]
			apply(event.ToolResult, event.Result{Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: true, Value: seven})
			pending = append(pending[1:], k.Requested()...)
		}
	}
	return blocks, took
}

func BenchmarkFeed(b *testing.B) {
	blocks, took := atWork(b, 20, 64)
	records := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		a := logaudit.New("default")
		for _, raw := range blocks {
			if err := a.Feed(raw); err != nil {
				b.Fatal(err)
			}
		}
		records = a.Report().Records
		if a.Report().Found > 0 {
			b.Fatal(a.Report().Findings[0])
		}
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(records)/took.Seconds(), "live-records/s")
}

package kernel_test

import (
	"fmt"
	"testing"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

const threeSteps = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"a","value":"${input.n}"}},
	{"kind":"RETURN","payload":{"value":"${a + 1}"}}]}}`

const echoMap = `{"kind":"MAP","payload":{"over":"${range(50)}","as":"i","do":{"kind":"CALL","payload":{"tool":"echo","args":"${i}"}}}}`

// driver applies prepared events to one kernel, publishing after each: the
// worst batch there is.
type driver struct {
	k     *kernel.Kernel
	index uint64
	wall  int64
}

func newDriver() *driver {
	d := &driver{k: kernel.New("default", registry.Lookup), wall: kerneltest.Start}
	d.apply(event.KernelBooted, event.Encode(kerneltest.Config()))
	return d
}

func (d *driver) apply(kind event.Kind, body []byte) event.Outcome {
	d.index++
	d.wall++
	applied := d.k.Apply(d.index, 1, &event.Event{Kind: kind, Wall: d.wall, Principal: "client", Body: body})
	d.k.Publish()
	return applied.Outcome
}

// agents defines that many service agents with a program and starts them.
func (d *driver) agents(tb testing.TB, n int, program string) []string {
	ids := make([]string, n)
	source := kerneltest.JSON(tb, program)
	for i := range ids {
		ids[i] = fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", i+1)
		outcome := d.apply(event.AgentDefine, event.Encode(event.Define{ID: ids[i], Mode: "service", Grants: allowAll, Program: source}))
		if !outcome.Done() {
			tb.Fatal(outcome.Refusal)
		}
	}
	return ids
}

// A command against 100,000 agents: the budget is 10 µs (mechanics: "Budget").
func BenchmarkCommand(b *testing.B) {
	d := newDriver()
	d.agents(b, 100_000, threeSteps)
	source := kerneltest.JSON(b, threeSteps)
	bodies := make([][]byte, b.N)
	for i := range bodies {
		bodies[i] = event.Encode(event.Define{ID: fmt.Sprintf("018f4e5c-0000-7000-9000-%012d", i+1), Grants: allowAll, Program: source})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range bodies {
		d.apply(event.AgentDefine, bodies[i])
	}
}

// A durable tool step among 100,000 agents, 256 of them at work: the result of
// a call, the continuation, the next call. The budget is 40 µs.
func BenchmarkToolStep(b *testing.B) {
	d := newDriver()
	ids := d.agents(b, 100_000, echoMap)
	var pending []tools.Key
	for _, id := range ids[:256] {
		d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: id, Trigger: "spawn"}))
		d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: id, Trigger: "activate"}))
	}
	pending = append(pending, d.k.Requested()...)
	if len(pending) != 256 {
		b.Fatal(len(pending))
	}
	value := kerneltest.Value(b, 7)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		key := pending[0]
		pending = pending[1:]
		d.apply(event.ToolResult, event.Encode(event.Result{Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: true, Value: value}))
		pending = append(pending, d.k.Requested()...)
		if len(pending) < 256 {
			d.apply(event.AgentSubmit, event.Encode(event.Submit{Agent: ids[key.Agent-1]}))
			pending = append(pending, d.k.Requested()...)
		}
	}
}

// Ticks of a three-step program, 1,000 a batch: the target is 200,000 a second.
func BenchmarkTicks(b *testing.B) {
	d := newDriver()
	ids := d.agents(b, 1_000, threeSteps)
	for _, id := range ids {
		d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: id, Trigger: "spawn", Input: kerneltest.JSON(b, `{"n":1}`)}))
		d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: id, Trigger: "activate"}))
	}
	bodies := make([][]byte, len(ids))
	for i, id := range ids {
		bodies[i] = event.Encode(event.Submit{Agent: id, Input: kerneltest.JSON(b, `{"n":1}`)})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		d.apply(event.AgentSubmit, bodies[i%len(bodies)])
	}
}

// A snapshot of 10,000 agents, as it is written beside Apply.
func BenchmarkSections10000(b *testing.B) {
	d := newDriver()
	d.agents(b, 10_000, threeSteps)
	s := d.k.Publish()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		kernel.Sections(s, func(kernel.Section) bool { return true })
	}
}

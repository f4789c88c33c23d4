package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// everything lets an agent do what there is, delegation included.
var everything = []permissions.Grant{
	{Effect: permissions.Allow, Action: "tool.*", Resource: "**"}, {Effect: permissions.Allow, Action: "agent.*", Resource: "**"},
	{Effect: permissions.Allow, Action: "memory.*", Resource: "**"}, {Effect: permissions.Allow, Action: "shared.*", Resource: "**"},
}

// delegating is a program that delegates to n children, each of which does the
// same with the numbers that are left; the last ones sleep.
func delegating(widths ...int) string {
	if len(widths) == 0 {
		return `{"kind":"WAIT","payload":{"ms":1000000}}`
	}
	grants := `[{"effect":"ALLOW","action":"tool.*","resource":"**"},{"effect":"ALLOW","action":"agent.*","resource":"**"}]`
	return fmt.Sprintf(`{"kind":"DELEGATE","payload":{"children":{"over":"${range(%d)}","as":"i","child":{"program":%s,"grants":%s,"max_depth":%d}}}}`,
		widths[0], delegating(widths[1:]...), grants, len(widths)-1)
}

// 1,000 children in one event: under 50 ms.
func BenchmarkDelegate1000(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		d := newDriver()
		body := event.Encode(event.Start{Define: event.Define{Grants: everything, Program: kerneltest.JSON(b, delegating(1000))}})
		b.StartTimer()
		if outcome := d.apply(event.AgentStart, body); !outcome.Done() {
			b.Fatal(outcome.Refusal)
		}
		b.StopTimer()
		if n := d.k.Publish().Agents.Len(); n != 1001 {
			b.Fatal(n)
		}
		b.StartTimer()
	}
}

// A tree of 10,000 loses its token: under 100 ms in all, and no event does more
// than its work. The longest event is reported.
func BenchmarkRevoke10000(b *testing.B) {
	b.ReportAllocs()
	var longest time.Duration
	events := 0
	for range b.N {
		b.StopTimer()
		d := newDriver()
		outcome := d.apply(event.AgentStart, event.Encode(event.Start{Define: event.Define{Grants: everything, Program: kerneltest.JSON(b, delegating(10, 10, 100))}}))
		for d.k.Publish().Behind() {
			d.apply(event.Pulse, nil)
		}
		if n := d.k.Publish().Agents.Len(); !outcome.Done() || n != 1+10+100+10_000 {
			b.Fatal(outcome, n)
		}
		root := kerneltest.IDOf(d.k.Publish().Agents.Get(1).Identity.ID)
		body := event.Encode(event.RevokeToken{Agent: root})
		b.StartTimer()
		began := time.Now()
		d.apply(event.TokenRevoke, body)
		for events++; d.k.Publish().Behind(); events++ {
			longest = max(longest, time.Since(began))
			began = time.Now()
			d.apply(event.Pulse, nil)
		}
		longest = max(longest, time.Since(began))
		b.StopTimer()
		for no := uint32(1); no <= 10_111; no++ {
			if s := d.k.Publish().StateOf(no); s != lifecycle.Terminated {
				b.Fatal(no, s)
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest")
	b.ReportMetric(float64(events)/float64(b.N), "events")
}

// Cost per tick does not grow with the number of agents, nor with the length of
// an agent's history.
func BenchmarkTickAmong(b *testing.B) {
	for _, agents := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) { benchmarkTick(b, agents, 100) })
	}
	for _, past := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("past=%d", past), func(b *testing.B) { benchmarkTick(b, 1_000, past) })
	}
}

func benchmarkTick(b *testing.B, agents, past int) {
	d := newDriver()
	ids := d.agents(b, agents, threeSteps)
	input := kerneltest.JSON(b, `{"n":1}`)
	d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: ids[0], Trigger: "spawn", Input: input}))
	d.apply(event.AgentTrigger, event.Encode(event.Trigger{Agent: ids[0], Trigger: "activate"}))
	body := event.Encode(event.Submit{Agent: ids[0], Input: input})
	for range past {
		d.apply(event.AgentSubmit, body)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		d.apply(event.AgentSubmit, body)
	}
}

// EV-12: whatever is revoked, no event does more work than the configuration
// allows, but for the flow that it is in the middle of.
func TestRevocationKeepsToItsWork(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	id := s.Start(event.Define{Grants: everything, Program: kerneltest.JSON(t, delegating(4, 5, 20))}, nil)
	s.Settle()
	agents := s.State().Agents.Len()
	if agents != 1+4+20+400 {
		t.Fatal(agents)
	}
	from := len(s.Blocks)
	s.Must(event.TokenRevoke, event.RevokeToken{Agent: id})
	if s.Settle() < 2 {
		t.Fatal("the cascade over 425 agents fitted one event")
	}
	for _, block := range s.Blocks[from:] {
		if len(block) > 64*1000+8192 {
			t.Fatal(len(block))
		}
	}
	for no := uint32(1); no <= agents; no++ {
		if state := s.State().StateOf(no); state != lifecycle.Terminated {
			t.Fatal(no, state)
		}
	}
	s.Check()
}

package client_test

import (
	"syscall"
	"testing"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// cpu is the time that the process has spent on all of its processors, in
// microseconds: what the budget of a command is counted in.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec)*1e6 + float64(u.Utime.Usec+u.Stime.Usec)
}

func measured(b *testing.B, perOp float64, run func()) {
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	run()
	b.ReportMetric((cpu(b)-before)/float64(b.N)/perOp, "cpu-µs/command")
}

// BenchmarkCommand is one command through client and server: the budget is 75 µs
// of processor time for both, beside what the kernel takes (BenchmarkKernel).
func BenchmarkCommand(b *testing.B) {
	g := solo.New(b, 1, solo.Setup{})
	c := connect(b, client.Options{}, g.Serve(b, httpapi.Options{})...)
	measured(b, 1, func() {
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			own := c.Fork()
			for pb.Next() {
				if _, err := own.Define(b.Context(), event.Define{}); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkSerialCommand is one client, one command after the other.
func BenchmarkSerialCommand(b *testing.B) {
	_, c := one(b)
	measured(b, 1, func() {
		for range b.N {
			if _, err := c.Define(b.Context(), event.Define{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkBatch is 64 commands in one request.
func BenchmarkBatch(b *testing.B) {
	_, c := one(b)
	commands := make([]api.Command, 64)
	for i := range commands {
		commands[i] = api.NewCommand(event.Define{})
	}
	measured(b, 64, func() {
		for range b.N {
			if _, err := c.Batch(b.Context(), commands); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkKernel is what the commands cost without client and server.
func BenchmarkKernel(b *testing.B) {
	g := solo.New(b, 1, solo.Setup{})
	body, session := event.Encode(&event.Define{}), g.Nodes[0].MintSession()
	measured(b, 1, func() {
		for i := range b.N {
			answer := g.Nodes[0].Propose(b.Context(), event.Event{
				Kind: event.AgentDefine, Principal: "client", Session: event.Session{ID: session, Seq: uint64(i + 1), Floor: uint64(i + 1)}, Body: body,
			})
			if !answer.Outcome.Done() {
				b.Fatal(answer)
			}
		}
	})
}

// BenchmarkStaleRead is one read of an agent.
func BenchmarkStaleRead(b *testing.B) {
	_, c := one(b)
	done, err := c.Define(b.Context(), event.Define{})
	if err != nil {
		b.Fatal(err)
	}
	measured(b, 1, func() {
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.Agent(b.Context(), done.AgentID, client.Consistency(api.Stale)); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

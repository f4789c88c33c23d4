package event_test

import (
	"bytes"
	"testing"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// FuzzEventDecode: any bytes are refused, or are the one encoding of an event;
// its body is refused or read, and neither panics.
func FuzzEventDecode(f *testing.F) {
	for _, e := range []event.Event{
		{Kind: event.Pulse, Wall: 1_750_000_000_000, Principal: "node:n1"},
		{Kind: event.KernelBooted, Body: event.Encode(config.Default())},
		{Kind: event.AgentDefine, Session: event.Session{ID: [16]byte{1}, Seq: 2, Floor: 1}, Body: event.Encode(event.Define{Name: "a"})},
		{Kind: event.AgentKill, IdempotencyKey: "k", Proposal: 7, Body: event.Encode(event.Kill{Agent: "x"})},
		{Kind: event.ToolResult, Body: event.Encode(event.Result{Agent: 1, Tick: 1, Call: 1, OK: true})},
	} {
		raw := e.Append(nil)
		f.Add(raw[:len(raw)-4])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		raw := sealed(content) // otherwise everything ends at the checksum
		e, err := event.Decode(raw)
		if err != nil {
			return
		}
		if again := e.Append(nil); !bytes.Equal(raw, again) {
			t.Fatalf("two encodings of one event:\n%x\n%x", raw, again)
		}
		decodeBody(e)
	})
}

func decodeBody(e event.Event) {
	switch e.Kind {
	case event.KernelBooted:
		if c, ok := event.DecodeBody[config.Config](e.Body); ok {
			c.Check()
		}
	case event.LeaderStarted:
		event.DecodeBody[event.Leader](e.Body)
	case event.ClusterRestored:
		event.DecodeBody[event.Restored](e.Body)
	case event.KernelUpgraded:
		event.DecodeBody[event.Upgraded](e.Body)
		event.VersionIn(&e)
	case event.Checkpoint:
		event.DecodeBody[event.Compare](e.Body)
	case event.AgentDefine:
		event.DecodeBody[event.Define](e.Body)
	case event.AgentStart:
		event.DecodeBody[event.Start](e.Body)
	case event.AgentTrigger:
		event.DecodeBody[event.Trigger](e.Body)
	case event.AgentKill:
		event.DecodeBody[event.Kill](e.Body)
	case event.AgentSubmit:
		event.DecodeBody[event.Submit](e.Body)
	case event.AgentFork:
		event.DecodeBody[event.Fork](e.Body)
	case event.KernelSuspend:
		event.DecodeBody[event.SuspendKernel](e.Body)
	case event.KernelResume:
		event.DecodeBody[event.ResumeKernel](e.Body)
	case event.RunPlan:
		event.DecodeBody[event.PlanRun](e.Body)
	case event.RunPause:
		event.DecodeBody[event.PauseRun](e.Body)
	case event.ToolDispatched:
		event.DecodeBody[event.Dispatched](e.Body)
	case event.ToolResult:
		event.DecodeBody[event.Result](e.Body)
	}
}

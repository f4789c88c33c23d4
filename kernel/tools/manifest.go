package tools

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Manifest is what the kernel must know about a tool. The JSON Schemas of
// arguments and results are the runner's: they never run in Apply.
type Manifest struct {
	Name   string
	Kernel bool // answered inside Apply (TO-1)
	Family Family

	// Resource derives the permission resource from the arguments (PE-1); nil
	// for tools of a family.
	Resource func(args value.Raw) (string, *failure.Failure)
	// Idempotent says whether the call may be run again after a failover (TO-4).
	Idempotent func(args value.Raw) bool
	// Cost is the most that the call may come to, as it declares (RU-3); nil for
	// tools that cost nothing.
	Cost func(args value.Raw) (tokens, usdMicros uint64)
}

// Family groups kernel tools whose arguments, actions and resources a module
// knows: those of memory, and those of agents.
type Family uint8

// The families. Tools of no family are judged as tool.call on their Resource.
const (
	Memory Family = iota + 1
	Agent
)

func always(value.Raw) bool { return true }

func named(name string) func(value.Raw) (string, *failure.Failure) {
	return func(value.Raw) (string, *failure.Failure) { return name, nil }
}

// manifests is every tool, ordered by name.
var manifests = [...]Manifest{
	{Name: "agent.delegate", Kernel: true, Family: Agent, Idempotent: always},
	{Name: "agent.get", Kernel: true, Family: Agent, Idempotent: always},
	{Name: "agent.kill", Kernel: true, Family: Agent, Idempotent: always},
	{Name: "agent.resume", Kernel: true, Family: Agent, Idempotent: always},
	{Name: "agent.revoke", Kernel: true, Family: Agent, Idempotent: always},
	{Name: "agent.suspend", Kernel: true, Family: Agent, Idempotent: always},
	{Name: "clock.now", Kernel: true, Resource: named("clock.now"), Idempotent: always},
	{Name: "echo", Resource: named("echo"), Idempotent: always},
	{Name: "http.request", Resource: HTTPResource, Idempotent: httpIdempotent, Cost: declaredCost},
	{Name: "mailbox.receive", Kernel: true, Resource: named("mailbox.receive"), Idempotent: always},
	{Name: "memory.delete", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "memory.list", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "memory.read", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "memory.write", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "random.int", Kernel: true, Resource: named("random.int"), Idempotent: always},
	{Name: "shared.delete", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "shared.list", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "shared.read", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "shared.write", Kernel: true, Family: Memory, Idempotent: always},
	{Name: "timer.sleep", Kernel: true, Resource: named("timer.sleep"), Idempotent: always},
	{Name: "uuid.new", Kernel: true, Resource: named("uuid.new"), Idempotent: always},
}

// Find looks a tool up by name.
func Find(name string) (Manifest, bool) {
	for i := range manifests {
		if manifests[i].Name == name {
			return manifests[i], true
		}
	}
	return Manifest{}, false
}

// Names lists the tools in order.
func Names() []string {
	names := make([]string, 0, len(manifests))
	for i := range manifests {
		names = append(names, manifests[i].Name)
	}
	return names
}

// declaredCost reads the most that a caller expects the service to charge, from
// the argument cost: {tokens, usd_micros}. What is no such amount declares nothing.
func declaredCost(args value.Raw) (tokens, usdMicros uint64) {
	cost, ok := args.Get("cost")
	if !ok {
		return 0, 0
	}
	amount := func(name string) uint64 {
		raw, ok := cost.Get(name)
		if !ok {
			return 0
		}
		n, ok := raw.Int()
		if !ok || n < 0 {
			return 0
		}
		return min(uint64(n), MaxCost)
	}
	return amount("tokens"), amount("usd_micros")
}

// MaxCost is the most that a call may declare, in tokens and in micro-dollars.
const MaxCost = 1 << 40

// httpIdempotent: a method that RFC 9110 section 9.2.1 calls safe may be sent
// twice, and so may any whose caller vouches for a receiver that honours the
// Idempotency-Key header.
func httpIdempotent(args value.Raw) bool {
	if declared, ok := args.Get("idempotent"); ok {
		yes, _ := declared.Bool()
		return yes
	}
	method, ok := args.Get("method")
	if !ok {
		return true // the adapter's default is GET
	}
	switch name, _ := method.Text(); name {
	case "GET", "HEAD", "OPTIONS":
		return true
	}
	return false
}

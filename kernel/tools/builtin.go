package tools

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Tool is what the kernel must know about a tool, built in or registered. The
// JSON Schemas of arguments and results are the runner's: they never run in Apply.
type Tool struct {
	Name     string
	Kernel   bool // answered inside Apply (TO-1)
	Family   Family
	Revision uint64 // of a registered tool: busSeq of its TOOL_REGISTERED; 0 for one that is built in

	manifest   *Manifest // of a registered tool
	resource   func(args value.Raw) (string, *failure.Failure)
	idempotent func(args value.Raw) bool
	cost       func(args value.Raw) (tokens, usdMicros uint64)
}

// Resource derives the permission resource of a call from its arguments (PE-1).
// Tools of a family have none of their own: their modules derive it.
func (t *Tool) Resource(args value.Raw) (string, *failure.Failure) {
	if t.manifest != nil {
		return t.manifest.resource(args)
	}
	return t.resource(args)
}

// Idempotent says whether the call may be run again after a failover (TO-4).
func (t *Tool) Idempotent(args value.Raw) bool {
	if t.manifest != nil {
		return t.manifest.Idempotent
	}
	return t.idempotent(args)
}

// Cost is the most that the call may come to (RU-3): what its manifest says, or
// for a tool that is built in what the call itself declares.
func (t *Tool) Cost(args value.Raw) (tokens, usdMicros uint64) {
	switch {
	case t.manifest != nil:
		return t.manifest.Cost.Tokens, t.manifest.Cost.USDMicros
	case t.cost != nil:
		return t.cost(args)
	}
	return 0, 0
}

// TimeoutMillis is how long a call takes at most that says nothing of it; 0 for
// the kernel's default.
func (t *Tool) TimeoutMillis() int64 {
	if t.manifest != nil {
		return t.manifest.TimeoutMillis
	}
	return 0
}

// Human reports whether a person answers the tool's calls (TO-12).
func (t *Tool) Human() bool { return t.manifest != nil && t.manifest.Adapter == Human }

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

// builtin is every tool that needs no manifest, ordered by name.
var builtin = [...]Tool{
	{Name: "agent.delegate", Kernel: true, Family: Agent, idempotent: always},
	{Name: "agent.get", Kernel: true, Family: Agent, idempotent: always},
	{Name: "agent.kill", Kernel: true, Family: Agent, idempotent: always},
	{Name: "agent.resume", Kernel: true, Family: Agent, idempotent: always},
	{Name: "agent.revoke", Kernel: true, Family: Agent, idempotent: always},
	{Name: "agent.suspend", Kernel: true, Family: Agent, idempotent: always},
	{Name: "clock.now", Kernel: true, resource: named("clock.now"), idempotent: always},
	{Name: "echo", resource: named("echo"), idempotent: always},
	{Name: "http.request", resource: HTTPResource, idempotent: httpIdempotent, cost: declaredCost},
	{Name: "mailbox.receive", Kernel: true, resource: named("mailbox.receive"), idempotent: always},
	{Name: "memory.delete", Kernel: true, Family: Memory, idempotent: always},
	{Name: "memory.list", Kernel: true, Family: Memory, idempotent: always},
	{Name: "memory.read", Kernel: true, Family: Memory, idempotent: always},
	{Name: "memory.write", Kernel: true, Family: Memory, idempotent: always},
	{Name: "random.int", Kernel: true, resource: named("random.int"), idempotent: always},
	{Name: "shared.delete", Kernel: true, Family: Memory, idempotent: always},
	{Name: "shared.list", Kernel: true, Family: Memory, idempotent: always},
	{Name: "shared.read", Kernel: true, Family: Memory, idempotent: always},
	{Name: "shared.write", Kernel: true, Family: Memory, idempotent: always},
	{Name: "timer.sleep", Kernel: true, resource: named("timer.sleep"), idempotent: always},
	{Name: "uuid.new", Kernel: true, resource: named("uuid.new"), idempotent: always},
}

// Find looks up a tool that is built in, by name.
func Find(name string) (Tool, bool) {
	for i := range builtin {
		if builtin[i].Name == name {
			return builtin[i], true
		}
	}
	return Tool{}, false
}

// Names lists the tools that are built in, in order.
func Names() []string {
	names := make([]string, 0, len(builtin))
	for i := range builtin {
		names = append(names, builtin[i].Name)
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

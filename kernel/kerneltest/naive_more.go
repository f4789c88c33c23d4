package kerneltest

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// clients are the transitions that a client may cause (LC-3).
var clients = map[string]lifecycle.State{
	"spawn": lifecycle.Defined, "activate": lifecycle.Spawned, "suspend": lifecycle.Active, "resume": lifecycle.Resumable,
	"expire": lifecycle.Resumable, "recover": lifecycle.Faulted, "abandon": lifecycle.Faulted,
}

func (n *Naive) trigger(a *agent, b *event.Trigger, r *rules) func() {
	from, mine := clients[b.Trigger]
	_, known := lifecycle.ParseTrigger(b.Trigger)
	r.must(known, failure.InvalidArgument)
	may := mine && (from == a.state || b.Trigger == "suspend" && n.suspendable(a, b.Force))
	r.must(!known || may, failure.InvalidTransition)
	r.must(len(b.Input) == 0 || b.Trigger == "spawn", failure.InvalidArgument)
	r.must(!b.Force || b.Trigger == "suspend", failure.InvalidArgument)
	switch b.Trigger {
	case "spawn":
		r.must(n.alive() < int(n.config.GlobalQueue), failure.QueueFull)
		r.must(len(a.program) > 0 || len(b.Input) == 0, failure.NoInstruction)
	case "activate":
		r.must(a.service || len(a.instructions) > 0, failure.NoInstruction)
	case "recover":
		r.must(a.fault == failure.Transient, failure.NotRecoverable)
	}
	return func() {
		switch b.Trigger {
		case "spawn":
			n.root(a)
			if len(a.program) > 0 {
				a.instructions = []instruction{{a.program, orNull(b.Input)}}
			}
		case "activate":
			n.activate(a, lifecycle.Activate)
		case "suspend":
			n.suspend(a, b.Force)
		case "resume":
			n.dropOf(a, 0, timers.ResumableOver)
			n.activate(a, lifecycle.Resume)
		case "expire":
			n.terminate(a, lifecycle.Expire, "")
		case "recover":
			n.dropOf(a, 0, timers.BackoffOver)
			n.recover(a)
		case "abandon":
			n.terminate(a, lifecycle.Abandon, "")
		}
	}
}

func (n *Naive) submit(a *agent, b *event.Submit, r *rules) func() {
	takes := slices.Contains([]lifecycle.State{lifecycle.Spawned, lifecycle.Active, lifecycle.Waiting, lifecycle.Resumable}, a.state)
	r.must(takes, failure.InvalidState)
	r.must(n.runOf(a) == nil, failure.InvalidState) // a run's root executes its tasks
	r.must(!a.exceeded, failure.LogLimitExceeded)   // LS-3
	r.must(len(a.instructions) < int(n.config.InstructionQueue), failure.QueueFull)
	program := b.Program
	if len(program) == 0 {
		program = a.program
		r.must(len(program) > 0, failure.NoInstruction)
	} else if eval, ok := n.lookup(a.evaluator); ok {
		_, refusal := eval.Compile(program)
		r.must(refusal == nil, failure.InvalidProgram)
	}
	return func() {
		a.instructions = append(slices.Clone(a.instructions), instruction{program, orNull(b.Input)})
		n.enqueue(a)
	}
}

func (n *Naive) send(a *agent, b *event.Send, r *rules) func() {
	r.must(a.state != lifecycle.Defined && a.state != lifecycle.Completing && a.state != lifecycle.Terminated, failure.InvalidState)
	r.must(!a.exceeded, failure.LogLimitExceeded) // LS-3
	message := orNull(b.Message)
	r.must(n.good(message), failure.InvalidValue)
	bytes := len(message)
	for _, m := range a.messages {
		bytes += len(m)
	}
	r.must(len(a.messages) < int(n.config.MaxMailbox) && bytes <= int(n.config.MaxMailboxBytes), failure.QueueFull)
	return func() {
		if a.tick != nil {
			for _, c := range a.tick.waits {
				if c.receives {
					n.succeeds(a, c, message)
					return
				}
			}
		}
		a.messages = append(slices.Clone(a.messages), message)
	}
}

// revokeGrant takes one ALLOW back: it ended just before now.
func (n *Naive) revokeGrant(a *agent, no uint32, r *rules) func() {
	r.must(a.state != lifecycle.Defined && a.state != lifecycle.Terminated, failure.InvalidState)
	r.must(no < uint32(len(a.grants)) && a.grants[no].Effect == permissions.Allow, failure.InvalidArgument)
	return func() {
		a.grants = slices.Clone(a.grants)
		if g := &a.grants[no]; g.NotAfterMillis == 0 || g.NotAfterMillis >= n.clock {
			g.NotAfterMillis = n.clock - 1
		}
	}
}

// settles is an operator's word (PE-3).
func (n *Naive) settles(b *event.Decide) Answer {
	if !goodReason(b.Reason) {
		return Answer{Refusals: rules{failure.InvalidArgument}}
	}
	for _, e := range n.escalations {
		if e.number == b.Escalation {
			n.decided(e, b.Approve)
			return Answer{Agent: &e.agent.id, State: e.agent.state}
		}
	}
	return Answer{Refusals: rules{failure.StaleResult}}
}

// shares is an operator at shared memory.
func (n *Naive) shares(w *wanted) Answer {
	if !goodNamespace(w.namespace) || !goodKey(w.key) || w.op == "write" && !n.good(w.value) {
		return Answer{Refusals: rules{failure.InvalidArgument, failure.InvalidValue}}
	}
	memory := n.space(nil, w)
	if _, found := memory[w.key]; !found && w.op == "delete" && w.version == nil {
		return Answer{Refusals: rules{failure.NotFound}}
	}
	if code := n.full(nil, w); code != "" {
		return Answer{Refusals: rules{code}}
	}
	if w.op == "delete" {
		delete(memory, w.key)
	} else {
		memory[w.key] = stored{w.value, n.version()}
	}
	return Answer{}
}

// outbox finds a call that a runner speaks of.
func (n *Naive) outbox(no uint32, seq uint64, callIndex uint32) (*agent, *call) {
	if no == 0 || int(no) > len(n.agents) || n.agents[no-1].tick == nil || n.agents[no-1].tick.seq != seq {
		return nil, nil
	}
	for _, c := range n.agents[no-1].tick.waits {
		if c.no == callIndex && c.outbox {
			return n.agents[no-1], c
		}
	}
	return nil, nil
}

// resultOf is a result that a runner hands in: late ones change nothing (LC-9).
func (n *Naive) resultOf(b *event.Result) Answer {
	a, c := n.outbox(b.Agent, b.Tick, b.Call)
	if c == nil {
		return Answer{Refusals: rules{failure.StaleResult}}
	}
	n.answers(a, c, n.accept(b.OK, b.Value, failure.Code(b.Code)))
	return Answer{}
}

// dispatch authorises a call once; authority is tested again (TO-4, TO-5).
func (n *Naive) dispatch(b *event.Dispatched) Answer {
	a, c := n.outbox(b.Agent, b.Tick, b.Call)
	switch {
	case c == nil:
		return Answer{Refusals: rules{failure.StaleResult}}
	case c.dispatched:
		return Answer{Refusals: rules{failure.AlreadyExists}}
	}
	if code, void := n.void(a); void {
		n.fails(a, c, code)
	} else if n.may(a, "tool.call", c.resource) == permissions.Deny {
		n.fails(a, c, failure.PermissionDenied)
	} else {
		c.dispatched = true
	}
	return Answer{}
}

// kernelID is what ids of agents that bring none are derived from (EV-10).
func (n *Naive) kernelID() (id [16]byte) {
	digest := interning.DigestOf(0, []byte(n.config.ClusterID+"/"+n.config.KernelID))
	copy(id[:], digest[:])
	return id
}

func parseHex(s string) (id identity.ID) {
	raw, _ := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	copy(id[:], raw)
	return id
}

// bare is a value without the texts of failures, which are the kernel's own.
func bare(raw value.Raw) value.Raw {
	rd := value.NewReader(raw)
	switch raw.Kind() {
	case value.MapKind:
		got := members(raw)
		delete(got, "message")
		for name, v := range got {
			got[name] = bare(v)
		}
		return object(got)
	case value.ListKind:
		count, _ := rd.ReadListHeader()
		var items []value.Raw
		for range count {
			items = append(items, bare(rd.Skip()))
		}
		return list(items)
	}
	return raw
}

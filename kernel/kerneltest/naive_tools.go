package kerneltest

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// do does what a call asks for that may.
func (n *Naive) do(a *agent, c *call) {
	scope, _, _ := strings.Cut(c.tool, ".")
	switch {
	case c.tool == "clock.now":
		n.succeeds(a, c, value.AppendInt(nil, n.clock))
	case c.tool == "uuid.new":
		n.succeeds(a, c, textOf(IDOf(derivedID(a.id, a.tick.seq, uint64(c.no)))))
	case c.tool == "random.int":
		n.random(a, c)
	case c.tool == "timer.sleep":
		if ms, ok := integer(c.args, "ms"); ok && ms >= 0 && ms <= n.config.MaxWaitMillis {
			n.alarm(a, timers.SleepOver, ms, c.no)
		} else {
			n.fails(a, c, failure.ToolArgsInvalid)
		}
	case c.tool == "mailbox.receive":
		n.receive(a, c)
	case c.tool == "agent.delegate":
		n.delegate(a, c)
	case scope == "agent":
		n.handle(a, c)
	case scope == "memory" || scope == "shared":
		n.access(a, c)
	default:
		n.external(a, c)
	}
}

// external puts a call into the outbox (TO-2, LC-12).
func (n *Naive) external(a *agent, c *call) {
	calls := 0
	for _, other := range n.agents {
		if other.tick != nil {
			for _, w := range other.tick.waits {
				if w.outbox {
					calls++
				}
			}
		}
	}
	if calls >= int(n.config.MaxOutbox) {
		n.fails(a, c, failure.ToolUnreachable)
		return
	}
	timeout := c.timeout
	if tool, _ := n.toolOf(c.tool); timeout <= 0 {
		timeout = tool.TimeoutMillis()
	}
	if timeout <= 0 {
		timeout = n.config.DefaultCallTimeoutMillis
	}
	c.outbox = true
	n.alarm(a, timers.CallDeadline, min(timeout, n.config.MaxCallTimeoutMillis)+n.config.CallGraceMillis, c.no)
}

// receive takes the oldest message, or waits for one.
func (n *Naive) receive(a *agent, c *call) {
	ms, given := integer(c.args, "timeout_ms")
	switch {
	case given && (ms < 0 || ms > n.config.MaxWaitMillis):
		n.fails(a, c, failure.ToolArgsInvalid)
	case len(a.messages) > 0:
		message := a.messages[0]
		a.messages = a.messages[1:]
		n.succeeds(a, c, message)
	default:
		if !given {
			ms = n.config.ReceiveMillis
		}
		c.receives, c.limited = true, given
		n.alarm(a, timers.ReceiveOver, ms, c.no)
	}
}

// random draws evenly from SHA-256 of (seed, agent, tick, call, nth) (EV-10).
func (n *Naive) random(a *agent, c *call) {
	low, ok1 := integer(c.args, "min")
	high, ok2 := integer(c.args, "max")
	if !ok1 || !ok2 || low > high {
		n.fails(a, c, failure.ToolArgsInvalid)
		return
	}
	span := uint64(high-low) + 1
	for nth := uint64(0); ; nth++ {
		b := n.seedOf(a)
		b = binary.BigEndian.AppendUint64(b, a.tick.seq)
		b = binary.BigEndian.AppendUint32(b, c.no)
		b = binary.BigEndian.AppendUint64(b, nth)
		sum := sha256.Sum256(b)
		if drawn := binary.BigEndian.Uint64(sum[:]); drawn < ^uint64(0)-^uint64(0)%span {
			n.succeeds(a, c, value.AppendInt(nil, low+int64(drawn%span)))
			return
		}
	}
}

// derivedID is a UUIDv5 of a parent and ordinals (EV-10).
func derivedID(parent [16]byte, ordinals ...uint64) [16]byte {
	var name []byte
	for _, o := range ordinals {
		name = binary.BigEndian.AppendUint64(name, o)
	}
	return uuid.NewSHA1(parent, name)
}

func integer(args value.Raw, name string) (int64, bool) {
	raw, ok := args.Get(name)
	if !ok {
		return 0, false
	}
	return raw.Int()
}

// child is the agent's own child that an agent.* tool names (LC-3).
func (n *Naive) child(a *agent, c *call) (child *agent, id string, broken bool) {
	allowed := map[string]bool{"agent": true, "reason": c.tool != "agent.get", "force": c.tool == "agent.suspend"}
	for name := range members(c.args) {
		if !allowed[name] {
			return nil, "", true
		}
	}
	raw, _ := c.args.Get("agent")
	id, _ = raw.Text()
	for _, one := range a.children {
		if IDOf(one.id) == id {
			return one, id, false
		}
	}
	return nil, "", true
}

// handle is a parent's hand on a child.
func (n *Naive) handle(a *agent, c *call) {
	child, _, _ := n.child(a, c)
	state := child.state
	switch c.tool {
	case "agent.get":
		n.succeeds(a, c, child.seen())
		return
	case "agent.suspend":
		raw, _ := c.args.Get("force")
		force, _ := raw.Bool()
		if !n.suspendable(child, force) {
			n.fails(a, c, failure.InvalidTransition)
			return
		}
		n.suspend(child, force)
		if state == lifecycle.Active || force {
			state = lifecycle.Resumable
		}
	case "agent.resume":
		if state != lifecycle.Resumable {
			n.fails(a, c, failure.InvalidTransition)
			return
		}
		n.dropOf(child, 0, timers.ResumableOver)
		n.activate(child, lifecycle.Resume)
		state = lifecycle.Active
	case "agent.kill":
		if state == lifecycle.Terminated {
			n.fails(a, c, failure.InvalidTransition)
			return
		}
		n.end(child, failure.Killed)
		state = lifecycle.Terminated
	case "agent.revoke":
		if child.revoked != "" || state == lifecycle.Terminated {
			n.fails(a, c, failure.InvalidTransition)
			return
		}
		n.revoke(child, failure.TokenRevoked)
	}
	n.succeeds(a, c, object(map[string]value.Raw{"state": textOf(state.String())}))
}

func (a *agent) seen() value.Raw {
	seen := map[string]value.Raw{"state": textOf(a.state.String())}
	if a.state == lifecycle.Terminated {
		seen["result"] = a.came()
	}
	return object(seen)
}

// came is what a child came to, as its parent is told (DE-3).
func (a *agent) came() value.Raw {
	ok, code, v := a.outcome()
	id := textOf(IDOf(a.id))
	if ok {
		return object(map[string]value.Raw{"ok": value.AppendBool(nil, true), "value": v, "agent_id": id})
	}
	return object(map[string]value.Raw{
		"ok": value.AppendBool(nil, false), "code": textOf(string(code)), "class": textOf(failure.ClassOf(code).String()),
		"message": textOf(""), "agent_id": id,
	})
}

// suspendable: who waits is asked once, and may be forced after that (LC-13).
func (n *Naive) suspendable(a *agent, force bool) bool {
	return a.state == lifecycle.Active || a.state == lifecycle.Waiting && (force || !a.suspending)
}

// suspend is row 6, and LC-13 of an agent that waits.
func (n *Naive) suspend(a *agent, force bool) {
	if a.state == lifecycle.Active {
		n.hibernate(a)
		return
	}
	a.suspending = true
	if !force {
		return
	}
	var open []*call
	for _, c := range a.tick.waits {
		if c.answer == nil {
			open = append(open, c)
		}
	}
	n.withdraw(a)
	for _, c := range open {
		if r := a.request(c.no); r != nil {
			n.cancel(r)
			n.close(r)
		}
		n.fails(a, c, failure.Withdrawn)
	}
}

// members are the members of a map.
func members(raw value.Raw) map[string]value.Raw {
	found := make(map[string]value.Raw)
	rd := value.NewReader(raw)
	count, _ := rd.ReadMapHeader()
	for range count {
		name, _ := rd.ReadString()
		found[name] = rd.Skip()
	}
	return found
}

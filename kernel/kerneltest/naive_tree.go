package kerneltest

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// birth is a child that is asked for.
type birth struct {
	define event.Define
	input  value.Raw
}

func (b *birth) named() string {
	if b.define.Name == "" {
		return "unnamed"
	}
	return b.define.Name
}

// parseChildren reads a request for children.
func parseChildren(args value.Raw) (children []birth, broken bool) {
	got := members(args)
	var common birth
	for name, raw := range members(got["child"]) {
		broken = common.set(name, raw) || broken
	}
	rd := value.NewReader(got["children"])
	count, ok := rd.ReadListHeader()
	for range count {
		one := common
		for name, raw := range members(rd.Skip()) {
			broken = one.set(name, raw) || broken
		}
		children = append(children, one)
	}
	return children, broken || !ok || count == 0
}

func (b *birth) set(name string, raw value.Raw) (broken bool) {
	var ok bool
	d := &b.define
	switch name {
	case "name":
		d.Name, ok = raw.Text()
	case "evaluator":
		d.Evaluator, ok = raw.Text()
	case "mode":
		d.Mode, ok = raw.Text()
	case "program":
		d.Program, ok = raw, true
	case "teardown":
		d.Teardown, ok = raw, true
	case "input":
		b.input, ok = raw, true
	case "max_depth":
		var depth int64
		depth, ok = raw.Int()
		d.MaxDepth = uint32(depth)
	case "ttl_ms":
		d.TTLMillis, ok = raw.Int()
	case "grants":
		d.Grants, ok = readGrants(raw)
	}
	return !ok
}

func readGrants(raw value.Raw) (grants []permissions.Grant, ok bool) {
	rd := value.NewReader(raw)
	count, ok := rd.ReadListHeader()
	for range count {
		var g permissions.Grant
		got := members(rd.Skip())
		effect, _ := got["effect"].Text()
		ok = ok && g.Effect.UnmarshalText([]byte(effect)) == nil
		g.Action, _ = got["action"].Text()
		g.Resource, _ = got["resource"].Text()
		if until, given := got["not_after_ms"]; given {
			g.NotAfterMillis, _ = until.Int()
		}
		grants = append(grants, g)
	}
	return grants, ok
}

// delegate makes all children of a request or none (DE-1 … DE-3).
func (n *Naive) delegate(a *agent, c *call) {
	got := members(c.args)
	flag := func(name string) bool { set, _ := got[name].Bool(); return set }
	children, _ := parseChildren(c.args)
	if n.rejects(a, children) {
		n.fails(a, c, failure.Rejected)
		return
	}
	r := &request{parent: a, tick: a.tick.seq, call: c.no, open: len(children), failFast: flag("fail_fast"), handler: flag("on_escalation")}
	r.closed = flag("detach")
	if !r.closed {
		timeout := c.timeout
		if timeout <= 0 {
			timeout = n.config.DelegationMillis
		}
		a.requests = append(a.requests, r)
		n.alarm(a, timers.DelegationOver, min(timeout, n.config.MaxWaitMillis), c.no)
	}
	var names []value.Raw
	for i := range children {
		child := n.add(&children[i].define, derivedID(a.id, a.tick.seq, uint64(c.no), uint64(i)))
		child.parent, child.from, child.depth = a, r, children[i].define.MaxDepth
		child.expires = a.expires
		if ttl := children[i].define.TTLMillis; ttl > 0 {
			child.expires = n.clock + ttl
		}
		a.children, r.children = append(a.children, child), append(r.children, child)
		n.spawn(child)
		child.instructions = []instruction{{child.program, orNull(children[i].input)}}
		n.activate(child, lifecycle.Activate)
		names = append(names, object(map[string]value.Raw{
			"agent_id": textOf(IDOf(child.id)), "token_id": textOf(IDOf(derivedID(child.id, 0))),
		}))
	}
	if r.closed {
		n.succeeds(a, c, list(names))
	}
}

// rejects holds the rules of DE-1 and DE-2.
func (n *Naive) rejects(a *agent, children []birth) bool {
	if _, void := n.void(a); void || len(children) > int(n.config.MaxChildren) ||
		n.alive()+len(children) > int(n.config.GlobalQueue) || len(n.agents)+len(children) > int(n.config.MaxAgents) {
		return true
	}
	for i := range children {
		d := &children[i].define
		if len(n.refuses(d)) > 0 || len(d.Program) == 0 || d.MaxDepth >= a.depth ||
			d.TTLMillis > 0 && a.expires != 0 && n.clock+d.TTLMillis > a.expires ||
			len(children[i].input) > int(n.config.MaxValueBytes) {
			return true
		}
		for _, g := range d.Grants {
			held := g.Effect != permissions.Allow || slices.ContainsFunc(a.grants, func(own permissions.Grant) bool {
				return own.Effect == permissions.Allow && contains(own, g)
			})
			if !held {
				return true
			}
		}
	}
	return false
}

// join answers a request whose children are all over, once the parent waits.
func (n *Naive) join(r *request) {
	a := r.parent
	if a.state != lifecycle.Waiting || a.tick.seq != r.tick {
		return
	}
	c := a.waiting(r.call)
	if c == nil {
		return
	}
	var results []value.Raw
	for _, child := range r.children {
		results = append(results, child.came())
	}
	n.close(r)
	n.succeeds(a, c, list(results))
}

// close forgets a request.
func (n *Naive) close(r *request) {
	r.closed = true
	r.parent.requests = slices.DeleteFunc(r.parent.requests, func(other *request) bool { return other == r })
	n.drop(func(t *alarm) bool {
		return t.agent == r.parent && t.purpose == timers.DelegationOver && t.tick == r.tick && t.call == r.call
	})
}

// cancel ends what still runs of a request.
func (n *Naive) cancel(r *request) {
	if !r.closed {
		r.cancelled = true
		n.cascades = append(n.cascades, cascade{of: r, code: failure.Killed})
	}
}

// voidChildren takes the tokens of the children that there are (FA-2, LC-10).
func (n *Naive) voidChildren(a *agent) {
	fresh := false
	for _, child := range a.children {
		fresh = fresh || child.voided == ""
		if child.voided == "" {
			child.voided = failure.TokenRevoked
		}
	}
	if fresh {
		n.cascades = append(n.cascades, cascade{below: a, code: failure.TokenRevoked})
	}
}

// revoke ends a token, and what rests on it (LC-10).
func (n *Naive) revoke(a *agent, code failure.Code) {
	a.revoked = code
	n.dropOf(a, 0, timers.TokenOver)
	if len(a.children) > 0 {
		n.cascades = append(n.cascades, cascade{below: a, code: code})
	}
	n.takeOut(a, code)
}

// takeOut is what an agent comes to that has lost its token, by its state.
func (n *Naive) takeOut(a *agent, code failure.Code) {
	switch a.state {
	case lifecycle.Completing:
	case lifecycle.Active:
		n.place(a)
	default:
		n.end(a, code)
	}
}

// walk does what cascades are left, one after the other, depth first.
func (n *Naive) walk() {
	for len(n.cascades) > 0 {
		c := n.cascades[0]
		n.cascades = n.cascades[1:]
		if c.of != nil {
			for _, child := range c.of.children {
				if child.state != lifecycle.Terminated {
					n.end(child, c.code)
				}
			}
			continue
		}
		n.below(c.below, c.code)
	}
}

func (n *Naive) below(a *agent, code failure.Code) {
	for _, child := range a.children {
		if _, void := n.void(child); void && child.state != lifecycle.Terminated && child.revoked == "" {
			child.revoked = code
			n.dropOf(child, 0, timers.TokenOver)
			n.takeOut(child, code)
		}
		n.below(child, code)
	}
}

// alive is how many agents hold a place in the global queue (EX-4).
func (n *Naive) alive() (alive int) {
	for _, a := range n.agents {
		if a.state != lifecycle.Defined && a.state != lifecycle.Terminated {
			alive++
		}
	}
	return alive
}

func orNull(v value.Raw) value.Raw {
	if len(v) == 0 {
		return value.Null
	}
	return v
}

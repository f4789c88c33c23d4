package logaudit

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// call is one that a tick has asked for, until its answer is delivered.
type call struct {
	no       uint32 // callIndex
	tool     string
	external bool   // it leaves the kernel
	revision uint64 // of a registered tool
	asks     bool   // a person is to answer it
	args     value.Raw

	// What it has to be judged as, derived from what was asked for: one
	// resource, or for a delegation one for each child.
	action    string
	resources []string
	left      []string // that are not judged yet

	verdict  verdict
	approved bool     // somebody said yes, in this event
	roomless bool     // it was authorised, and waited for room in a budget
	granted  bool     // … after somebody had said yes
	digest   [32]byte // that the decision is bound to, of an escalated call

	requested, dispatched bool
	accepted, detached    bool   // of a delegation
	over                  bool   // … that nobody waits for any more, or that is answered next
	children              uint32 // … that have not ended
	ended, done           bool   // has its ACTION_… record; ACTION_EXECUTED
	delivered             bool
}

type verdict uint8

const (
	unjudged verdict = iota
	allowed
	denied
	undecided // waits for somebody's decision
)

// toolCall is the action that calls of tools are judged as, but those of memory
// and of agents (PE-1).
const toolCall = "tool.call"

// asked makes a call of a request. What a request must be judged as follows
// from its tool, as it is registered then, and its arguments alone (PE-1); nothing, where there is no such
// tool or its arguments say nothing.
func (a *Auditor) asked(no uint32, r *execution.Request) call {
	c := call{no: no, tool: r.Tool, args: r.Args}
	tool, known := a.catalogue.find(r.Tool)
	if !known {
		return c
	}
	c.tool, c.external, c.revision, c.asks = tool.Name, !tool.Kernel, tool.Revision, tool.Human()
	switch {
	case r.Tool == execution.Delegate:
		c.action, c.resources = execution.Delegate, children(r.Args)
	case tool.Family == tools.Agent:
		if id, ok := member(r.Args, "agent").Text(); ok {
			c.action, c.resources = r.Tool, []string{"agent/" + id}
		}
	case tool.Family == tools.Memory:
		if request, f := memory.ParseRequest(r.Tool, r.Args); f == nil {
			c.action, c.resources = request.Action(), []string{request.Resource()}
		}
	default:
		if resource, f := tool.Resource(r.Args); f == nil {
			c.action, c.resources = toolCall, []string{resource}
		}
	}
	c.left = c.resources
	return c
}

// children lists what a delegation is judged as, one by one: agent/NAME.
func children(args value.Raw) (resources []string) {
	common := nameOf(member(args, "child"), "unnamed")
	rd := value.NewReader(member(args, "children"))
	n, ok := rd.ReadListHeader()
	if !ok {
		return nil
	}
	for range n {
		child := rd.Skip()
		if child == nil {
			return nil
		}
		resources = append(resources, "agent/"+nameOf(child, common))
	}
	return resources
}

func nameOf(child value.Raw, otherwise string) string {
	if raw, given := child.Get("name"); given {
		if name, ok := raw.Text(); ok && name != "" {
			return name
		}
		return "unnamed"
	}
	return otherwise
}

func member(m value.Raw, key string) value.Raw {
	raw, _ := m.Get(key)
	return raw
}

// takes marks one resource of the call as judged; false when it is not among
// those that are left.
func (c *call) takes(action, resource string) bool {
	if c.action != action || c.ended {
		return false
	}
	at := slices.Index(c.left, resource)
	if at < 0 {
		return false
	}
	left := make([]string, 0, len(c.left)-1)
	c.left = append(append(left, c.left[:at]...), c.left[at+1:]...)
	return true
}

// asks finds an open call that has to be judged as that.
func (g *agent) asks(action, resource string) *call {
	for i := range g.calls {
		if c := &g.calls[i]; !c.ended && c.action == action && slices.Contains(c.resources, resource) {
			return c
		}
	}
	return nil
}

// again lets the call be judged once more, after it was approved.
func (c *call) again() { c.left, c.verdict = c.resources, unjudged }

// sameAs reports whether what enters the outbox is what was asked for: by its
// arguments while they are at hand, later by the digest that the decision is
// bound to.
func (c *call) sameAs(agent uint32, tick uint64, b *tools.RequestedBody) bool {
	if b.Tool != c.tool || len(c.resources) != 1 || b.Resource != c.resources[0] {
		return false
	}
	if c.digest == [sha256.Size]byte{} {
		return bytes.Equal(b.Args, c.args)
	}
	return permissions.CallDigest(agent, tick, c.no, b.Tool, b.Args) == c.digest
}
